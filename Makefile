# Needs make and Python 3.11 or later; everything else goes into .venv, which is filled again when pyproject.toml or __init__.py changes.

PYTHON ?= python3

PIP_INSTALL = .venv/bin/python -m pip install --quiet --disable-pip-version-check

.PHONY: run test differential damaged fuzz soak bench demo docs lint venv

run: .venv/.run ## two brokers on 127.0.0.1:9092 and 9093
	@.venv/bin/odradek serve

test: .venv/.dev
	.venv/bin/python -m pytest -n 2 -m "not (official and apache_kafka)" $(if $(COVERAGE),--cov --cov-report=)

differential: .venv/.dev ## asks Apache Kafka anew; FAMILIES="fetch produce" picks
	PYTHONPATH=.dev:. .venv/bin/python -m tests.differential $(FAMILIES)

damaged: .venv/.dev ## many damaged batches to Apache Kafka and to us; BATCHES=1000 SEED=1
	PYTHONPATH=.dev:. .venv/bin/python -m tests.differential.long $(or $(BATCHES),100000) $(SEED)

# Some of what the broker does depends on the order of sets, and so on the hash seed.
FUZZ = PYTHONPATH=.dev:. PYTHONHASHSEED=0 .venv/bin/python -m tests.fuzz

fuzz: .venv/.dev ## generated frames in process and over sockets; FRAMES=10000 SOCKET_FRAMES=0 SEED=1, ROUND=17 plays one round again
	$(FUZZ) $(if $(FRAMES),--frames $(FRAMES)) $(if $(SOCKET_FRAMES),--socket-frames $(SOCKET_FRAMES)) \
	  $(if $(CONNECTIONS),--connections $(CONNECTIONS)) $(if $(PROCESSES),--processes $(PROCESSES)) \
	  $(if $(SEED),--seed $(SEED)) $(if $(ROUND),--round $(ROUND))

soak: .venv/.dev ## mixed load of real clients while nodes stop and start; MINUTES=1 SEED=1
	PYTHONPATH=.dev:. .venv/bin/python -m tests.soak $(if $(MINUTES),--minutes $(MINUTES)) $(if $(SEED),--seed $(SEED))

bench: .venv/.dev ## BENCH="--quick --rows produce" picks
	.venv/bin/python -m benchmarks $(BENCH)

demo: .venv/.dev
	.venv/bin/python examples/demo.py

docs: .venv/.dev ## writes the generated parts of README.md, ARCHITECTURE.md and docs/configuration.md
	PYTHONPATH=.dev:. .venv/bin/python -m tests.documents

lint: .venv/.dev
	.venv/bin/ruff check
	.venv/bin/ruff format --check
	.venv/bin/mypy
	.venv/bin/mypy -p benchmarks -m tests.apache_kafka
	.venv/bin/lint-imports

venv: ## makes .venv, or explains why it cannot be used
	@.dev/venv.sh "$(PYTHON)"

.venv/.run: pyproject.toml __init__.py | venv
	@echo "Installing odradek and uvloop into .venv ..." >&2
	@$(PIP_INSTALL) -e '.[uvloop]'
	@touch $@

.venv/.dev: pyproject.toml __init__.py | venv
	@echo "Installing odradek, PySpark, clients and tools into .venv, some 700 MB; this takes minutes ..." >&2
	@$(PIP_INSTALL) -e '.[dev]'
	@touch .venv/.run $@
