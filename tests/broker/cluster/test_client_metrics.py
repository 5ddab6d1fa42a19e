"""Client telemetry: requests for subscriptions and pushes of metrics."""

from __future__ import annotations

import pytest

from odradek.broker.cluster import client_metrics
from odradek.broker.cluster.client_metrics import (
    DEFAULT_INTERVAL_MS,
    MAX_PUSHES,
    ClientMetrics,
    MetricSubscriptions,
    Subscription,
    subscription_id,
)
from odradek.broker.kafka_quirks.java_uuid import uuid_text
from odradek.broker.settings.values import BrokerConfig
from odradek.protocol.errors import ErrorCode, KafkaError
from tests.broker.harness import START_MS

CLIENT = bytes(range(1, 17))
NOTHING = Subscription([], DEFAULT_INTERVAL_MS)
EXPIRY_MS = 3 * DEFAULT_INTERVAL_MS


@pytest.fixture
def subscriptions() -> MetricSubscriptions:
    return MetricSubscriptions()


@pytest.fixture
def metrics(subscriptions: MetricSubscriptions) -> ClientMetrics:
    return ClientMetrics(100, subscriptions)


def attributes(client_id: str = "a") -> dict[str, str]:
    return {
        "client_id": client_id,
        "client_software_name": "java",
        "client_software_version": "1",
        "client_source_address": "127.0.0.1",
        "client_source_port": "1",
    }


def push(
    metrics: ClientMetrics,
    now_ms: int,
    *,
    subscription: int = subscription_id(NOTHING, CLIENT),
    data: bytes = b"0123456789",
    terminating: bool = False,
) -> ErrorCode:
    try:
        metrics.push(CLIENT, attributes(), 1, subscription, 0, data, now_ms, terminating=terminating)
    except KafkaError as error:
        return error.code
    return ErrorCode.NONE


def subscribe(metrics: ClientMetrics, now_ms: int, client: bytes = CLIENT, client_id: str = "a") -> Subscription | ErrorCode:
    try:
        return metrics.subscribe(client, attributes(client_id), 1, now_ms).subscription
    except KafkaError as error:
        return error.code


def test_subscription_id_equals_that_of_kafka() -> None:
    """The expected value was recorded from Apache Kafka 4.3.1."""
    assert subscription_id(NOTHING, CLIENT) == -725132338


def test_uuid_is_shown_in_the_form_of_kafka() -> None:
    assert uuid_text(bytes(16)) == "AAAAAAAAAAAAAAAAAAAAAA"


def test_subscribe_within_the_interval_is_refused(metrics: ClientMetrics) -> None:
    assert subscribe(metrics, START_MS) == NOTHING
    assert subscribe(metrics, START_MS + DEFAULT_INTERVAL_MS - 1) is ErrorCode.THROTTLING_QUOTA_EXCEEDED
    assert subscribe(metrics, START_MS + DEFAULT_INTERVAL_MS) == NOTHING


def test_push_is_accepted_once_per_interval(metrics: ClientMetrics) -> None:
    subscribe(metrics, START_MS)
    assert push(metrics, START_MS + 1) is ErrorCode.NONE
    assert push(metrics, START_MS + 2) is ErrorCode.THROTTLING_QUOTA_EXCEEDED
    assert push(metrics, START_MS + 1 + DEFAULT_INTERVAL_MS) is ErrorCode.NONE
    assert push(metrics, START_MS + 2 + DEFAULT_INTERVAL_MS, terminating=True) is ErrorCode.NONE
    assert push(metrics, START_MS + 9 * DEFAULT_INTERVAL_MS // 4) is ErrorCode.INVALID_REQUEST


def test_subscribe_after_failed_push_is_accepted_at_once(metrics: ClientMetrics) -> None:
    assert push(metrics, START_MS, subscription=5) is ErrorCode.UNKNOWN_SUBSCRIPTION_ID
    assert subscribe(metrics, START_MS + 1) == NOTHING


def test_changed_subscription_is_served_at_once(metrics: ClientMetrics, subscriptions: MetricSubscriptions) -> None:
    subscribe(metrics, START_MS)
    subscriptions.alter("s", BrokerConfig({}), {"metrics": "b,a", "interval.ms": "1000", "match": "client_id=a"})
    assert subscribe(metrics, START_MS + 1) == Subscription(["a", "b"], 1000)
    assert subscribe(metrics, START_MS + 1, client=bytes([9]) * 16, client_id="other") == NOTHING
    subscriptions.alter("s", BrokerConfig({}), {})
    assert subscribe(metrics, START_MS + 2) == NOTHING


def test_client_without_requests_is_forgotten(metrics: ClientMetrics) -> None:
    push(metrics, START_MS, terminating=True)
    assert push(metrics, START_MS + EXPIRY_MS - 1) is ErrorCode.INVALID_REQUEST
    push(metrics, START_MS + EXPIRY_MS, terminating=True)
    assert push(metrics, START_MS + 2 * EXPIRY_MS) is ErrorCode.NONE


def test_client_of_a_closed_connection_is_forgotten(metrics: ClientMetrics) -> None:
    subscribe(metrics, START_MS)
    metrics.forget_connection(2)
    assert subscribe(metrics, START_MS + 1) is ErrorCode.THROTTLING_QUOTA_EXCEEDED
    metrics.forget_connection(1)
    assert subscribe(metrics, START_MS + 1) == NOTHING


def test_client_beyond_the_limit_replaces_the_oldest(metrics: ClientMetrics, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(client_metrics, "MAX_INSTANCES", 2)
    for number in (1, 2, 3):
        subscribe(metrics, START_MS, bytes([number]) * 16)
    assert subscribe(metrics, START_MS + 1, bytes([1]) * 16) == NOTHING
    assert subscribe(metrics, START_MS + 1, bytes([3]) * 16) is ErrorCode.THROTTLING_QUOTA_EXCEEDED


def test_pushed_metrics_are_kept_within_a_bound(metrics: ClientMetrics, monkeypatch: pytest.MonkeyPatch) -> None:
    for number in range(MAX_PUSHES + 2):
        assert push(metrics, START_MS + number * DEFAULT_INTERVAL_MS, data=bytes([number % 256]) * 10) is ErrorCode.NONE
    assert len(metrics.pushes) == MAX_PUSHES
    assert metrics.pushes[0].metrics == bytes([2]) * 10
    monkeypatch.setattr(client_metrics, "MAX_PUSHED_BYTES", 35)
    assert push(metrics, START_MS + 2 * MAX_PUSHES * DEFAULT_INTERVAL_MS) is ErrorCode.NONE
    assert [len(each.metrics) for each in metrics.pushes] == [10, 10, 10]


def test_push_that_is_too_large_is_refused(metrics: ClientMetrics) -> None:
    assert push(metrics, START_MS, data=bytes(101)) is ErrorCode.TELEMETRY_TOO_LARGE
    assert not metrics.pushes
