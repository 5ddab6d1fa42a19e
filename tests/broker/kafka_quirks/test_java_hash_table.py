"""The iteration order of Java's hash tables equals that recorded from Java."""

from __future__ import annotations

from base64 import urlsafe_b64decode

import pytest

from odradek.broker.kafka_quirks.java_hash_table import JavaHashTable, integer_hash, topic_id_hash, topic_partition_hash


@pytest.mark.parametrize(
    ("topic_id", "of_topic", "of_partition"),
    [("IFc40WAYRmy2WPenXtNP5Q", -1463499009, 1876170978), ("Iwgk0hXOQ6GLNRCwtG7h2g", 161322521, 706030856)],
)
def test_hash_of_topic_partition_equals_kafka(topic_id: str, of_topic: int, of_partition: int) -> None:
    """Recorded from Kafka: `hashCode()` of a Uuid, and of the TopicIdPartition with partition 1."""
    decoded = urlsafe_b64decode(topic_id + "==")
    assert topic_id_hash(decoded) == of_topic & 0xFFFFFFFF
    assert topic_partition_hash((decoded, 1)) == of_partition & 0xFFFFFFFF


def test_table_iterates_by_bucket_and_grows() -> None:
    table = JavaHashTable(integer_hash, [17, 1, 33, 16])
    assert list(table) == [16, 17, 1, 33]
    for key in range(2, 11):
        table.add(key)
    assert list(table) == [1, 33, *range(2, 11), 16, 17]
    for key in range(2, 11):
        table.remove(key)
    assert list(table) == [1, 33, 16, 17], "the table keeps its size"
    assert (len(table), 33 in table, 2 in table) == (4, True, False)


def test_key_computed_if_absent_goes_first_in_its_bucket() -> None:
    table = JavaHashTable(integer_hash, capacity=4)
    for key in (1, 5, 5, 9):
        table.compute_if_absent(key)
    assert list(table) == [9, 5, 1]
    table.add(13)
    assert list(table) == [9, 1, 5, 13], "the table has grown to eight buckets"
