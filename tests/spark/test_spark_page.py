"""The Python listings of docs/spark.md are one program, which runs with the session of the tests and a topic of an emulated cluster."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from odradek.broker import Cluster
from tests.documentation.test_listings import program

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

PAGE = "docs/spark.md"


def test_program_of_spark_page_reads_and_writes(
    spark: SparkSession, emulator: Cluster, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PYSPARK_PYTHON", "python")  # registration sets it, and the session has its own
    emulator.create_topic("orders", 2)
    emulator.produce("orders", ["first", "second"])
    text = program(PAGE).replace("localhost:9092", emulator.bootstrap_servers)
    for option, name in (("path", "orders"), ("checkpointLocation", "checkpoint")):  # the JVM has its own working directory
        text = text.replace(f'"{option}", "{name}"', f'"{option}", "{tmp_path / name}"')
    names: dict[str, object] = {"spark": spark}
    exec(compile(text, PAGE, "exec"), names)
    names["query"].awaitTermination()  # type: ignore[attr-defined]
    assert names["orders"].count() == 1002  # type: ignore[attr-defined]
