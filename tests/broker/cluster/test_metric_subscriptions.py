"""Subscriptions to client metrics: their configs, and the clients that they match."""

from __future__ import annotations

import pytest

from odradek.broker.cluster.client_metrics import MetricSubscriptions, Subscription, validate_subscription
from odradek.broker.settings.properties import InvalidConfig
from odradek.broker.settings.values import BrokerConfig
from odradek.protocol.errors import ErrorCode, KafkaError

CONFIG = BrokerConfig({})
CLIENT = {
    "client_instance_id": "AAAAAAAAAAAAAAAAAAAAAA",
    "client_id": "billing-1",
    "client_software_name": "java",
    "client_software_version": "4.3.1",
    "client_source_address": "127.0.0.1",
    "client_source_port": "40000",
}


@pytest.mark.parametrize(
    ("patterns", "matches"),
    [
        ("", True),
        ("client_id=billing-.*", True),
        ("client_id=billing", False),
        ("client_id=billing-.*,client_software_name=java", True),
        ("client_id=billing-.*,client_software_name=python", False),
        ("client_source_port=4[0-9]+,client_source_address=127\\..*,client_software_version=4.*", True),
    ],
)
def test_client_matches_if_every_pattern_does(patterns: str, matches: bool) -> None:
    subscriptions = MetricSubscriptions()
    subscriptions.alter("s", CONFIG, {"metrics": "m", "interval.ms": "500", "match": patterns})
    assert (subscriptions.of(CLIENT) == Subscription(["m"], 500)) is matches


def test_subscriptions_are_united_at_the_shortest_interval() -> None:
    subscriptions = MetricSubscriptions()
    subscriptions.alter("one", CONFIG, {"metrics": "a,b"})
    subscriptions.alter("two", CONFIG, {"metrics": "b, c", "interval.ms": "900"})
    assert subscriptions.of(CLIENT) == Subscription(["a", "b", "c"], 900)
    subscriptions.alter("all", CONFIG, {"metrics": "*"})
    assert subscriptions.of(CLIENT) == Subscription(["*"], 900)


def test_change_is_counted_as_a_version() -> None:
    subscriptions = MetricSubscriptions()
    before = subscriptions.version
    subscriptions.alter("s", CONFIG, {"metrics": "a"})
    subscriptions.alter("s", CONFIG, {})
    assert subscriptions.version == before + 2
    assert not subscriptions.configs


@pytest.mark.parametrize(
    ("name", "overrides"), [("", {}), ("s", {"x": "1"}), ("s", {"interval.ms": "99"}), ("s", {"interval.ms": "3600001"})]
)
def test_invalid_subscription_is_an_invalid_request(name: str, overrides: dict[str, str]) -> None:
    with pytest.raises(KafkaError) as refused:
        validate_subscription(name, overrides)
    assert refused.value.code is ErrorCode.INVALID_REQUEST


@pytest.mark.parametrize("match", ["client_id", "client_id=", "nobody=x", "client_id=[", "client_id=a=b", "client_id=a,,client_id=b"])
def test_invalid_pattern_is_refused(match: str) -> None:
    with pytest.raises(InvalidConfig):
        validate_subscription("s", {"match": match})
