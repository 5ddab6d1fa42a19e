"""The runner, with a suite of three tests of its own: it prepares, starts a cluster, runs, and reads the report."""

from __future__ import annotations

import sys
from dataclasses import dataclass, replace
from pathlib import Path

import pytest

from odradek import __version__
from tests.conformance.frameworks import Pytest
from tests.conformance.results import ODRADEK
from tests.conformance.run import CannotRun, prepared, readable, run
from tests.conformance.suite import Suite

pytestmark = pytest.mark.sockets

TESTS = """
import os
import pytest
from confluent_kafka.admin import AdminClient

def test_cluster_has_one_node():
    listed = AdminClient({"bootstrap.servers": os.environ["BROKERS"], "log_level": 0}).list_topics(timeout=60)
    assert list(listed.brokers) == [7]

def test_preparation_has_run():
    assert os.path.exists("prepared.txt")

def test_fails():
    raise AssertionError

def test_is_left_out():
    raise AssertionError

@pytest.mark.skip(reason="needs " + os.getcwd() + "/file")
def test_skips(): ...
"""


@dataclass(frozen=True)
class OwnSource:
    """A source that writes the tests and counts how often it does."""

    fetched: list[str]
    needs: tuple[str, ...] = ()

    def fetch(self, version: str, target: Path) -> None:
        self.fetched.append(version)
        target.mkdir()
        (target / "test_suite.py").write_text(TESTS)


def suite() -> Suite:
    return Suite(
        name="own",
        version="1.2",
        covers="a cluster",
        source=OwnSource([]),
        framework=Pytest(),
        prepare=(("touch", "prepared.txt"),),
        command=(sys.executable, "-m", "pytest", "-p", "no:cacheprovider", "--junitxml={report}"),
        environment={"BROKERS": "{bootstrap_servers}"},
        first_id=7,
        left_out={"test_suite.py::test_is_left_out": "does not apply"},
    )


@pytest.mark.slow
def test_run_returns_the_outcomes(tmp_path: Path) -> None:
    declared = suite()
    first, second = run(declared, cache=tmp_path), run(declared, cache=tmp_path)
    assert isinstance(declared.source, OwnSource)
    assert declared.source.fetched == ["1.2"]
    for result in (first, second):
        assert result.key == ("own", ODRADEK)
        assert (result.passed, result.failed) == (2, ("test_suite.test_fails",))
        assert result.skipped == {"test_suite.test_skips": "needs file"}
        assert result.broker_version == __version__
        assert result.command.startswith("BROKERS=<bootstrap_servers> ")


def test_run_without_a_program_names_it(tmp_path: Path) -> None:
    with pytest.raises(CannotRun, match=r"^needs no-such-program$"):
        run(replace(suite(), needs=("no-such-program",)), cache=tmp_path)
    assert list(tmp_path.iterdir()) == []


def test_preparation_that_fails_is_repeated(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        prepared(replace(suite(), prepare=(("no-such-program",),)), tmp_path)
    assert (prepared(suite(), tmp_path) / "source" / "prepared.txt").exists()


def test_reason_becomes_one_line_without_a_path() -> None:
    assert readable("Skipped: needs /cache/own/source/a\nmore", Path("/cache/own")) == "needs a"
