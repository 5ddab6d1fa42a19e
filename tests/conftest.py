"""Settings of Hypothesis, the mark `sockets`, the order of files, and the wheel, which is built once.

Hypothesis tries 10 examples of each property, 200 with ODRADEK_HYPOTHESIS=long and 3 with ODRADEK_HYPOTHESIS=fast. Every run prints its
seed.
"""

from __future__ import annotations

import gc
import os
import random
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

ROOT = Path(__file__).parents[1]

# A codec is compiled when it is first used, so the first example may be slow.
_COMMON = settings(deadline=None, print_blob=True, suppress_health_check=[HealthCheck.too_slow])
settings.register_profile("fast", _COMMON, max_examples=3)
settings.register_profile("short", _COMMON, max_examples=10)
settings.register_profile("long", _COMMON, max_examples=200)
settings.load_profile(os.environ.get("ODRADEK_HYPOTHESIS", "short"))


@pytest.hookimpl(tryfirst=True)
def pytest_configure(config: pytest.Config) -> None:
    if config.getoption("--hypothesis-seed") is None:
        config.option.hypothesis_seed = str(random.SystemRandom().getrandbits(32))
    # Hypothesis looks for the referrers of its own random numbers, which it does not always find on Python 3.14.
    config.addinivalue_line("filterwarnings", "ignore:It looks like `register_random`:hypothesis.errors.HypothesisWarning")
    # kafka-python uses these deprecated functions when it is imported.
    config.addinivalue_line("filterwarnings", "ignore:(read|open)_text is deprecated:DeprecationWarning")
    # kafka-python 3.0 does not close a socket whose connection was refused. It is collected at any time, also in a later test.
    config.addinivalue_line("filterwarnings", r"ignore:unclosed <socket[^>]* laddr=\('0\.0\.0\.0', \d+\)>:ResourceWarning")


OPENS_SOCKETS = {"socket", "Cluster", "AsyncCluster", "emulator", "broker"}
"""A test whose module imports one of these names, or that uses a fixture of such a name, is marked `sockets`."""


LONGEST_FIRST = ("official", "apache_kafka", "spark", "slow", "clients", "sockets")
"""Marks of files that run first, so that no process has to wait for a long file of the other one at the end."""


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        imported = vars(item.module) if isinstance(item, pytest.Function) else {}
        if OPENS_SOCKETS & {*imported, *getattr(item, "fixturenames", ())}:
            item.add_marker(pytest.mark.sockets)
    ranks: dict[Path, int] = {}
    for item in items:
        rank = next((rank for rank, mark in enumerate(LONGEST_FIRST) if item.get_closest_marker(mark)), len(LONGEST_FIRST))
        ranks[item.path] = min(rank, ranks.get(item.path, rank))
    items.sort(key=lambda item: ranks[item.path])


def pytest_collection_finish() -> None:
    """Exempts the collected tests from garbage collection, which would visit millions of objects in vain, also where tests call it."""
    gc.collect()
    gc.freeze()


def pytest_report_header(config: pytest.Config) -> str:
    return f"reproduce with: --hypothesis-seed={config.getoption('--hypothesis-seed')}"


@pytest.fixture(scope="session")
def source(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Returns a copy of the tracked files, because a build leaves files behind in its source tree."""
    copy = tmp_path_factory.mktemp("clone") / "odradek"
    tracked = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, check=True).stdout.decode().split("\0")
    for name in filter(None, tracked):
        if (ROOT / name).is_file() and not name.startswith((".dev", "tests", "benchmarks", "documents")):
            (copy / name).parent.mkdir(parents=True, exist_ok=True)
            (copy / name).write_bytes((ROOT / name).read_bytes())
    return copy


@pytest.fixture(scope="session")
def wheel(source: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("dist")
    build = [
        sys.executable,
        "-m",
        "pip",
        "wheel",
        "--quiet",
        "--no-index",
        "--no-deps",
        "--no-build-isolation",
        "-w",
        str(folder),
        str(source),
    ]
    subprocess.run(build, check=True, capture_output=True)
    (built,) = folder.glob("odradek-*.whl")
    return built
