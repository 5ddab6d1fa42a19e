"""PushTelemetry (72): sends the metrics of a client (KIP-714).

There is one version so far.
"""

from __future__ import annotations

from ..schema import Api, Int8, Int16, Int32, Message, Uuid, versions


class PushTelemetryRequest(Message):
    flexible_from = 0
    client_instance_id: Uuid
    subscription_id: Int32
    terminating: bool
    compression_type: Int8
    metrics: bytes


class PushTelemetryResponse(Message):
    flexible_from = 0
    throttle_time_ms: Int32 = 0
    error_code: Int16 = 0


PUSH_TELEMETRY = Api(72, versions(0, 0), PushTelemetryRequest, PushTelemetryResponse)
