"""Hash codes and orders of hash tables equal those recorded from Java and Kafka."""

from __future__ import annotations

from base64 import urlsafe_b64decode

import pytest
from hypothesis import given
from hypothesis import strategies as st
from kafka.partitioner.default import murmur2 as their_murmur2

from odradek.broker.kafka_quirks.java_hash import (
    JavaHashTable,
    abs_java_hash,
    hash_map_order,
    integer_hash,
    murmur2,
    partition_of,
    partitions_order,
    timeline_order,
    topic_id_hash,
    topic_partition_hash,
)

KEYS = [f"key-{37 * number}{'' if number % 3 else 'ü'}" for number in range(30)]


@pytest.mark.parametrize(
    ("key", "expected"),
    [("", 0), ("a", 97), ("group", 98629247), ("console-consumer-12345", 158455506), ("ä€😀", 16603051), ("polygenelubricants", 0)],
)
def test_abs_java_hash_equals_java(key: str, expected: int) -> None:
    """Recorded from Java: Utils.abs(key.hashCode())."""
    assert abs_java_hash(key) == expected


def test_hash_map_order_of_few_keys_equals_java() -> None:
    """Recorded from Java: new HashSet<>(List.of(...))."""
    keys = ["roundrobin", "range", "sticky", "cooperative-sticky", "uniform", "consumer", "x", "y", "grüße", "✓😀"]
    expected = ["uniform", "grüße", "sticky", "x", "range", "y", "roundrobin", "✓😀", "consumer", "cooperative-sticky"]
    assert hash_map_order(keys) == expected


def test_hash_map_order_of_many_keys_equals_java() -> None:
    """Recorded from Java: a HashSet to which 30 keys were added one by one."""
    expected = [3, 6, 9, 10, 28, 1, 5, 4, 26, 2, 20, 29, 25, 17, 19, 11, 0, 13, 16, 21, 8, 24, 27, 23, 15, 18, 12, 7, 14, 22]
    assert hash_map_order(KEYS) == [KEYS[number] for number in expected]


def test_timeline_order_equals_kafka() -> None:
    """Recorded from Kafka: keySet() of a TimelineHashMap into which 30 keys were put."""
    expected = [28, 3, 23, 10, 8, 0, 22, 11, 20, 7, 5, 27, 16, 24, 19, 21, 17, 18, 4, 2, 26, 15, 29, 13, 12, 9, 1, 14, 6, 25]
    assert timeline_order(KEYS) == [KEYS[number] for number in expected]


@pytest.mark.parametrize(
    ("count", "concurrent", "expected"),
    [
        (11, True, [0, 9, 10, 7, 8, 5, 6, 3, 4, 1, 2]),
        (12, True, [11, 9, 10, 0, 7, 8, 5, 6, 3, 4, 1, 2]),
        (12, False, [0, 11, 9, 10, 7, 8, 5, 6, 3, 4, 1, 2]),
        (24, True, [15, 13, 11, 9, 23, 21, 19, 17, 7, 5, 3, 1, 16, 14, 12, 10, 22, 20, 18, 0, 8, 6, 4, 2]),
    ],
)
def test_partitions_order_equals_java(count: int, concurrent: bool, expected: list[int]) -> None:
    """Recorded from Java: values of a ConcurrentHashMap, or a HashMap, of partitions of __consumer_offsets."""
    assert partitions_order("__consumer_offsets", range(count), concurrent=concurrent) == expected


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


@given(st.binary(max_size=40))
def test_murmur2_equals_kafka_python(key: bytes) -> None:
    assert murmur2(key) == their_murmur2(key) & 0xFFFFFFFF


def test_partition_of_a_key_is_within_the_topic() -> None:
    assert {partition_of(str(number).encode(), 3) for number in range(20)} == {0, 1, 2}
