"""`odradek produce`: what it reads becomes records, whatever the form."""

from __future__ import annotations

import json
import os
import re
from pathlib import Path
from typing import Any

import pytest

from odradek import Cluster
from odradek.broker.commands.produce import _blocks
from tests.broker.commands.console import Console


def stored(cluster: Cluster, topic: str = "orders") -> list[tuple[Any, ...]]:
    return [(each.partition, each.key, each.value) for each in cluster.records(topic)]


@pytest.fixture
def cluster(shared_cluster: Cluster, console: Console) -> Cluster:
    shared_cluster.create_topic("orders", 2)
    return shared_cluster


def test_each_line_is_a_value(cluster: Cluster, console: Console) -> None:
    result = console.succeed("produce", "orders", "--partition", "1", given=b"one\n\xff two\n\nlast")
    assert stored(cluster) == [(1, None, b"one"), (1, None, b"\xff two"), (1, None, b""), (1, None, b"last")]
    assert result.output == "4 records written to orders\n"
    assert console.succeed("produce", "orders", given=b"one\n").output == "1 record written to orders\n"


def test_keys_choose_the_partition_of_the_java_client(cluster: Cluster, console: Console) -> None:
    cluster.create_topic("copies", 2)
    cluster.produce("copies", [(key, "v") for key in ("a", "b", "c", "d")])
    console.succeed("produce", "orders", "--key-separator", "::", given=b"a::v\nb::v\nc::v\nd::v\n")
    assert stored(cluster) == stored(cluster, "copies")
    assert len({partition for partition, _, _ in stored(cluster)}) == 2


def test_records_without_a_key_take_turns(cluster: Cluster, console: Console) -> None:
    console.succeed("produce", "orders", given=b"a\nb\nc\n")
    assert stored(cluster) == [(0, None, b"a"), (0, None, b"c"), (1, None, b"b")]


def test_key_and_headers_of_all_records(cluster: Cluster, console: Console) -> None:
    console.succeed("produce", "orders", "--key", "alice", "--header", "trace=1", "--header", "trace=2", given=b"a\nb\n")
    found = cluster.records("orders")
    assert [(each.key, each.value) for each in found] == [(b"alice", b"a"), (b"alice", b"b")]
    assert all(each.headers == (("trace", b"1"), ("trace", b"2")) for each in found)


@pytest.mark.parametrize("codec", ["gzip", "snappy", "lz4", "zstd"])
def test_batches_are_compressed(cluster: Cluster, console: Console, codec: str) -> None:
    size = 100_000
    console.succeed("produce", "orders", "--compression", codec, "--partition", "0", given=b"x" * size)
    assert stored(cluster) == [(0, None, b"x" * size)]
    assert cluster.topics()[0].partitions[0].size_bytes < size / 10


def test_json_lines_have_the_fields_of_seed_data(cluster: Cluster, console: Console) -> None:
    lines: list[Any] = [
        {"topic": "audit", "partitions": 3, "configs": {"cleanup.policy": "compact"}},
        {"topic": "orders", "partitions": 9},
        {"key": "alice", "value": {"id": 1}, "headers": {"trace": "1"}, "timestamp": "2026-01-31T12:00:00Z", "partition": 1},
        {"key": "alice", "value": None, "partition": 1, "offset": 77},
        {"topic": "audit", "key": "k", "value": {"base64": "/w=="}, "partition": 2},
    ]
    result = console.succeed("produce", "orders", "--format", "jsonl", given="\n".join(map(json.dumps, lines)).encode())
    assert result.output == "2 records written to orders\n1 record written to audit\n"
    first, second = cluster.records("orders")
    assert (first.key, first.value, first.headers, first.timestamp) == (b"alice", b'{"id":1}', (("trace", b"1"),), 1_769_860_800_000)
    assert (second.partition, second.key, second.value) == (1, b"alice", None)
    assert stored(cluster, "audit") == [(2, b"k", b"\xff")]
    assert {each.name: len(each.partitions) for each in cluster.topics()} == {"audit": 3, "orders": 2}


def test_file_name_says_the_format_and_the_topic(cluster: Cluster, console: Console, tmp_path: Path) -> None:
    (tmp_path / "orders.csv").write_text('key,value,headers,partition\nalice,"a, b","{""h"": ""1""}",1\nbob,,,1\n')
    assert console.succeed("produce", "--file", str(tmp_path / "orders.csv")).output == "2 records written to orders\n"
    assert stored(cluster) == [(1, b"alice", b"a, b"), (1, b"bob", None)]
    (tmp_path / "plain.txt").write_text("from a file\n")
    console.succeed("produce", "orders", "--file", str(tmp_path / "plain.txt"), "--partition", "0")
    assert stored(cluster)[0] == (0, None, b"from a file")


def test_output_of_consume_is_written_again(cluster: Cluster, console: Console) -> None:
    headers = [("h", b"\xff"), ("h", None)]
    cluster.produce("orders", [{"key": b"\xff", "value": None, "headers": headers, "timestamp": 5}, ("k", '{"base64": "x"}')], partition=0)
    printed = console.succeed("consume", "orders", "--output", "json").output
    console.succeed("produce", "--format", "jsonl", given=printed.encode())
    contents = [(each.key, each.value, each.headers, each.timestamp) for each in cluster.records("orders")]
    assert contents[2:] == contents[:2]
    assert contents[0] == (b"\xff", None, (("h", b"\xff"), ("h", None)), 5)


def test_json_output_has_a_line_for_each_batch(cluster: Cluster, console: Console) -> None:
    lines = console.succeed("produce", "orders", "--output", "json", given=b"a\nb\nc\n").json_lines
    assert sorted(lines, key=lambda line: line["partition"]) == [
        {"topic": "orders", "partition": 0, "base_offset": 0, "records": 2},
        {"topic": "orders", "partition": 1, "base_offset": 0, "records": 1},
    ]


def test_many_records_become_several_batches_in_order(cluster: Cluster, console: Console) -> None:
    values = [b"%06d %s" % (number, b"x" * 100) for number in range(30_000)]
    batches = console.succeed("produce", "orders", "--partition", "0", "--output", "json", given=b"\n".join(values)).json_lines
    assert len(batches) > 5
    assert [each.value for each in cluster.records("orders")] == values


def test_many_lines_take_turns_in_order(cluster: Cluster, console: Console) -> None:
    lines = [b"%d" % number for number in range(25_001)]
    result = console.succeed("produce", "orders", "--output", "json", given=b"\n".join([*lines, b""]))
    assert [(each["partition"], each["records"]) for each in result.json_lines] == [(0, 10_000), (1, 10_000), (0, 2_501), (1, 2_500)]
    found = stored(cluster)
    assert [value for partition, _, value in found if partition == 0] == lines[0::2]
    assert [value for partition, _, value in found if partition == 1] == lines[1::2]


def test_lines_are_written_before_a_read_that_waits() -> None:
    reading, writing = os.pipe()
    os.write(writing, b"a\nb\nc")
    waits: list[int] = []

    def end_input() -> None:
        if not waits:
            os.close(writing)
        waits.append(len(blocks))

    blocks: list[list[bytes]] = []
    with os.fdopen(reading, "rb") as stream:
        blocks.extend(_blocks(stream, end_input, lambda _: None))
    assert blocks == [[b"a", b"b"], [b"c"]]
    assert waits == [1]


def test_file_is_read_without_writing_each_block(tmp_path: Path) -> None:
    lines = b"line\n" * 500_000
    (tmp_path / "lines").write_bytes(lines)
    with (tmp_path / "lines").open("rb") as stream:
        blocks = list(_blocks(stream, lambda: pytest.fail("a file never waits"), lambda _: None))
    assert len(blocks) > 2 and sum(map(len, blocks)) == 500_000


def test_record_larger_than_a_batch_is_written(cluster: Cluster, console: Console) -> None:
    console.succeed("produce", "orders", "--partition", "0", given=b"x" * 900_000)
    assert [len(each.value or b"") for each in cluster.records("orders")] == [900_000]
    refused = console.run("produce", "orders", "--partition", "0", given=b"x" * 2_000_000)
    assert (refused.code, refused.output) == (1, "")
    assert "partition 0 of orders: MESSAGE_TOO_LARGE" in refused.errors


def test_repeated_request_writes_records_once(cluster: Cluster, console: Console) -> None:
    fault = cluster.fault(api="Produce", drop=True, stage="after", close="rst", times=1)
    console.succeed("produce", "orders", "--partition", "0", given=b"a\nb\n")
    assert fault.hits == 1
    assert stored(cluster) == [(0, None, b"a"), (0, None, b"b")]


def test_moved_leader_is_found_again(cluster: Cluster, console: Console) -> None:
    fault = cluster.fault(api="Produce", error="NOT_LEADER_OR_FOLLOWER", times=2)
    console.succeed("produce", "orders", "--partition", "0", given=b"a\n")
    assert fault.hits == 2
    assert stored(cluster) == [(0, None, b"a")]


def test_unknown_topic_is_created_by_the_broker(cluster: Cluster, console: Console) -> None:
    console.succeed("produce", "fresh", given=b"a\n")
    assert [value for _, _, value in stored(cluster, "fresh")] == [b"a"]


def test_refused_record_says_why(cluster: Cluster, console: Console) -> None:
    cluster.create_topic("compacted", 1, configs={"cleanup.policy": "compact"})
    result = console.run("produce", "compacted", given=b"a\n")
    assert (result.code, result.output) == (1, "")
    assert result.errors.startswith("odradek: partition 0 of compacted: INVALID_RECORD: ")
    assert "key" in result.errors


@pytest.mark.parametrize(
    ("argv", "given", "code", "message"),
    [
        ([], b"", 2, "name the topic, or give the records as JSON Lines with the field topic"),
        (["orders", "--key", "a", "--key-separator", ":"], b"", 2, "--key and --key-separator cannot be combined"),
        (["orders", "--key-separator", ":"], b"a:b\nab\n", 2, "line 2 has no key: there is no ':' in it"),
        (["orders", "--format", "jsonl", "--key", "a"], b"", 2, "--key is for lines; in jsonl, each record has its own fields"),
        (["orders", "--format", "jsonl"], b"{}\n{", 2, "standard input: after line 1: "),
        (["orders", "--format", "jsonl"], b"[]", 2, "standard input:1: must be a JSON object, not []"),
        (["--format", "jsonl"], b"{}", 2, "standard input:1: topic: must be the name of a topic, not ''"),
        (["orders", "--format", "jsonl"], b'{"transaction": "open"}', 2, "standard input:1: transaction: odradek produce does not write"),
        (["orders", "--format", "csv"], b"colour\nred\n", 2, "standard input:0: unknown column 'colour'"),
        (["orders", "--format", "jsonl"], b"\xff", 2, "standard input: after line 0: 'utf-8' codec"),
        (["orders", "--file", "missing.txt"], b"", 2, "cannot read missing.txt: No such file or directory"),
        (["orders", "--partition", "2"], b"a", 1, "topic orders has the partitions 0 to 1, not 2"),
        (["orders", "--header", "x"], b"", 2, "invalid setting 'x': use key=value"),
        (["a b"], b"a", 1, "topic a b: INVALID_TOPIC_EXCEPTION"),
    ],
)
def test_mistake_is_one_line(cluster: Cluster, console: Console, argv: list[str], given: bytes, code: int, message: str) -> None:
    result = console.run("produce", *argv, given=given)
    assert (result.code, result.output) == (code, "")
    assert message in result.errors
    assert re.fullmatch(r"odradek.*\n", result.errors)
