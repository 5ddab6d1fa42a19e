"""Batches of a stream and losses of data, without Spark: the tests make the calls that Spark makes, in the same order."""

from __future__ import annotations

import pickle
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace

import pytest

from odradek.protocol.client.connection import TopicPartition
from odradek.protocol.errors import KafkaError
from odradek.spark_sink.client import EARLIEST, LATEST, client_for
from odradek.spark_sink.error_conditions import KafkaCondition
from odradek.spark_sink.offset_options import Bound, Times
from odradek.spark_sink.offset_ranges import OffsetRange
from odradek.spark_sink.source_options import Assign, ReadOptions, Subscribe, SubscribePattern, Subscription
from odradek.spark_sink.stream_offsets import StreamOffsets
from odradek.spark_sink.trigger_options import NO_LIMIT, TriggerOptions
from tests.spark.kafka_topics import (
    FIRST_TIMESTAMP,
    Broker,
    add_partitions,
    bodies,
    config_of,
    delete_before,
    new_topic,
    produce,
    recreate_topic,
)


@pytest.fixture(autouse=True)
def closed(broker: Broker) -> Iterator[None]:
    yield
    client_for(config_of(broker)).close()


def options(broker: Broker, subscription: Subscription, start: Bound = EARLIEST, *, fail_on_data_loss: bool = True) -> ReadOptions:
    return ReadOptions(
        client=config_of(broker),
        subscription=subscription,
        starting=start,
        ending=LATEST,
        include_headers=False,
        fail_on_data_loss=fail_on_data_loss,
        min_partitions=None,
        max_records_per_partition=None,
    )


def stream_of(broker: Broker, topic: str, start: Bound = EARLIEST, trigger: TriggerOptions = NO_LIMIT) -> StreamOffsets:
    return StreamOffsets(options(broker, Subscribe((topic,)), start), trigger)


def tolerant(broker: Broker, topic: str) -> StreamOffsets:
    return StreamOffsets(options(broker, Subscribe((topic,)), fail_on_data_loss=False), NO_LIMIT)


@contextmanager
def loss(condition: str, text: str) -> Iterator[None]:
    with pytest.raises(KafkaCondition) as caught:
        yield
    assert caught.value.condition == f"KAFKA_DATA_LOSS.{condition}"
    assert text in str(caught.value)


def test_next_end_follows_the_logs(broker: Broker) -> None:
    topic = new_topic(broker, 2)
    first, second = TopicPartition(topic, 0), TopicPartition(topic, 1)
    produce(broker, topic, bodies(3), 0)
    stream = stream_of(broker, topic)
    start = stream.initial()
    end = stream.next_end(start, everything=False)
    assert (start, end) == ({first: 0, second: 0}, {first: 3, second: 0})
    assert stream.ranges(start, end) == [OffsetRange(first, 0, 3)]
    assert stream.next_end(end, everything=False) == end == stream.latest_seen
    produce(broker, topic, bodies(4), 1)
    later = stream.next_end(end, everything=False)
    assert stream.ranges(end, later) == [OffsetRange(second, 0, 4)]


def test_initial_by_starting_bound(broker: Broker) -> None:
    topic = new_topic(broker, 2)
    first, second = TopicPartition(topic, 0), TopicPartition(topic, 1)
    produce(broker, topic, bodies(3), 0)
    latest = stream_of(broker, topic, LATEST)
    assert latest.initial() == {first: 3, second: 0}
    produce(broker, topic, bodies(3), 0)
    assert latest.initial() == {first: 3, second: 0}, "a second call must not skip new records"
    assert stream_of(broker, topic, {first: 2, second: LATEST}).initial() == {first: 2, second: 0}
    assert stream_of(broker, topic, Times(FIRST_TIMESTAMP + 1, or_latest=True)).initial() == {first: 1, second: 0}
    with pytest.raises(AssertionError, match="If startingOffsets contains specific offsets, you must specify all TopicPartitions"):
        stream_of(broker, topic, {first: 2}).initial()
    with pytest.raises(KafkaError, match=r"This server does not host this topic-partition\."):
        stream_of(broker, "nosuch").initial()


def test_ranges_start_after_the_end_is_data_loss(broker: Broker) -> None:
    topic = new_topic(broker)
    produce(broker, topic, bodies(3))
    beyond = stream_of(broker, topic, {TopicPartition(topic, 0): 50})
    start = beyond.initial()
    with loss("PARTITION_OFFSET_CHANGED", f"Partition {topic}-0 offset was changed from 50 to 3. This could be either 1)"):
        beyond.ranges(start, beyond.next_end(start, everything=False))


def test_next_end_max_offsets_per_trigger(broker: Broker) -> None:
    topic = new_topic(broker, 2)
    first, second = TopicPartition(topic, 0), TopicPartition(topic, 1)
    produce(broker, topic, bodies(10), 0)
    produce(broker, topic, bodies(90), 1)
    stream = stream_of(broker, topic, trigger=replace(NO_LIMIT, max_offsets=30))
    start = stream.initial()
    assert stream.next_end(start, everything=False) == {first: 3, second: 27}
    assert stream.next_end(start, everything=True) == {first: 10, second: 90}
    assert stream.next_end(None, everything=False) == {first: 10, second: 90}, "PySpark 4.0 passes no start"
    assert stream.next_end({first: 3}, everything=False) == {first: 5, second: 27}, "a new partition gets a share of the limit"


def test_next_end_min_offsets_and_delay(broker: Broker) -> None:
    topic = new_topic(broker)
    partition, now = TopicPartition(topic, 0), 100.0
    produce(broker, topic, bodies(10))
    trigger = TriggerOptions(max_offsets=200, min_offsets=50, max_delay_ms=6000)
    stream = StreamOffsets(options(broker, Subscribe((topic,))), trigger, clock=lambda: now)
    assert stream.next_end({partition: 0}, everything=False) == {partition: 10}, "the first batch runs at once"
    produce(broker, topic, bodies(10))
    now = 105.9
    assert stream.next_end({partition: 10}, everything=False) == {partition: 10}
    now = 106.0
    assert stream.next_end({partition: 10}, everything=False) == {partition: 20}, "the delay has passed"
    produce(broker, topic, bodies(50))
    assert stream.next_end({partition: 20}, everything=False) == {partition: 70}, "minOffsetsPerTrigger is reached"
    produce(broker, topic, bodies(5))
    assert stream.next_end({partition: 70}, everything=False) == {partition: 70}
    assert stream.next_end({partition: 70}, everything=True) == {partition: 75}, "Trigger.Once reads everything"
    stream.stop_at_present_end()
    assert stream.next_end({partition: 70}, everything=False) == {partition: 75}, "AvailableNow does not wait"


def test_available_now_stops_at_the_prepared_end(broker: Broker) -> None:
    topic = new_topic(broker)
    partition = TopicPartition(topic, 0)
    produce(broker, topic, bodies(10))
    stream = stream_of(broker, topic, trigger=replace(NO_LIMIT, max_offsets=6))
    stream.stop_at_present_end()
    produce(broker, topic, bodies(10))
    assert stream.next_end({partition: 0}, everything=False) == {partition: 6}
    assert stream.next_end({partition: 6}, everything=False) == {partition: 10}
    assert stream.next_end({partition: 10}, everything=False) == {partition: 10}
    assert stream.latest_seen == {partition: 10}


def test_ranges_new_partitions_and_topics_start_at_zero(broker: Broker) -> None:
    topic = new_topic(broker)
    stream = StreamOffsets(options(broker, SubscribePattern(f"^{topic}"), LATEST), NO_LIMIT)
    start = stream.initial()
    add_partitions(broker, topic, 2)
    other = new_topic(broker, name=f"{topic}-other")
    produce(broker, topic, bodies(3), 1)
    produce(broker, other, bodies(2), 0)
    end = stream.next_end(start, everything=False)
    assert end == {TopicPartition(topic, 0): 0, TopicPartition(topic, 1): 3, TopicPartition(other, 0): 2}
    assert stream.ranges(start, end) == [OffsetRange(TopicPartition(topic, 1), 0, 3), OffsetRange(TopicPartition(other, 0), 0, 2)]


def test_ranges_new_partition_without_start_is_data_loss(broker: Broker) -> None:
    topic = new_topic(broker, 2)
    produce(broker, topic, bodies(10), 1)
    delete_before(broker, topic, 3, 1)
    start = {TopicPartition(topic, 0): 0}
    stream = stream_of(broker, topic)
    end = stream.next_end(start, everything=False)
    with loss("ADDED_PARTITION_DOES_NOT_START_FROM_OFFSET_ZERO", f"Added partition {topic}-1 starts from 3 instead of 0."):
        stream.ranges(start, end)
    assert tolerant(broker, topic).ranges(start, end) == [OffsetRange(TopicPartition(topic, 1), 3, 10)]


def test_ranges_deleted_partition_is_data_loss(broker: Broker) -> None:
    topic = new_topic(broker)
    mine, other = TopicPartition(topic, 0), TopicPartition("other", 0)
    produce(broker, topic, bodies(10))
    stream, start = stream_of(broker, topic), {other: 7, mine: 2}
    end = stream.next_end(start, everything=False)
    assert end == {mine: 10}
    with loss("PARTITIONS_DELETED", "Partitions Set(other-0) have been deleted."):
        stream.ranges(start, end)
    assert tolerant(broker, topic).ranges(start, end) == [OffsetRange(mine, 2, 10)]


def test_ranges_planned_batch_of_deleted_partition(broker: Broker) -> None:
    topic = new_topic(broker)
    start, end = {TopicPartition(topic, 0): 0}, {TopicPartition("other", 0): 5, TopicPartition(topic, 0): 0}
    with loss("INITIAL_OFFSET_NOT_FOUND_FOR_PARTITIONS", "Cannot find initial offsets for partitions Set(other-0)."):
        stream_of(broker, topic).ranges(start, end)
    assert tolerant(broker, topic).ranges(start, end) == []


def test_ranges_recreated_topic_is_data_loss(broker: Broker) -> None:
    topic = new_topic(broker)
    partition = TopicPartition(topic, 0)
    produce(broker, topic, bodies(20))
    stream = tolerant(broker, topic)
    start = stream.next_end(stream.initial(), everything=False)
    recreate_topic(broker, topic)
    produce(broker, topic, bodies(5))
    end = stream.next_end(start, everything=False)
    assert end == {partition: 5}
    assert stream.ranges(start, end) == [], "this batch is empty"
    produce(broker, topic, bodies(2))
    assert stream.ranges(end, stream.next_end(end, everything=False)) == [OffsetRange(partition, 5, 7)], "the stream continues"
    with loss("PARTITION_OFFSET_CHANGED", f"Partition {topic}-0 offset was changed from 20 to 5."):
        stream_of(broker, topic).ranges(start, end)


def test_next_end_assigned_partition_created_later(broker: Broker) -> None:
    topic = new_topic(broker, 2)
    first, second, third = (TopicPartition(topic, index) for index in range(3))
    stream = StreamOffsets(options(broker, Assign((first, third))), NO_LIMIT)
    assert stream.initial() == {first: 0}
    add_partitions(broker, topic, 3)
    produce(broker, topic, bodies(1), 1)
    assert stream.next_end({first: 0}, everything=False) == {first: 0, third: 0}
    assert second not in (stream.latest_seen or {})


def test_stream_offsets_can_be_pickled(broker: Broker) -> None:
    stream = stream_of(broker, new_topic(broker))
    stream.initial()
    assert pickle.loads(pickle.dumps(stream)).initial() == stream.initial()
