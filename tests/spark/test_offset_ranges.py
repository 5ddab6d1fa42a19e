"""Partitions of subscriptions, and the offsets at which a batch starts and ends."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import closing

import pytest

from odradek.protocol.client.connection import TopicPartition
from odradek.protocol.errors import KafkaError
from odradek.spark_sink.client import EARLIEST, LATEST, KafkaClient
from odradek.spark_sink.error_conditions import KafkaCondition
from odradek.spark_sink.offset_options import Times
from odradek.spark_sink.offset_ranges import OffsetRange, assigned_partitions, plan_batch, resolve
from odradek.spark_sink.source_options import Assign, Subscribe, SubscribePattern
from tests.spark.kafka_topics import FIRST_TIMESTAMP, Broker, bodies, config_of, new_topic, produce, time_of
from tests.spark.read_options import options

NEVER = FIRST_TIMESTAMP * 2


@pytest.fixture
def client(broker: Broker) -> Iterator[KafkaClient]:
    with closing(KafkaClient(config_of(broker))) as client:
        yield client


def test_resolve_times_returns_first_offsets(client: KafkaClient, both: tuple[TopicPartition, TopicPartition]) -> None:
    first, second = both
    assert resolve(client, both, Times(time_of(5), or_latest=False)) == {first: 5, second: 5}
    assert resolve(client, both, Times(time_of(5) - 1, or_latest=False)) == {first: 5, second: 5}
    assert resolve(client, both, Times({first: time_of(7), second: 0}, or_latest=False)) == {first: 7, second: 0}
    assert resolve(client, both, Times(time_of(20), or_latest=True)) == {first: 20, second: 10}
    assert resolve(client, both, Times(NEVER, or_latest=True)) == {first: 30, second: 10}
    assert resolve(client, [], Times(5, or_latest=False)) == {}


def test_resolve_time_after_all_records_raises(client: KafkaClient, both: tuple[TopicPartition, TopicPartition]) -> None:
    text = f"No offset matched from request of topic-partition {both[1]} and timestamp {time_of(20)}."
    with pytest.raises(ValueError, match=f"^{re.escape(text)}$"):
        resolve(client, both, Times(time_of(20), or_latest=False))


def test_resolve_times_of_other_partitions_raises(client: KafkaClient, both: tuple[TopicPartition, TopicPartition]) -> None:
    with pytest.raises(KafkaCondition, match=rf"Specified: Set\({both[0]}\) Assigned: Set\({both[0]}, {both[1]}\)") as caught:
        resolve(client, both, Times({both[0]: 5}, or_latest=True))
    assert caught.value.condition == "KAFKA_TIMESTAMP_OFFSET_DOES_NOT_MATCH_ASSIGNED"


def test_resolve_earliest_and_latest(client: KafkaClient, both: tuple[TopicPartition, TopicPartition]) -> None:
    assert resolve(client, both, {both[0]: EARLIEST, both[1]: LATEST}) == {both[0]: 0, both[1]: 10}


def test_assigned_partitions_by_subscription(broker: Broker, client: KafkaClient) -> None:
    topic = new_topic(broker, 2)
    both = [TopicPartition(topic, 0), TopicPartition(topic, 1)]
    assert assigned_partitions(client, Subscribe((topic,))) == both
    assert assigned_partitions(client, SubscribePattern(f"{topic[2:]}$")) == both
    assert assigned_partitions(client, SubscribePattern("^nosuch")) == []
    assert assigned_partitions(client, Assign((TopicPartition(topic, 9), both[1]))) == [both[1]]
    assert assigned_partitions(client, Assign(())) == []
    with pytest.raises(KafkaError, match="nosuch"):
        assigned_partitions(client, Subscribe((topic, "nosuch")))


def test_plan_batch_resolves_offsets(broker: Broker, client: KafkaClient) -> None:
    topic = new_topic(broker, 2)
    produce(broker, topic, bodies(8), 1)
    first, second = TopicPartition(topic, 0), TopicPartition(topic, 1)
    assert plan_batch(client, options(client, Subscribe((topic,)))) == [OffsetRange(first, 0, 0), OffsetRange(second, 0, 8)]
    some = options(client, Subscribe((topic,)), {first: EARLIEST, second: 3}, {first: LATEST, second: 99})
    assert plan_batch(client, some) == [OffsetRange(first, 0, 0), OffsetRange(second, 3, 99)]


def test_plan_batch_invalid_offsets_raises(broker: Broker, client: KafkaClient) -> None:
    topic = new_topic(broker, 2)
    first, second = TopicPartition(topic, 0), TopicPartition(topic, 1)
    with pytest.raises(KafkaCondition, match=rf"Specified: Set\({first}\) Assigned: Set\({first}, {second}\)") as caught:
        plan_batch(client, options(client, Subscribe((topic,)), EARLIEST, {first: 1}))
    assert caught.value.condition == "KAFKA_START_OFFSET_DOES_NOT_MATCH_ASSIGNED"
    text = f"The resolved start offset 5 is greater than the resolved end offset 0 for topic {topic} partition 1."
    with pytest.raises(KafkaCondition, match=text) as caught:
        plan_batch(client, options(client, Subscribe((topic,)), {first: 0, second: 5}))
    assert caught.value.condition == "RESOLVED_START_OFFSET_GREATER_THAN_END_OFFSET"
