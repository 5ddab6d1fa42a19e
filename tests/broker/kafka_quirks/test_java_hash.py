"""Hash codes and orders of hash tables equal those recorded from Java and Kafka."""

from __future__ import annotations

import pytest

from odradek.broker.kafka_quirks.java_hash import abs_java_hash, hash_map_order, partitions_order, timeline_order

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
