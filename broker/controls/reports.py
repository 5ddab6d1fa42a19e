"""Reports about a running cluster for monitoring: metrics, and whether it is ready for clients."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from .declaration import Controls

if TYPE_CHECKING:
    from ..metrics.requests import RequestCounts


class Metrics:
    """The metrics of a cluster, with counts of requests that begin when they are asked for first."""

    def __init__(self, controls: Controls) -> None:
        self._controls = controls
        self._counts: RequestCounts | None = None

    def pieces(self) -> Iterator[str]:
        """Yields the metrics in OpenMetrics text, each piece in about a millisecond."""
        from ..metrics import kafka_exporter, state
        from ..metrics.openmetrics import END
        from ..metrics.requests import RequestCounts

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


def nodes_in_service(controls: Controls) -> tuple[int, int]:
    """Returns the number of nodes that serve clients, and the number of all nodes."""
    brokers = controls._server.cluster.brokers.values()
    return sum(broker.running and broker.silence is None for broker in brokers), len(brokers)
