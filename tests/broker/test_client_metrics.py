"""Clients that ask for subscriptions to metrics, and push some."""

from __future__ import annotations

import pytest
from crc32c import crc32c

from odradek.broker.cluster import client_metrics
from odradek.broker.cluster.client_metrics import EXPIRY_MS, PUSH_INTERVAL_MS, ClientMetrics, subscription_id
from odradek.protocol.errors import ErrorCode, KafkaError
from odradek.protocol.messages.get_telemetry_subscriptions import GET_TELEMETRY_SUBSCRIPTIONS, GetTelemetrySubscriptionsRequest
from tests.broker.harness import START_MS, World

CLIENT = bytes(range(1, 17))


def push(metrics: ClientMetrics, now_ms: int, *, subscription: int = subscription_id(CLIENT), terminating: bool = False) -> ErrorCode:
    try:
        metrics.push(CLIENT, subscription, 0, 10, now_ms, terminating=terminating)
    except KafkaError as error:
        return error.code
    return ErrorCode.NONE


def test_subscription_id_is_kafkas() -> None:
    """Recorded from Apache Kafka 4.3.1."""
    assert subscription_id(CLIENT) == -725132338
    assert crc32c(b"[]300000") == client_metrics.SUBSCRIPTION_CRC


def test_ask_is_refused_until_the_interval_is_over() -> None:
    metrics = ClientMetrics(100)
    metrics.subscribe(CLIENT, START_MS)
    with pytest.raises(KafkaError) as refused:
        metrics.subscribe(CLIENT, START_MS + PUSH_INTERVAL_MS - 1)
    assert refused.value.code is ErrorCode.THROTTLING_QUOTA_EXCEEDED
    metrics.subscribe(CLIENT, START_MS + PUSH_INTERVAL_MS)


def test_push_is_accepted_once_in_an_interval() -> None:
    metrics = ClientMetrics(100)
    metrics.subscribe(CLIENT, START_MS)
    assert push(metrics, START_MS + 1) is ErrorCode.NONE
    assert push(metrics, START_MS + 2) is ErrorCode.THROTTLING_QUOTA_EXCEEDED
    assert push(metrics, START_MS + 1 + PUSH_INTERVAL_MS) is ErrorCode.NONE
    assert push(metrics, START_MS + 2 + PUSH_INTERVAL_MS, terminating=True) is ErrorCode.NONE
    assert push(metrics, START_MS + 9 * PUSH_INTERVAL_MS // 4) is ErrorCode.INVALID_REQUEST


def test_a_client_that_pushes_wrongly_may_ask_at_once() -> None:
    metrics = ClientMetrics(100)
    assert push(metrics, START_MS, subscription=5) is ErrorCode.UNKNOWN_SUBSCRIPTION_ID
    metrics.subscribe(CLIENT, START_MS + 1)


def test_a_silent_client_is_forgotten() -> None:
    metrics = ClientMetrics(100)
    push(metrics, START_MS, terminating=True)
    assert push(metrics, START_MS + EXPIRY_MS - 1) is ErrorCode.INVALID_REQUEST
    push(metrics, START_MS + EXPIRY_MS, terminating=True)
    assert push(metrics, START_MS + 2 * EXPIRY_MS) is ErrorCode.NONE


def test_of_too_many_clients_the_oldest_is_forgotten(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(client_metrics, "MAX_INSTANCES", 2)
    metrics = ClientMetrics(100)
    for number in (1, 2, 3):
        metrics.subscribe(bytes([number]) * 16, START_MS)
    metrics.subscribe(bytes([1]) * 16, START_MS + 1)
    with pytest.raises(KafkaError):
        metrics.subscribe(bytes([3]) * 16, START_MS + 1)


def test_a_client_without_an_id_is_given_one() -> None:
    client = World().client()
    ids = {
        client.call(GET_TELEMETRY_SUBSCRIPTIONS, 0, GetTelemetrySubscriptionsRequest(client_instance_id=bytes(16))).client_instance_id
        for _ in range(2)
    }
    assert len(ids) == 2 and bytes(16) not in ids
