"""Reports for monitoring: `/metrics` for Prometheus, `/healthz` and `/readyz` for whatever starts the process.

`/metrics` is in the format that the client accepts.
`/healthz` returns 200 as long as the event loop answers at all. `/readyz` returns 200 while at least one node serves clients, otherwise
503. Both are public, because programs that start containers ask them without a token, and they tell nothing about the data.
"""

from __future__ import annotations

from collections.abc import Iterator
from http import HTTPStatus
from typing import TYPE_CHECKING

from ...metrics.openmetrics import END, format_for
from ..cluster_controls import ClusterControls
from .requests import Request
from .routes import Rendered, Report

if TYPE_CHECKING:
    from ...metrics.requests import RequestCounts

_TEXT = "text/plain; charset=utf-8"


def reports(controls: ClusterControls) -> dict[str, Report]:
    """Returns the reports by their paths."""
    metrics = Metrics(controls)
    return {
        "/metrics": Report(lambda request: _metrics(metrics, request)),
        "/healthz": Report(lambda request: Rendered(HTTPStatus.OK, _TEXT, ["ok\n"]), public=True),
        "/readyz": Report(lambda request: _readiness(controls), public=True),
    }


def _metrics(metrics: Metrics, request: Request) -> Rendered:
    format_ = format_for(request.headers.get("accept", ""))
    return Rendered(HTTPStatus.OK, format_.content_type, format_.convert(metrics.pieces()))


def _readiness(controls: ClusterControls) -> Rendered:
    brokers = controls._server.cluster.brokers.values()
    serving, nodes = sum(broker.running and broker.silence is None for broker in brokers), len(brokers)
    status = HTTPStatus.OK if serving else HTTPStatus.SERVICE_UNAVAILABLE
    return Rendered(status, _TEXT, [f"{'ready' if serving else 'not ready'}: {serving} of {nodes} nodes serve clients\n"])


class Metrics:
    """The metrics of a cluster, with counts of requests that begin when they are asked for first."""

    def __init__(self, controls: ClusterControls) -> None:
        self._controls = controls
        self._counts: RequestCounts | None = None

    def pieces(self) -> Iterator[str]:
        """Yields the metrics in OpenMetrics text, each piece in about a millisecond."""
        from ...metrics import kafka_exporter, state
        from ...metrics.requests import RequestCounts

        server = self._controls._server
        addresses = {node.node_id: node.client_listener.advertised for node in server.config.nodes}
        yield from kafka_exporter.pieces(server.cluster, addresses)
        yield from state.pieces(server.core)
        record = server.core.record
        if record is not None:
            if self._counts is None:
                self._counts = RequestCounts(record, lambda work: server.core.turns.background(work))
            yield from self._counts.pieces()
        yield END
