"""GetTelemetrySubscriptions and PushTelemetry."""

from __future__ import annotations

from odradek.protocol.messages.get_telemetry_subscriptions import GET_TELEMETRY_SUBSCRIPTIONS, GetTelemetrySubscriptionsRequest
from tests.broker.harness import World


def test_subscription_without_instance_id_gets_one() -> None:
    client = World().client()
    ids = {
        client.call(GET_TELEMETRY_SUBSCRIPTIONS, 0, GetTelemetrySubscriptionsRequest(client_instance_id=bytes(16))).client_instance_id
        for _ in range(2)
    }
    assert len(ids) == 2 and bytes(16) not in ids
