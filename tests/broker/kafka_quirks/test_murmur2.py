"""The partitions of keys, compared with kafka-python's port of Java's hash."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st
from kafka.partitioner.default import murmur2 as their_murmur2

from odradek.broker.kafka_quirks.murmur2 import murmur2, partition_of


@given(st.binary(max_size=40))
def test_murmur2_equals_kafka_python(key: bytes) -> None:
    assert murmur2(key) == their_murmur2(key) & 0xFFFFFFFF


def test_partition_of_a_key_is_within_the_topic() -> None:
    assert {partition_of(str(number).encode(), 3) for number in range(20)} == {0, 1, 2}
