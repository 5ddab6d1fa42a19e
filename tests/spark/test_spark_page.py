"""The Python listings of docs/spark.md are one program, which runs with the session of the tests and a topic of an emulated cluster.

The first listing also runs alone, as a program of an environment that is not activated.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from odradek.broker import Cluster
from tests.documentation.listings import ROOT, listings
from tests.documentation.programs import program

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

PAGE = "docs/spark.md"


@pytest.mark.slow
def test_program_of_spark_page_reads_and_writes(
    spark: SparkSession, emulator: Cluster, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PYSPARK_PYTHON", "python")  # registration sets it, and the session has its own
    emulator.create_topic("orders", 2)
    emulator.produce("orders", ["first", "second"])
    with Cluster(topics={"orders": 1}) as cluster:
        cluster.produce("orders", ["first", "second"])
        cluster.export_log_dirs(tmp_path / "copy")
    emulator.create_topic("payments", 1)
    registry = emulator.start_schema_registry()
    emulator.schemas.register("payments-value", {"type": "record", "name": "Payment", "fields": [{"name": "id", "type": "long"}]})
    text = program(PAGE).replace("localhost:9092", emulator.bootstrap_servers).replace("http://localhost:8081", registry)
    text = text.replace("/var/lib/kafka/data", str(tmp_path / "copy" / "node-1" / "data"))
    for option, name in (("path", "orders"), ("checkpointLocation", "checkpoint")):  # the JVM has its own working directory
        text = text.replace(f'"{option}", "{name}"', f'"{option}", "{tmp_path / name}"')
    names: dict[str, object] = {"spark": spark}
    exec(compile(text, PAGE, "exec"), names)
    names["query"].awaitTermination()  # type: ignore[attr-defined]
    assert names["reader"].load().count() == 1002  # type: ignore[attr-defined]
    assert names["payments"].columns == ["offset", "id"]  # type: ignore[attr-defined]
    assert [tuple(row) for row in names["per_partition"].collect()] == [(0, 2)]  # type: ignore[attr-defined]


def test_first_program_runs_in_an_environment_not_activated(emulator: Cluster, tmp_path: Path) -> None:
    emulator.create_topic("first-program", 2)
    emulator.produce("first-program", ["first", "second"])
    (tmp_path / "python3").write_text("#!/bin/sh\necho this Python has no odradek >&2\nexit 1\n")
    (tmp_path / "python3").chmod(0o755)
    first = next(listing for listing in listings(PAGE) if listing.language == "python")
    environ = {name: value for name, value in os.environ.items() if name not in ("PYSPARK_PYTHON", "PYSPARK_DRIVER_PYTHON")}
    environ |= {"PATH": f"{tmp_path}{os.pathsep}{environ['PATH']}", "PYTHONPATH": str(ROOT / ".dev")}
    text = first.text.replace("localhost:9092", emulator.bootstrap_servers).replace('"orders"', '"first-program"')
    (tmp_path / "app.py").write_text(text)
    done = subprocess.run([sys.executable, "app.py"], cwd=tmp_path, env=environ, capture_output=True, text=True, timeout=240)
    assert done.returncode == 0, done.stderr
    assert "first" in done.stdout and "second" in done.stdout
