"""Controls that show the metrics that clients have pushed (KIP-714)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from ..frozen_data import FrozenData
from .declaration import Controls, control

if TYPE_CHECKING:
    from ..cluster.client_metrics import Push


class ClientMetric(FrozenData):
    """A value of a metric. `time_ms` is the client's time; `value` is None for a metric that is neither a gauge nor a sum."""

    name: str
    unit: str
    kind: str
    attributes: Mapping[str, str | int | float | bool]
    time_ms: int
    value: float | None


class ClientMetricsPush(FrozenData):
    """A push of metrics by a client. `problem` says why the metrics cannot be read; it is None if they can."""

    time_ms: int
    node: int
    client_instance_id: str
    client_id: str
    software_name: str
    software_version: str
    terminating: bool
    metrics: list[ClientMetric]
    problem: str | None


class ClientMetricsControls(Controls):
    """The metrics of clients."""

    @control("telemetry list", reads=True)
    async def client_metrics(self) -> list[ClientMetricsPush]:
        """Returns the last pushes of metrics of all nodes, the oldest first.

        Clients push metrics if there is a subscription that they match (`kafka-client-metrics.sh`), and if the setting `metric.reporters`
        names a reporter beside the default one. Each node keeps its last 1000 pushes, and at most 4 MiB of them.
        """
        brokers = self._server.cluster.brokers.values()
        pushes = [(push.time_ms, broker.node_id, push) for broker in brokers for push in broker.client_metrics.pushes]
        pushes.sort(key=lambda each: each[:2])
        # In a thread, because a client may push bytes that take long to read.
        return await self._server.in_thread(lambda: [_push_info(node_id, push) for _, node_id, push in pushes])


def _push_info(node_id: int, push: Push) -> ClientMetricsPush:
    from ..kafka_quirks.java_uuid import uuid_text

    metrics, problem = _metrics(push)
    attributes = push.attributes
    return ClientMetricsPush(
        time_ms=push.time_ms,
        node=node_id,
        client_instance_id=uuid_text(push.client_instance_id),
        client_id=attributes["client_id"],
        software_name=attributes["client_software_name"],
        software_version=attributes["client_software_version"],
        terminating=push.terminating,
        metrics=metrics,
        problem=problem,
    )


def _metrics(push: Push) -> tuple[list[ClientMetric], str | None]:
    from ...protocol.otlp import InvalidMetrics, read_pushed

    try:
        found = read_pushed(push.compression_type, push.metrics)
    except InvalidMetrics as error:
        return [], str(error)
    return [
        ClientMetric(metric.name, metric.unit, metric.kind, point.attributes, point.time_ns // 1_000_000, point.value)
        for metric in found
        for point in metric.points
    ], None
