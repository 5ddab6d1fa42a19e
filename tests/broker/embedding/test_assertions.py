"""`assert_records` and its messages."""

from __future__ import annotations

from typing import Any

import pytest

from odradek import Cluster, formats
from odradek.broker.embedding.assertions import assert_records, record
from odradek.broker.embedding.topic import TopicRecord

FOUND = [
    TopicRecord(0, 0, 5, "k1", {"id": 1}, (("trace", b"1"),)),
    TopicRecord(0, 1, 6, None, "plain"),
    TopicRecord(1, 0, 7, "k2", None),
]


@pytest.mark.parametrize(
    ("expected", "ignore_order"),
    [
        ([{"id": 1}, "plain", None], False),
        ([("k1", {"id": 1}), (None, "plain"), ("k2", None)], False),
        ([("k2", None), {"id": 1}, "plain"], True),
        ([record(headers={"trace": "1"}), record(offset=1), record(partition=1, timestamp=7)], False),
        ([record(headers=[("trace", b"1")]), record(headers=()), record()], False),
    ],
)
def test_expected_records_are_accepted(expected: list[Any], ignore_order: bool) -> None:
    assert_records(FOUND, expected, ignore_order=ignore_order)


@pytest.mark.parametrize(
    ("expected", "ignore_order", "lines"),
    [
        (
            [{"id": 1}, "plane", None],
            False,
            ["- value='plane'", "+ value='plain'", "expected 3 records and found 3; 1 expected"],
        ),
        ([{"id": 1}, "plain"], False, ["expected 2 records and found 3; 0 expected records are missing", "+ value=None"]),
        (["plain", {"id": 1}, None], False, ["2 expected records are missing"]),
        ([{"id": 1}, "plain", None, "more"], True, ["- value='more'", "expected 4 records and found 3"]),
        ([{"id": 1}, {"id": 1}, None], True, ["1 expected record is missing", "+ value='plain'"]),
        ([record(key="x", headers={"a": "b"})], False, ["- key='x', headers=[('a', b'b')]", "+ key='k1', headers=[('trace', b'1')]"]),
    ],
)
def test_other_records_are_shown_as_a_difference(expected: list[Any], ignore_order: bool, lines: list[str]) -> None:
    with pytest.raises(AssertionError) as failed:
        assert_records(FOUND, expected, ignore_order=ignore_order)
    assert not [line for line in lines if line not in str(failed.value)], failed.value


def test_unknown_field_is_named() -> None:
    with pytest.raises(TypeError, match="a record has no field 'vlaue'; the fields are partition, offset"):
        record(vlaue=1)


def test_long_values_are_cut_in_the_message() -> None:
    with pytest.raises(AssertionError) as failed:
        assert_records([TopicRecord(0, 0, 0, None, "x" * 10**6)], [])
    assert len(str(failed.value)) < 2000


@pytest.mark.sockets
def test_topic_is_compared_by_its_handle() -> None:
    with Cluster(nodes=1) as cluster:
        orders = cluster.topic("orders", value=formats.json)
        orders.produce_all([{"id": 1}, {"id": 2}], partition=0)
        assert_records(orders, [{"id": 1}, {"id": 2}])
        with pytest.raises(AssertionError, match="topic orders: expected 1 record and found 2"):
            assert_records(orders, [{"id": 2}])


def test_name_of_a_topic_is_no_handle() -> None:
    with pytest.raises(TypeError, match=r"topic must be a handle, such as cluster.topic\('orders'\), or records"):
        assert_records("orders", [])  # type: ignore[arg-type]
