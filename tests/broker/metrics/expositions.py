"""Metrics as prometheus-client reads them."""

from __future__ import annotations

from collections.abc import Iterable

from prometheus_client.openmetrics.parser import text_string_to_metric_families

Labels = frozenset[tuple[str, str]]


def parsed(text: str) -> dict[str, dict[Labels, float]]:
    """Returns the values of all samples by their names and labels. Raises ValueError for text that is not OpenMetrics."""
    found: dict[str, dict[Labels, float]] = {}
    for family in text_string_to_metric_families(text):  # type: ignore[no-untyped-call]
        for sample in family.samples:
            by_labels = found.setdefault(sample.name, {})
            key = frozenset(sample.labels.items())
            assert key not in by_labels, f"{sample.name}{sample.labels} occurs twice"
            by_labels[key] = sample.value
    return found


def of(pieces: Iterable[str]) -> dict[str, dict[Labels, float]]:
    """Returns the samples in pieces of text."""
    return parsed("".join(pieces) + "# EOF\n")


def labelled(**labels: str) -> Labels:
    return frozenset(labels.items())
