"""`odradek consume`: which records it prints, and how."""

from __future__ import annotations

import re
from typing import Any

import pytest
from confluent_kafka import Producer

from odradek import Cluster
from tests.broker.commands.console import Console

pytestmark = pytest.mark.clients


@pytest.fixture
def cluster(shared_cluster: Cluster, console: Console) -> Cluster:
    shared_cluster.create_topic("orders", 2)
    shared_cluster.produce("orders", [{"key": "k", "value": f"{number}", "timestamp": number} for number in range(5)], partition=0)
    shared_cluster.produce("orders", ["b0", "b1"], partition=1)
    return shared_cluster


def values(console: Console, *argv: str) -> list[str]:
    return console.succeed("consume", "orders", *argv).output.split()


def test_consume_prints_all_values_until_the_end(cluster: Cluster, console: Console) -> None:
    assert sorted(values(console)) == ["0", "1", "2", "3", "4", "b0", "b1"]


@pytest.mark.parametrize(
    ("start", "expected"),
    [
        ("earliest", "01234"),
        ("latest", ""),
        ("3", "34"),
        ("99", ""),
        ("-2", "34"),
        ("-99", "01234"),
        ("1970-01-01T00:00:00.002Z", "234"),
        ("2970-01-01T00:00:00Z", ""),
    ],
)
def test_consume_begins_where_it_is_told(cluster: Cluster, console: Console, start: str, expected: str) -> None:
    assert values(console, "--partition", "0", "--from", start) == list(expected)


def test_consume_stops_after_a_number_of_records(cluster: Cluster, console: Console) -> None:
    assert values(console, "--partition", "0", "--count", "3") == ["0", "1", "2"]
    assert values(console, "--count", "0") == []
    assert values(console, "--partition", "0", "--partition", "1", "--follow", "--count", "7", "--from", "earliest") != []


def test_plain_values_are_printed_in_blocks(cluster: Cluster, console: Console) -> None:
    cluster.create_topic("lines")
    cluster.produce("lines", [f"{number}" for number in range(100)])
    cluster.produce("lines", ["with a key", {"key": "k", "value": None}])
    consume = ("consume", "lines")
    assert console.succeed(*consume).output.split("\n") == [*map(str, range(100)), "with a key", "null", ""]
    assert console.succeed(*consume, "--from", "97", "--count", "4").output.split("\n") == ["97", "98", "99", "with a key", ""]
    assert console.succeed(*consume, "--count", "99").output.count("\n") == 99
    assert console.succeed(*consume, "--group", "g", "--count", "50").output.split() == [str(number) for number in range(50)]
    assert console.succeed(*consume, "--group", "g", "--count", "51").output.split()[0] == "50"
    assert console.succeed(*consume, "--group", "g").output == "null\n"


def test_format_has_placeholders_for_all_fields(cluster: Cluster, console: Console) -> None:
    cluster.produce("orders", [{"value": None, "headers": [("h", b"\xff"), ("n", None)], "timestamp": 9}], partition=1)
    form = r"%t|%p|%o|%T|%k|%v|%h|%%\t\\\0"
    output = console.succeed("consume", "orders", "--partition", "1", "--from", "2", "--format", form).output
    assert output == "orders|1|2|9|null|null|h=\ufffd,n=null|%\t\\\0"


def test_json_has_one_line_for_each_record(cluster: Cluster, console: Console) -> None:
    cluster.produce("orders", [{"key": b"\xff", "value": None, "headers": [("h", "1")], "timestamp": 9}], partition=1)
    assert console.succeed("consume", "orders", "--partition", "1", "--from", "2", "--output", "json").json_lines == [
        {
            "topic": "orders",
            "partition": 1,
            "offset": 2,
            "timestamp": 9,
            "key": {"base64": "/w=="},
            "value": None,
            "headers": [["h", "1"]],
        }
    ]


@pytest.mark.parametrize(
    ("level", "expected"),
    [("read_committed", ["plain", "kept", "after"]), ("read_uncommitted", ["plain", "kept", "dropped", "after", "open"])],
)
def test_isolation_level_decides_about_transactions(cluster: Cluster, console: Console, level: str, expected: list[str]) -> None:
    cluster.create_topic("paid", 1)
    cluster.produce("paid", ["plain"])
    for transaction, value in enumerate(["kept", "dropped"]):
        producer = Producer({"bootstrap.servers": cluster.bootstrap_servers, "transactional.id": "paying"})
        producer.init_transactions(30)
        producer.begin_transaction()
        producer.produce("paid", value)
        producer.flush(30)
        producer.abort_transaction(30) if transaction else producer.commit_transaction(30)
    cluster.produce("paid", ["after"])
    producer = Producer({"bootstrap.servers": cluster.bootstrap_servers, "transactional.id": "waiting"})
    producer.init_transactions(30)
    producer.begin_transaction()
    producer.produce("paid", "open")
    producer.flush(30)
    try:
        assert console.succeed("consume", "paid", "--isolation-level", level).output.split() == expected
    finally:
        producer.abort_transaction(30)


def test_group_continues_where_it_stopped(cluster: Cluster, console: Console) -> None:
    first = values(console, "--group", "billing", "--count", "4")
    assert len(first) == 4
    assert sum(cluster.group("billing").committed.values()) == 4
    rest = values(console, "--group", "billing")
    assert sorted(first + rest) == ["0", "1", "2", "3", "4", "b0", "b1"]
    assert (cluster.group("billing").lag, cluster.group("billing").members) == (0, [])
    assert values(console, "--group", "billing") == []


def test_several_topics_are_read_together(cluster: Cluster, console: Console) -> None:
    cluster.create_topic("audit", 1)
    cluster.produce("audit", ["a"])
    lines = console.succeed("consume", "orders", "audit", "--format", r"%t %v\n").output.splitlines()
    assert "audit a" in lines and len(lines) == 8


def test_leader_that_moves_is_found_again(cluster: Cluster, console: Console) -> None:
    fault = cluster.fault(api="Fetch", error="NOT_LEADER_OR_FOLLOWER", times=2)
    assert values(console, "--partition", "0") == ["0", "1", "2", "3", "4"]
    assert fault.hits == 2


def test_damaged_batch_is_an_error(cluster: Cluster, console: Console) -> None:
    cluster.fault(api="Fetch", corrupt="bit", times=1)
    result = console.run("consume", "orders", "--partition", "0")
    assert (result.code, result.output) == (1, "")
    assert result.errors == "odradek: partition 0 of orders: the batch at offset 0 is damaged\n"


def test_lost_connection_is_opened_again(cluster: Cluster, console: Console) -> None:
    fault = cluster.fault(api="Fetch", drop=True, stage="after", close="rst", times=1)
    assert values(console, "--partition", "0") == ["0", "1", "2", "3", "4"]
    assert fault.hits == 1


@pytest.mark.parametrize(
    ("argv", "code", "message"),
    [
        (["missing"], 1, "there is no topic 'missing'; odradek topics lists those that exist"),
        (["orders", "--partition", "7"], 1, "there is no partition 7 in orders"),
        (["orders", "--format", "%x"], 2, "invalid format '%x': use %t, %p, %o, %T, %k, %v, %h, %%"),
        (["orders", "--format", "100%"], 2, "invalid format '100%'"),
        (["orders", "--format", "\\q"], 2, "invalid format '\\q'"),
        (["orders", "--format", "%v", "--output", "json"], 2, "--format has no effect on JSON"),
        (["orders", "--group", "g", "--from", "latest"], 2, "--partition and --from have no effect with --group"),
        (["orders", "--group", "g", "--partition", "0"], 2, "--partition and --from have no effect with --group"),
        (["orders", "--count", "x"], 2, "invalid number 'x': use 0 to 999999999"),
        ([], 2, "the following arguments are required: TOPIC"),
    ],
)
def test_mistake_is_one_line(cluster: Cluster, console: Console, argv: list[str], code: int, message: str) -> None:
    result = console.run("consume", *argv)
    assert (result.code, result.output) == (code, "")
    assert message in result.errors
    assert re.fullmatch(r"odradek.*\n", result.errors)


def test_group_of_an_older_release_is_refused(console: Console) -> None:
    with Cluster(nodes=1, as_version="3.6", topics={"orders": 1}) as older:
        console.use(older)
        result: Any = console.run("consume", "orders", "--group", "billing")
        assert (result.code, result.output) == (1, "")
        assert "the broker does not support ConsumerGroupHeartbeat in a version that odradek supports" in result.errors
