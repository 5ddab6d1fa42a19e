"""GetTelemetrySubscriptions and PushTelemetry (KIP-714). The rules for accepting requests are in `cluster/client_metrics.py`."""

from __future__ import annotations

from collections.abc import Mapping

from ...protocol.batches.compression import Compression
from ...protocol.errors import ErrorCode, KafkaError
from ...protocol.messages.get_telemetry_subscriptions import (
    GET_TELEMETRY_SUBSCRIPTIONS,
    GetTelemetrySubscriptionsRequest,
    GetTelemetrySubscriptionsResponse,
)
from ...protocol.messages.push_telemetry import PUSH_TELEMETRY, PushTelemetryRequest, PushTelemetryResponse
from ...protocol.schema import ZERO_UUID
from ..api.context import Client, Context
from ..api.registry import handles

ACCEPTED = [Compression.ZSTD, Compression.LZ4, Compression.GZIP, Compression.SNAPPY]
RESERVED = (ZERO_UUID, bytes(15) + b"\1")
"""Instance ids that Kafka reserves (Uuid.RESERVED)."""
UNKNOWN = "unknown"
"""The software name and version of a client that has not sent any (Kafka's ClientInformation)."""


@handles(GET_TELEMETRY_SUBSCRIPTIONS)
def get_telemetry_subscriptions(request: GetTelemetrySubscriptionsRequest, context: Context) -> GetTelemetrySubscriptionsResponse:
    """Returns the metrics that the client is to push. A client that sends no instance id gets a random one."""
    instance_id = request.client_instance_id
    if instance_id == ZERO_UUID:
        instance_id = context.cluster.random.randbytes(16)
    response = GetTelemetrySubscriptionsResponse(
        client_instance_id=ZERO_UUID,
        subscription_id=0,
        accepted_compression_types=[],
        push_interval_ms=0,
        telemetry_max_bytes=0,
        delta_temporality=False,
        requested_metrics=[],
    )
    client, metrics = context.client, context.broker.client_metrics
    _forget_on_close(context)
    try:
        instance = metrics.subscribe(instance_id, _attributes(client), client.connection_id, context.now_ms)
    except KafkaError as error:
        response.error_code = error.code
        return response
    response.client_instance_id, response.subscription_id = instance_id, instance.subscription_id
    response.requested_metrics = instance.subscription.metrics
    response.push_interval_ms = instance.subscription.push_interval_ms
    response.accepted_compression_types = [*ACCEPTED]
    response.telemetry_max_bytes, response.delta_temporality = metrics.max_bytes, True
    return response


@handles(PUSH_TELEMETRY)
def push_telemetry(request: PushTelemetryRequest, context: Context) -> PushTelemetryResponse:
    """Accepts metrics, which `cluster.client_metrics()` shows."""
    if request.client_instance_id in RESERVED:
        return PushTelemetryResponse(error_code=ErrorCode.INVALID_REQUEST)
    _forget_on_close(context)
    context.broker.client_metrics.push(
        request.client_instance_id,
        _attributes(context.client),
        context.client.connection_id,
        request.subscription_id,
        request.compression_type,
        bytes(request.metrics),
        context.now_ms,
        terminating=request.terminating,
    )
    return PushTelemetryResponse()


def _forget_on_close(context: Context) -> None:
    metrics, connection_id = context.broker.client_metrics, context.client.connection_id
    context.client.on_close[metrics] = lambda: metrics.forget_connection(connection_id)


def _attributes(client: Client) -> Mapping[str, str]:
    """Returns the properties by which subscriptions select clients (Kafka's ClientMetricsInstanceMetadata), but for the instance id."""
    return {
        "client_id": client.client_id,
        "client_software_name": client.software_name or UNKNOWN,
        "client_software_version": client.software_version or UNKNOWN,
        "client_source_address": client.client_host,
        "client_source_port": str(client.client_port),
    }
