"""Client telemetry: requests for subscriptions and pushes of metrics."""

from __future__ import annotations

import pytest
from crc32c import crc32c

from odradek.broker.cluster import client_metrics
from odradek.broker.cluster.client_metrics import EXPIRY_MS, PUSH_INTERVAL_MS, ClientMetrics, subscription_id
from odradek.protocol.errors import ErrorCode, KafkaError
from tests.broker.harness import START_MS

CLIENT = bytes(range(1, 17))


def push(metrics: ClientMetrics, now_ms: int, *, subscription: int = subscription_id(CLIENT), terminating: bool = False) -> ErrorCode:
    try:
        metrics.push(CLIENT, subscription, 0, 10, now_ms, terminating=terminating)
    except KafkaError as error:
        return error.code
    return ErrorCode.NONE


def test_subscription_id_equals_that_of_kafka() -> None:
    """The expected value was recorded from Apache Kafka 4.3.1."""
    assert subscription_id(CLIENT) == -725132338
    assert crc32c(b"[]300000") == client_metrics.SUBSCRIPTION_CRC


def test_subscribe_within_the_interval_is_refused() -> None:
    metrics = ClientMetrics(100)
    metrics.subscribe(CLIENT, START_MS)
    with pytest.raises(KafkaError) as refused:
        metrics.subscribe(CLIENT, START_MS + PUSH_INTERVAL_MS - 1)
    assert refused.value.code is ErrorCode.THROTTLING_QUOTA_EXCEEDED
    metrics.subscribe(CLIENT, START_MS + PUSH_INTERVAL_MS)


def test_push_is_accepted_once_per_interval() -> None:
    metrics = ClientMetrics(100)
    metrics.subscribe(CLIENT, START_MS)
    assert push(metrics, START_MS + 1) is ErrorCode.NONE
    assert push(metrics, START_MS + 2) is ErrorCode.THROTTLING_QUOTA_EXCEEDED
    assert push(metrics, START_MS + 1 + PUSH_INTERVAL_MS) is ErrorCode.NONE
    assert push(metrics, START_MS + 2 + PUSH_INTERVAL_MS, terminating=True) is ErrorCode.NONE
    assert push(metrics, START_MS + 9 * PUSH_INTERVAL_MS // 4) is ErrorCode.INVALID_REQUEST


def test_subscribe_after_failed_push_is_accepted_at_once() -> None:
    metrics = ClientMetrics(100)
    assert push(metrics, START_MS, subscription=5) is ErrorCode.UNKNOWN_SUBSCRIPTION_ID
    metrics.subscribe(CLIENT, START_MS + 1)


def test_client_without_requests_is_forgotten() -> None:
    metrics = ClientMetrics(100)
    push(metrics, START_MS, terminating=True)
    assert push(metrics, START_MS + EXPIRY_MS - 1) is ErrorCode.INVALID_REQUEST
    push(metrics, START_MS + EXPIRY_MS, terminating=True)
    assert push(metrics, START_MS + 2 * EXPIRY_MS) is ErrorCode.NONE


def test_client_beyond_the_limit_replaces_the_oldest(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(client_metrics, "MAX_INSTANCES", 2)
    metrics = ClientMetrics(100)
    for number in (1, 2, 3):
        metrics.subscribe(bytes([number]) * 16, START_MS)
    metrics.subscribe(bytes([1]) * 16, START_MS + 1)
    with pytest.raises(KafkaError):
        metrics.subscribe(bytes([3]) * 16, START_MS + 1)
