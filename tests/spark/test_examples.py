"""Runs the Spark examples, which start their own brokers, with the session of the tests."""

from __future__ import annotations

import importlib
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

EXAMPLES = Path(__file__).parents[2] / "examples"


def shown_by(name: str, spark: SparkSession, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> list[list[str]]:
    """Runs an example and returns the rows of the tables that it prints."""
    monkeypatch.syspath_prepend(EXAMPLES)
    importlib.import_module(name).run(spark)
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in capsys.readouterr().out.splitlines() if "|" in line]


@pytest.mark.slow
def test_batch_report_prints_the_report(spark: SparkSession, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    shown = shown_by("batch_report", spark, monkeypatch, capsys)
    expected = [[f"customer-{n}", "4", str(sum(5 * number for number in range(12, 24) if number % 3 == n))] for n in range(3)]
    assert shown == [["customer", "orders", "euros"], *expected]


@pytest.mark.slow
def test_streaming_word_count_prints_the_counts(
    spark: SparkSession, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    shown = shown_by("streaming_word_count", spark, monkeypatch, capsys)
    assert shown[:4] == [["word", "count"], ["it", "3"], ["a", "1"], ["and", "1"]]
    assert shown[6:11] == [["word", "count"], ["it", "4"], ["a", "2"], ["and", "2"], ["spool", "2"]]


@pytest.mark.slow
def test_copy_topic_prints_counts_and_copies(
    spark: SparkSession, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    shown = shown_by("copy_topic", spark, monkeypatch, capsys)
    counts = [["records", "different"], ["3", "3"], ["records", "different"], ["5", "5"], ["records", "different"], ["7", "5"]]
    copied = [[f"customer-{number % 2}", f"order {number}"] for number in range(5)]
    assert shown == [*counts, ["customer", "what"], *copied]
