"""GetTelemetrySubscriptions (71): returns the metrics that a client is to push (KIP-714).

There is one version so far.
"""

from __future__ import annotations

from ..schema import Api, Int8, Int16, Int32, Message, Uuid, versions


class GetTelemetrySubscriptionsRequest(Message):
    flexible_from = 0
    client_instance_id: Uuid


class GetTelemetrySubscriptionsResponse(Message):
    flexible_from = 0
    throttle_time_ms: Int32 = 0
    error_code: Int16 = 0
    client_instance_id: Uuid
    subscription_id: Int32
    accepted_compression_types: list[Int8]
    push_interval_ms: Int32
    telemetry_max_bytes: Int32
    delta_temporality: bool
    requested_metrics: list[str]


GET_TELEMETRY_SUBSCRIPTIONS = Api(71, versions(0, 0), GetTelemetrySubscriptionsRequest, GetTelemetrySubscriptionsResponse)
