"""Reports about a running cluster for monitoring: metrics, and whether it is ready for clients."""

from __future__ import annotations

from collections.abc import Iterator

from .declaration import Controls


def metrics_of(controls: Controls) -> Iterator[str]:
    """Yields the metrics of a cluster in OpenMetrics text, each piece in about a millisecond."""
    from ..metrics import kafka_exporter, state  # imported on first use, because most listeners are not asked for metrics
    from ..metrics.openmetrics import END

    server = controls._server
    addresses = {node.node_id: node.client_listener.advertised for node in server.config.nodes}
    yield from kafka_exporter.pieces(server.cluster, addresses)
    yield from state.pieces(server.core)
    yield END


def nodes_in_service(controls: Controls) -> tuple[int, int]:
    """Returns the number of nodes that serve clients, and the number of all nodes."""
    brokers = controls._server.cluster.brokers.values()
    return sum(broker.running and broker.silence is None for broker in brokers), len(brokers)
