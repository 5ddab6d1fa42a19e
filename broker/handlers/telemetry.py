"""GetTelemetrySubscriptions and PushTelemetry (KIP-714). The rules for accepting requests are in `cluster/client_metrics.py`."""

from __future__ import annotations

from ...protocol.compression import Compression
from ...protocol.errors import ErrorCode, KafkaError
from ...protocol.messages.get_telemetry_subscriptions import (
    GET_TELEMETRY_SUBSCRIPTIONS,
    GetTelemetrySubscriptionsRequest,
    GetTelemetrySubscriptionsResponse,
)
from ...protocol.messages.push_telemetry import PUSH_TELEMETRY, PushTelemetryRequest, PushTelemetryResponse
from ...protocol.schema import ZERO_UUID
from ..cluster.client_metrics import PUSH_INTERVAL_MS, subscription_id
from ..context import Context
from ..registry import handles

ACCEPTED = [Compression.ZSTD, Compression.LZ4, Compression.GZIP, Compression.SNAPPY]
RESERVED = (ZERO_UUID, bytes(15) + b"\1")
"""Instance ids that Kafka reserves (Uuid.RESERVED)."""


@handles(GET_TELEMETRY_SUBSCRIPTIONS)
def get_telemetry_subscriptions(request: GetTelemetrySubscriptionsRequest, context: Context) -> GetTelemetrySubscriptionsResponse:
    """Returns a subscription to no metrics. A client that sends no instance id gets a random one."""
    client = request.client_instance_id
    if client == ZERO_UUID:
        client = context.cluster.random.randbytes(16)
    response = GetTelemetrySubscriptionsResponse(
        client_instance_id=ZERO_UUID,
        subscription_id=0,
        accepted_compression_types=[],
        push_interval_ms=0,
        telemetry_max_bytes=0,
        delta_temporality=False,
        requested_metrics=[],
    )
    try:
        context.broker.client_metrics.subscribe(client, context.now_ms)
    except KafkaError as error:
        response.error_code = error.code
        return response
    response.client_instance_id, response.subscription_id = client, subscription_id(client)
    response.accepted_compression_types, response.push_interval_ms = [*ACCEPTED], PUSH_INTERVAL_MS
    response.telemetry_max_bytes, response.delta_temporality = context.broker.client_metrics.max_bytes, True
    return response


@handles(PUSH_TELEMETRY)
def push_telemetry(request: PushTelemetryRequest, context: Context) -> PushTelemetryResponse:
    """Accepts metrics and discards them."""
    if request.client_instance_id in RESERVED:
        return PushTelemetryResponse(error_code=ErrorCode.INVALID_REQUEST)
    context.broker.client_metrics.push(
        request.client_instance_id,
        request.subscription_id,
        request.compression_type,
        len(request.metrics),
        context.now_ms,
        terminating=request.terminating,
    )
    return PushTelemetryResponse()
