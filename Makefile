# Only make and Python 3.11 or later are needed. Everything else is installed into .venv, and again when pyproject.toml or __init__.py
# changes.

PYTHON ?= python3

PIP_INSTALL = .venv/bin/python -m pip install --quiet --disable-pip-version-check
# The tests of a file share fixtures that are expensive to create, so a file runs in one process. tests/conftest.py orders the files.
# A third process works while others wait for JVMs, browsers and clients. Compiled modules are kept, because the tests start hundreds of
# Python processes.
PYTEST = PYTHONDONTWRITEBYTECODE= .venv/bin/python -m pytest -n 3 --dist loadfile --no-loadscope-reorder
MODULE = PYTHONPATH=.dev:. .venv/bin/python -m

.PHONY: help run demo test-fast test test-all test-again lint docs paths site links differential conformance damaged damaged-files recorded-directories fuzz soak churn kills torn moves bindings explore-corpus simulate bench dist venv

help: ## list these commands
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-13s %s\n", $$1, $$2 }' Makefile

run: .venv/.run ## start two brokers on 127.0.0.1:9092 and 9093
	@.venv/bin/odradek serve

demo: .venv/.test ## show a cluster, a client and Spark in a minute
	.venv/bin/python examples/demo.py

# Tests. CONTRIBUTING.md says what each command covers and costs.

test-fast: .venv/.test ## run the tests that need neither sockets nor Spark; for use after every edit
	ODRADEK_HYPOTHESIS=fast $(PYTEST) -p tests.without_sockets -m "not (spark or clients or sockets or official or apache_kafka or slow)" \
	  --ignore-glob='*/test_failing_writes.py' --ignore-glob='*/test_request_cost.py' --ignore-glob='*/test_many_members.py' \
	  --ignore-glob='*/test_work_of_turns.py' --ignore-glob='*/test_fuzz.py' --ignore-glob='*/test_roundtrip.py' --ignore-glob='*/test_robustness.py'

test: .venv/.test ## run the tests of every part of the project
	$(PYTEST) -m "not (official or apache_kafka or slow)"

test-all: .venv/.dev ## run every test, among them all clients, other versions of Spark and Spark's own Kafka connector
	$(PYTEST) $(if $(COVERAGE),--cov --cov-report=)

test-again: .venv/.dev ## run the tests that failed in the last run once more, one after the other, up to the first that fails again
	.venv/bin/python -m pytest --last-failed --last-failed-no-failures none --exitfirst $(if $(COVERAGE),--cov --cov-append --cov-report=)

lint: .venv/.dev ## check style, types, the direction of imports and the page's JavaScript
	.venv/bin/ruff check
	.venv/bin/ruff format --check
	.venv/bin/mypy
	.venv/bin/mypy -p benchmarks -p distribution -p documents -p tests
	.venv/bin/lint-imports
	@.dev/page/check.sh

docs: .venv/.test ## write the generated pages of docs/ and the indexes of APIs
	$(MODULE) documents
	$(MODULE) documents.walk

paths: .venv/.test ## count the files that requests pass through; OF="Produce" lists them
	@$(MODULE) documents.request_paths $(if $(OF),"$(OF)")

SPHINX = $(MODULE) sphinx --fail-on-warning --keep-going --nitpicky --quiet

site: .venv/.docs ## build the documentation in docs/_build/html, where it can be read without a network
	$(SPHINX) -b html docs docs/_build/html

links: .venv/.docs ## check the links of the documentation to other sites
	$(SPHINX) -b linkcheck docs docs/_build/linkcheck

differential: .venv/.test ## record Apache Kafka's answers again and compare ours; FAMILIES="fetch produce" limits it
	$(MODULE) tests.differential $(FAMILIES)

conformance: .venv/.test ## run test suites of other projects; SUITES="kafka-python aiokafka" limits it
	$(MODULE) tests.conformance $(SUITES)

damaged: .venv/.test ## send damaged batches to Apache Kafka and to odradek; BATCHES=1000 SEED=1
	$(MODULE) tests.differential.damage_run $(or $(BATCHES),100000) $(SEED)

damaged-files: .venv/.test ## read damaged files of log directories; FILES=1000 SEED=1
	$(MODULE) tests.storage.directories.damage_run $(or $(FILES),100000) $(SEED)

recorded-directories: .venv/.test ## record log directories of Apache Kafka again, as test data
	$(MODULE) tests.storage.directories.recording

# The order of sets, and therefore part of the broker's behaviour, depends on the hash seed.
FUZZ = PYTHONHASHSEED=0 $(MODULE) tests.fuzz

fuzz: .venv/.test ## send generated frames in process and over sockets; FRAMES=10000 SOCKET_FRAMES=0 SEED=1, ROUND=17 repeats one round
	$(FUZZ) $(if $(FRAMES),--frames $(FRAMES)) $(if $(SOCKET_FRAMES),--socket-frames $(SOCKET_FRAMES)) \
	  $(if $(CONNECTIONS),--connections $(CONNECTIONS)) $(if $(PROCESSES),--processes $(PROCESSES)) \
	  $(if $(SEED),--seed $(SEED)) $(if $(ROUND),--round $(ROUND))

soak: .venv/.test ## run real clients while nodes stop, crash and pause; MINUTES=1 SEED=1
	$(MODULE) tests.soak $(if $(MINUTES),--minutes $(MINUTES)) $(if $(SEED),--seed $(SEED))

explore-corpus: .venv/.test ## explore services with planted mistakes and their correct twins; NAMES="no_idempotence.py shop.go"
	$(MODULE) tests.explored $(NAMES)

bindings: .venv/.test ## run test classes in parallel, frameworks and test runners with the packages in bindings/; NAMES="parallel jest"
	$(MODULE) tests.bindings $(NAMES)

churn: .venv/.test ## reset and restore a cluster and create and delete objects under connected clients; MINUTES=1 SEED=1
	$(MODULE) tests.churn $(if $(MINUTES),--minutes $(MINUTES)) $(if $(SEED),--seed $(SEED))

kills: .venv/.test ## kill a cluster with a data directory again and again under load; KILLS=300, SEED=7 repeats one
	$(MODULE) tests.kills $(if $(KILLS),--kills $(KILLS)) $(if $(SEED),--seed $(SEED))

torn: .venv/.test ## compare what Apache Kafka and odradek serve from torn data directories; DIRECTORIES=50, SEED=7 repeats a run
	$(MODULE) tests.kills.torn $(if $(DIRECTORIES),--directories $(DIRECTORIES)) $(if $(SEED),--seed $(SEED))

moves: .venv/.test ## move records, a share group, Streams and Connect between odradek and Apache Kafka by log directories; NAMES="streams" limits it
	$(MODULE) tests.moves $(NAMES)

simulate: .venv/.test ## run groups, transactions and share groups in virtual time under all faults; SEEDS=20000, SCENARIO=service; SEED=7 repeats one
	PYTHONHASHSEED=0 $(MODULE) tests.campaign $(if $(SCENARIO),--scenario $(SCENARIO)) $(if $(SEEDS),--seeds $(SEEDS)) $(if $(SEED),--seed $(SEED))

bench: .venv/.test ## compare speed with other brokers; BENCH="--quick --rows produce" limits it, REPORT=folder writes a table and a chart
	.venv/bin/python -m benchmarks $(if $(REPORT),--report $(REPORT)) $(BENCH)

dist: .venv/.dist ## build wheel, source archive, zip application and executable of the commit into dist/, with checksums
	$(MODULE) distribution $(DIST)

venv: ## create .venv, or explain why the existing one cannot be used
	@.dev/venv.sh "$(PYTHON)"

.venv/.run: pyproject.toml __init__.py | venv
	@echo "Installing odradek and uvloop into .venv ..." >&2
	@$(PIP_INSTALL) -e '.[uvloop]'
	@touch $@

.venv/.test: pyproject.toml __init__.py | venv
	@echo "Installing odradek, PySpark and Kafka clients into .venv (640 MB of downloads); this takes minutes ..." >&2
	@$(PIP_INSTALL) -e '.[test]'
	@touch .venv/.run $@

.venv/.docs: pyproject.toml __init__.py | venv
	@echo "Installing odradek and Sphinx into .venv ..." >&2
	@$(PIP_INSTALL) -e '.[docs]'
	@touch .venv/.run $@

.venv/.dist: pyproject.toml __init__.py | venv
	@echo "Installing build and cyclonedx-bom into .venv ..." >&2
	@$(PIP_INSTALL) -e '.[dist]'
	@touch .venv/.run $@

.venv/.dev: .venv/.test
	@echo "Installing development tools into .venv ..." >&2
	@$(PIP_INSTALL) -e '.[dev]'
	@touch .venv/.docs $@
