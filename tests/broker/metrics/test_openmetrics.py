"""The choice of a format for metrics, and the classic text format as Prometheus's own parser reads it."""

from __future__ import annotations

import pytest
from prometheus_client.parser import text_string_to_metric_families

from odradek.broker.metrics import state
from odradek.broker.metrics.openmetrics import CLASSIC, END, OPENMETRICS, ExpositionFormat, counter, format_for, gauge, samples
from tests.broker.harness import World

PROMETHEUS = (
    "application/openmetrics-text;version=1.0.0;escaping=allow-utf-8;q=0.6,application/openmetrics-text;version=0.0.1;q=0.5,"
    "text/plain;version=1.0.0;escaping=allow-utf-8;q=0.4,text/plain;version=0.0.4;q=0.3,*/*;q=0.2"
)


@pytest.mark.parametrize(
    ("accept", "expected"),
    [
        ("", CLASSIC),
        ("*/*", CLASSIC),
        ("text/html,application/xhtml+xml,*/*;q=0.8", CLASSIC),
        ("text/plain", CLASSIC),
        ("text/plain;version=0.0.4;q=0.9,application/openmetrics-text;q=0.5", CLASSIC),
        ("application/openmetrics-text;q=0", CLASSIC),
        ("application/openmetrics-text;q=much, text/plain;q=0.5", OPENMETRICS),
        ("Application/OpenMetrics-Text; version=1.0.0", OPENMETRICS),
        ("application/openmetrics-text,text/plain", OPENMETRICS),
        (PROMETHEUS, OPENMETRICS),
    ],
)
def test_format_is_openmetrics_for_clients_that_prefer_it(accept: str, expected: ExpositionFormat) -> None:
    assert format_for(accept) == expected


def test_classic_text_names_counters_as_their_samples() -> None:
    family = counter("requests", 'Requests that are "served", \\ and more.')
    pieces = [family.head + samples("requests_total", [('{api="#"}', 3)]), gauge("nodes", "Nodes.").head, "nodes 2\n", END]
    assert "".join(CLASSIC.convert(pieces)) == (
        '# HELP requests_total Requests that are "served", \\\\ and more.\n# TYPE requests_total counter\nrequests_total{api="#"} 3\n'
        "# HELP nodes Nodes.\n# TYPE nodes gauge\nnodes 2\n"
    )


def test_classic_text_of_a_cluster_is_readable() -> None:
    text = "".join(CLASSIC.convert(state.pieces(World(2).core)))
    families = {family.name: family for family in text_string_to_metric_families(text)}
    assert families["odradek_node_up"].type == "gauge"
    assert [sample.value for sample in families["odradek_node_up"].samples] == [1, 1]
