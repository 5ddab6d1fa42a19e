"""The Python executable of workers after registration, with a fake Spark context. test_deployment.py uses real clusters."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest
from pyspark import SparkContext

from odradek.spark_sink import OdradekDataSource


@pytest.fixture(autouse=True)
def unset_pyspark_python(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYSPARK_PYTHON", "set, so that it is as it was after the test")
    monkeypatch.delenv("PYSPARK_PYTHON")


def python_of_workers(monkeypatch: pytest.MonkeyPatch, master: str, *, set_to: str | None = None) -> str:
    """Returns the `pythonExec` of a context after a call of the source's `name`, as `register` makes it."""
    context = SimpleNamespace(master=master, pythonExec=set_to or "python3")
    monkeypatch.setattr(SparkContext, "_active_spark_context", context)
    if set_to is not None:
        monkeypatch.setenv("PYSPARK_PYTHON", set_to)
    assert OdradekDataSource.name() == "odradek"
    found: str = context.pythonExec
    return found


@pytest.mark.parametrize("master", ["local", "local[2]", "local-cluster[2,1,1024]"])
def test_interpreter_local_master_uses_this_python(monkeypatch: pytest.MonkeyPatch, master: str) -> None:
    assert python_of_workers(monkeypatch, master) == sys.executable
    assert os.environ["PYSPARK_PYTHON"] == sys.executable


def test_interpreter_set_pyspark_python_is_kept(monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture) -> None:
    for master in ("local[2]", "spark://h:1"):
        assert python_of_workers(monkeypatch, master, set_to="./environment/bin/python") == "./environment/bin/python"
    assert not caplog.records


def test_interpreter_cluster_with_another_python_warns(monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture) -> None:
    monkeypatch.setenv("PATH", "")
    assert python_of_workers(monkeypatch, "spark://h:1") == "python3"
    assert "PYSPARK_PYTHON" not in os.environ
    (record,) = caplog.records
    assert f"python3, which is not on PATH here, and not this interpreter, {sys.executable}" in record.getMessage()


def test_interpreter_cluster_with_same_environment_is_silent(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture, tmp_path: Path
) -> None:
    for name in ("python", "python3"):
        (tmp_path / name).touch(mode=0o755)
    monkeypatch.setattr(sys, "executable", str(tmp_path / "python"))
    monkeypatch.setenv("PATH", str(tmp_path))
    assert python_of_workers(monkeypatch, "spark://h:1") == "python3"
    assert not caplog.records


def test_interpreter_without_a_session_is_not_chosen(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(SparkContext, "_active_spark_context", None)
    assert OdradekDataSource.name() == "odradek"
    assert "PYSPARK_PYTHON" not in os.environ
