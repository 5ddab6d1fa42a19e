"""Reads ranges of offsets without Spark, also of deleted and missing records."""

from __future__ import annotations

from dataclasses import replace

import pytest

from odradek.protocol.client.connection import TopicPartition
from odradek.protocol.errors import KafkaError
from odradek.spark_sink.client import KafkaClient
from odradek.spark_sink.error_conditions import KafkaCondition
from odradek.spark_sink.offset_ranges import OffsetRange
from odradek.spark_sink.task_reader import read_ranges
from tests.spark.decoder_reference import ALL_COLUMNS, Row, rows_of
from tests.spark.kafka_topics import Broker, bodies, delete_before, new_topic, produce


def rows(client: KafkaClient, topic: str, start: int, end: int, *, fail_on_data_loss: bool = True) -> list[Row]:
    wanted = OffsetRange(TopicPartition(topic, 0), start, end)
    return rows_of(list(read_ranges(client, [wanted], ALL_COLUMNS, fail_on_data_loss=fail_on_data_loss)))


def test_read_ranges_whole_log_and_parts(broker: Broker, client: KafkaClient) -> None:
    topic = new_topic(broker)
    written = [row._replace(partition=0) for row in produce(broker, topic, bodies(300), **{"batch.num.messages": 50})]
    assert rows(client, topic, 0, 300) == written
    assert rows(client, topic, 77, 203) == written[77:203]
    assert rows(client, topic, 5, 5) == []


def test_read_ranges_deleted_records_are_data_loss(broker: Broker, client: KafkaClient) -> None:
    topic = new_topic(broker)
    written = produce(broker, topic, bodies(40), **{"batch.num.messages": 10})
    delete_before(broker, topic, 20)
    text = rf"failOnDataLoss to false. Reason: Could not read records in offset \[10, 30\) for topic partition {topic}-0"
    with pytest.raises(KafkaCondition, match=text) as caught:
        rows(client, topic, 10, 30)
    assert caught.value.condition == "KAFKA_DATA_LOSS.COULD_NOT_READ_OFFSET_RANGE"
    assert rows(client, topic, 10, 30, fail_on_data_loss=False) == written[20:30]
    assert rows(client, topic, 0, 10, fail_on_data_loss=False) == []


def test_read_ranges_end_beyond_the_log_is_data_loss(broker: Broker, client: KafkaClient) -> None:
    topic = new_topic(broker)
    written = produce(broker, topic, bodies(10))
    quick = KafkaClient(replace(client.config, poll_timeout_ms=100))
    with pytest.raises(KafkaCondition, match=r"offset \[10, 11\)"):
        rows(quick, topic, 5, 11)
    assert rows(quick, topic, 5, 11, fail_on_data_loss=False) == written[5:]
    assert rows(quick, topic, 20, 30, fail_on_data_loss=False) == []
    quick.close()


def test_read_ranges_other_errors_are_raised(client: KafkaClient) -> None:
    quick = KafkaClient(replace(client.config, poll_timeout_ms=100))
    with pytest.raises(KafkaError, match="nosuch-0 has no leader"):
        rows(quick, "nosuch", 0, 1, fail_on_data_loss=False)
    quick.close()
