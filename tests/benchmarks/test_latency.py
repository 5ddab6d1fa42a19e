"""Percentiles of repeated actions."""

from __future__ import annotations

from benchmarks.latency import percentiles


def test_percentiles_count_only_calls_after_the_warm_up() -> None:
    calls: list[int] = []
    figures = percentiles("row", lambda: calls.append(1), 100)
    assert len(calls) == 110
    assert 0 < figures["row, p50"] <= figures["row, p99"]
