"""Compares partitions and hashes with those of Kafka's Java client and kafka-python."""

from __future__ import annotations

import random

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from kafka.partitioner.default import murmur2 as their_murmur2

from odradek.spark_sink.partitioner import Partitioner, murmur2


@given(st.lists(st.none() | st.binary(max_size=40), min_size=1, max_size=60), st.integers(0, 5))
def test_murmur2_equals_kafka_python(keys: list[bytes | None], skipped: int) -> None:
    found = murmur2(pa.array([b"before"] * skipped + keys, pa.binary()).slice(skipped)).tolist()
    expected = [None if key is None else their_murmur2(key) for key in keys]
    assert [None if key is None else one for key, one in zip(keys, found, strict=True)] == expected


@pytest.mark.parametrize(
    ("key", "expected"),
    [
        # Kafka's UtilsTest.testMurmur2
        (b"21", -973932308),
        (b"foobar", -790332482),
        (b"a-little-bit-long-string", -985981536),
        (b"a-little-bit-longer-string", -1486304829),
        (b"lkjh234lh9fiuh90y23oiuhsafujhadof229phr9h19h89h8", -58897971),
        (b"abc", 479470107),
    ],
)
def test_murmur2_known_hashes(key: bytes, expected: int) -> None:
    assert murmur2(pa.array([key])).view(np.int32).tolist() == [expected]


def test_partitioner_named_keyed_and_free_records() -> None:
    keys = pa.array([b"21", None, b"foobar", None, b"abc"])
    given = np.array([-1, 2, 1, -1, -1])
    found = Partitioner(1 << 20, random.Random(1)).partitions(given, keys, np.full(5, 10), 3).tolist()
    assert found[:3] + found[4:] == [(-973932308 & 0x7FFFFFFF) % 3, 2, 1, 479470107 % 3]
    assert 0 <= found[3] < 3


def test_partitioner_changes_partition_after_a_full_batch() -> None:
    partitioner, keys = Partitioner(1000, random.Random(5)), pa.nulls(30, pa.binary())
    rounds = [partitioner.partitions(None, keys, np.full(30, 10), 1000).tolist() for _ in range(10)]
    chosen = [partition for one in rounds for partition in one]
    assert [len(set(chosen[first : first + 100])) for first in (0, 100, 200)] == [1, 1, 1]
    assert len(set(chosen)) == 3
