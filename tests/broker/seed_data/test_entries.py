"""The entries of seed data."""

from __future__ import annotations

from typing import Any

import pytest

from odradek.broker.seed_data.entries import InvalidSeedData, SeedRecord, SeedTopic, entry_of, plain


def record(**fields: Any) -> SeedRecord:
    defaults: dict[str, Any] = dict.fromkeys(("partition", "timestamp", "key", "value", "transaction"))
    return SeedRecord(**{"topic": "t", **defaults, "headers": (), **fields})


@pytest.mark.parametrize(
    ("line", "entry"),
    [
        ({}, record()),
        ({"value": "ß"}, record(value=b"\xc3\x9f")),
        ({"value": {"id": [1, None]}}, record(value=b'{"id":[1,null]}')),
        ({"value": 5}, record(value=b"5")),
        ({"value": {"base64": "/w=="}, "key": {"base64": ""}}, record(value=b"\xff", key=b"")),
        ({"topic": "u", "key": "k", "value": None}, record(topic="u", key=b"k")),
        ({"headers": {"a": "1", "b": None}}, record(headers=(("a", b"1"), ("b", None)))),
        ({"headers": [["a", "1"], ["a", "2"]]}, record(headers=(("a", b"1"), ("a", b"2")))),
        ({"timestamp": 5, "partition": 2}, record(timestamp=5, partition=2)),
        ({"timestamp": "1970-01-01T00:00:01Z"}, record(timestamp=1000)),
        ({"timestamp": "1970-01-01T01:00:01.5+01:00"}, record(timestamp=1500)),
        ({"transaction": "aborted"}, record(transaction="aborted")),
        ({"partitions": 4}, SeedTopic("t", 4, -1, {})),
        ({"topic": "u", "partitions": 1, "replication_factor": 2}, SeedTopic("u", 1, 2, {})),
        ({"partitions": 1, "configs": {"retention.ms": 5}}, SeedTopic("t", 1, -1, {"retention.ms": "5"})),
    ],
)
def test_object_becomes_an_entry(line: dict[str, Any], entry: SeedRecord | SeedTopic) -> None:
    assert entry_of(line, "t") == entry


@pytest.mark.parametrize(
    ("line", "problem"),
    [
        ({"topic": ""}, "topic: must be the name of a topic, not ''"),
        ({"vlaue": 1}, "unknown field 'vlaue'; the fields of a record are topic, partition"),
        ({"partitions": 1, "key": 1}, "unknown field 'key'; the fields of a topic are topic, partitions"),
        ({"partitions": 0}, "partitions: must be at least 1, not 0"),
        ({"partitions": "1"}, "partitions: must be an integer, not '1'"),
        ({"partitions": 1, "configs": [1]}, "configs: must be"),
        ({"partitions": 1, "configs": {"a": None}}, "configs: setting a must be"),
        ({"timestamp": "yesterday"}, "timestamp: must be ms since 1970, or a time such as"),
        ({"timestamp": "2026-01-31T12:00:00"}, "timestamp: '2026-01-31T12:00:00' has no time zone"),
        ({"timestamp": True}, "timestamp: must be an integer, not True"),
        ({"value": {"base64": "?"}}, "value: invalid base64"),
        ({"headers": 5}, "headers: must be an object or a list of pairs"),
        ({"headers": {"a": {"base64": 5}}}, "headers: a: invalid base64"),
        ({"transaction": "done"}, "transaction: must be one of open, committed, aborted, not 'done'"),
    ],
)
def test_invalid_object_is_refused_with_the_field(line: dict[str, Any], problem: str) -> None:
    with pytest.raises(InvalidSeedData) as refused:
        entry_of(line, "t")
    assert str(refused.value).startswith(problem)


@pytest.mark.parametrize("data", [None, b"", b"text", b"\xff\x00"])
def test_plain_form_is_read_back(data: bytes | None) -> None:
    assert entry_of({"value": plain(data)}, "t") == record(value=data)
