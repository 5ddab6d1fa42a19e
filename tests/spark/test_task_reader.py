"""Planning and reading of ranges without Spark, against the emulator."""

from __future__ import annotations

from dataclasses import replace

import pytest

from odradek.protocol.errors import KafkaError
from odradek.spark_sink.client import EARLIEST, LATEST, KafkaClient, TopicPartition
from odradek.spark_sink.error_conditions import KafkaCondition
from odradek.spark_sink.offset_options import Bound
from odradek.spark_sink.offset_ranges import OffsetRange, assigned_partitions, plan_batch
from odradek.spark_sink.source_options import Assign, ReadOptions, Subscribe, SubscribePattern, Subscription
from odradek.spark_sink.task_reader import read_ranges
from tests.spark.decoder_reference import ALL_COLUMNS, Row, rows_of
from tests.spark.kafka_topics import Broker, bodies, delete_before, new_topic, produce


def options(client: KafkaClient, subscription: Subscription, start: Bound = EARLIEST, end: Bound = LATEST) -> ReadOptions:
    return ReadOptions(
        client=client.config,
        subscription=subscription,
        starting=start,
        ending=end,
        include_headers=True,
        fail_on_data_loss=True,
        min_partitions=None,
        max_records_per_partition=None,
    )


def rows(client: KafkaClient, topic: str, start: int, end: int, *, fail_on_data_loss: bool = True) -> list[Row]:
    wanted = OffsetRange(TopicPartition(topic, 0), start, end)
    return rows_of(list(read_ranges(client, [wanted], ALL_COLUMNS, fail_on_data_loss=fail_on_data_loss)))


def test_what_is_subscribed_to(broker: Broker, client: KafkaClient) -> None:
    topic = new_topic(broker, 2)
    both = [TopicPartition(topic, 0), TopicPartition(topic, 1)]
    assert assigned_partitions(client, Subscribe((topic,))) == both
    assert assigned_partitions(client, SubscribePattern(f"{topic[2:]}$")) == both
    assert assigned_partitions(client, SubscribePattern("^nosuch")) == []
    assert assigned_partitions(client, Assign((TopicPartition(topic, 9), both[1]))) == [both[1]]
    assert assigned_partitions(client, Assign(())) == []
    with pytest.raises(KafkaError, match="nosuch"):
        assigned_partitions(client, Subscribe((topic, "nosuch")))


def test_offsets_are_resolved(broker: Broker, client: KafkaClient) -> None:
    topic = new_topic(broker, 2)
    produce(broker, topic, bodies(8), 1)
    first, second = TopicPartition(topic, 0), TopicPartition(topic, 1)
    assert plan_batch(client, options(client, Subscribe((topic,)))) == [OffsetRange(first, 0, 0), OffsetRange(second, 0, 8)]
    some = options(client, Subscribe((topic,)), {first: EARLIEST, second: 3}, {first: LATEST, second: 99})
    assert plan_batch(client, some) == [OffsetRange(first, 0, 0), OffsetRange(second, 3, 99)]


def test_offsets_that_cannot_be(broker: Broker, client: KafkaClient) -> None:
    topic = new_topic(broker, 2)
    first, second = TopicPartition(topic, 0), TopicPartition(topic, 1)
    with pytest.raises(KafkaCondition, match=rf"Specified: Set\({first}\) Assigned: Set\({first}, {second}\)") as caught:
        plan_batch(client, options(client, Subscribe((topic,)), EARLIEST, {first: 1}))
    assert caught.value.condition == "KAFKA_START_OFFSET_DOES_NOT_MATCH_ASSIGNED"
    text = f"The resolved start offset 5 is greater than the resolved end offset 0 for topic {topic} partition 1."
    with pytest.raises(KafkaCondition, match=text) as caught:
        plan_batch(client, options(client, Subscribe((topic,)), {first: 0, second: 5}))
    assert caught.value.condition == "RESOLVED_START_OFFSET_GREATER_THAN_END_OFFSET"


def test_all_of_it_and_parts_of_it(broker: Broker, client: KafkaClient) -> None:
    topic = new_topic(broker)
    written = [row._replace(partition=0) for row in produce(broker, topic, bodies(300), **{"batch.num.messages": 50})]
    assert rows(client, topic, 0, 300) == written
    assert rows(client, topic, 77, 203) == written[77:203]
    assert rows(client, topic, 5, 5) == []


def test_what_the_log_has_lost(broker: Broker, client: KafkaClient) -> None:
    topic = new_topic(broker)
    written = produce(broker, topic, bodies(40), **{"batch.num.messages": 10})
    delete_before(broker, topic, 20)
    text = rf"failOnDataLoss to false. Reason: Could not read records in offset \[10, 30\) for topic partition {topic}-0"
    with pytest.raises(KafkaCondition, match=text) as caught:
        rows(client, topic, 10, 30)
    assert caught.value.condition == "KAFKA_DATA_LOSS.COULD_NOT_READ_OFFSET_RANGE"
    assert rows(client, topic, 10, 30, fail_on_data_loss=False) == written[20:30]
    assert rows(client, topic, 0, 10, fail_on_data_loss=False) == []


def test_an_end_that_the_log_does_not_reach(broker: Broker, client: KafkaClient) -> None:
    topic = new_topic(broker)
    written = produce(broker, topic, bodies(10))
    impatient = KafkaClient(replace(client.config, poll_timeout_ms=100))
    with pytest.raises(KafkaCondition, match=r"offset \[10, 11\)"):
        rows(impatient, topic, 5, 11)
    assert rows(impatient, topic, 5, 11, fail_on_data_loss=False) == written[5:]
    assert rows(impatient, topic, 20, 30, fail_on_data_loss=False) == []
    impatient.close()


def test_other_errors_are_nobodys_data_loss(client: KafkaClient) -> None:
    impatient = KafkaClient(replace(client.config, poll_timeout_ms=100))
    with pytest.raises(KafkaError, match="nosuch-0 has no leader"):
        rows(impatient, "nosuch", 0, 1, fail_on_data_loss=False)
    impatient.close()
