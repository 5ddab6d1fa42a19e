"""Writing and reading records without a client, compared with what a client writes and reads."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from typing import Any

import pytest
from confluent_kafka import Consumer, KafkaError, Producer
from kafka.partitioner.default import murmur2

from odradek import Cluster
from odradek.broker.control_errors import ControlRefused, ControlTimeout, InvalidControl
from odradek.broker.controls.stored_records import Record

pytestmark = [pytest.mark.sockets, pytest.mark.clients]


@pytest.fixture
def cluster() -> Iterator[Cluster]:
    with Cluster(nodes=2, topics={"orders": 3}, seed=1) as running:
        yield running


def values(cluster: Cluster, topic: str = "orders") -> list[bytes | None]:
    return [record.value for record in cluster.records(topic)]


def test_produce_accepts_every_form_of_a_record(cluster: Cluster) -> None:
    cluster.clock.freeze()
    positions = cluster.produce(
        "orders",
        [
            "text",
            b"bytes",
            None,
            ("key", "value"),
            {"key": b"key", "value": b"\xff", "headers": {"a": "1", "b": None}, "timestamp": 7, "partition": 1},
            {"value": "x", "headers": [("a", b"1"), ("a", b"2")]},
        ],
    )
    keyed = (murmur2(b"key") & 0x7FFFFFFF) % 3
    assert [position.partition for position in positions] == [0, 1, 2, keyed, 1, 0]
    written = {(record.partition, record.offset): record for record in cluster.records("orders")}
    found = [written[position.partition, position.offset] for position in positions]
    now_ms = int(cluster.clock.state().now.timestamp() * 1000)
    assert [(each.key, each.value) for each in found] == [
        (None, b"text"),
        (None, b"bytes"),
        (None, None),
        (b"key", b"value"),
        (b"key", b"\xff"),
        (None, b"x"),
    ]
    assert [each.headers for each in found[4:]] == [(("a", b"1"), ("b", None)), (("a", b"1"), ("a", b"2"))]
    assert [each.timestamp for each in found] == [now_ms, now_ms, now_ms, now_ms, 7, now_ms]


def test_produce_accepts_bytes_in_base64_from_json(cluster: Cluster) -> None:
    from_json: Any = [{"base64": "/w=="}, {"key": {"base64": "AA=="}, "value": "x"}]
    cluster.produce("orders", from_json, partition=0)
    assert [(record.key, record.value) for record in cluster.records("orders")] == [(None, b"\xff"), (b"\x00", b"x")]


def test_records_since_a_time_begin_with_the_first_one(cluster: Cluster) -> None:
    for timestamp in (1000, 3000, 2000, 4000):
        cluster.produce("orders", [{"value": str(timestamp), "timestamp": timestamp, "partition": 1}])
    assert [record.timestamp for record in cluster.records("orders", 1, since=2500)] == [3000, 2000, 4000]
    assert [record.timestamp for record in cluster.records("orders", since=datetime.fromtimestamp(4, UTC))] == [4000]
    assert [record.timestamp for record in cluster.records("orders", 1, since=1500, offset=2)] == [2000, 4000]
    assert cluster.records("orders", since=4001) == []


def test_records_end_after_the_given_number_of_bytes(cluster: Cluster) -> None:
    cluster.produce("orders", [{"key": "k" * 10, "value": "v" * 90, "partition": index % 2} for index in range(8)])
    found = cluster.records("orders", max_bytes=150)
    assert [(record.partition, record.offset) for record in found] == [(0, 0), (0, 1), (1, 0), (1, 1)]
    assert [record.offset for record in cluster.records("orders", 1, max_bytes=1)] == [0]
    assert cluster.records("orders", max_bytes=0) == []


def test_produced_records_reach_a_consumer(cluster: Cluster) -> None:
    cluster.produce("orders", [("k", str(number)) for number in range(10)])
    consumer = Consumer({"bootstrap.servers": cluster.bootstrap_servers, "group.id": "g", "auto.offset.reset": "earliest"})
    consumer.subscribe(["orders"])
    messages = consumer.consume(10, timeout=30)
    consumer.close()
    assert [message.value() for message in messages] == [str(number).encode() for number in range(10)]


def test_records_of_compressed_batches_are_read(cluster: Cluster) -> None:
    producer = Producer({"bootstrap.servers": cluster.bootstrap_servers, "compression.type": "lz4", "linger.ms": 100})
    for number in range(50):
        producer.produce("orders", str(number).encode() * 10, partition=2, headers={"n": str(number)})
    assert producer.flush(30) == 0
    found = cluster.records("orders", 2)
    assert [record.value for record in found] == [str(number).encode() * 10 for number in range(50)]
    assert found[7].headers == (("n", b"7"),)
    assert cluster.records("orders", 2, offset=48) == found[48:]
    assert cluster.records("orders", 2, offset=10, limit=2) == found[10:12]


def test_records_name_the_state_of_their_transaction(cluster: Cluster) -> None:
    producer = Producer({"bootstrap.servers": cluster.bootstrap_servers, "transactional.id": "t"})
    producer.init_transactions(30)
    for value, end in ((b"1", producer.commit_transaction), (b"2", producer.abort_transaction), (b"3", None)):
        producer.begin_transaction()
        producer.produce("orders", value, partition=0)
        assert producer.flush(30) == 0
        if end is not None:
            end(30)
    assert [(record.value, record.transaction) for record in cluster.records("orders")] == [
        (b"1", "committed"),
        (b"2", "aborted"),
        (b"3", "open"),
    ]
    with pytest.raises(ControlTimeout, match="topic 'orders' has 1 of 2 records: 1 in partition 0"):
        cluster.wait_for_records("orders", 2, timeout_s=0)
    [transaction] = cluster.transactions()
    assert (transaction.transactional_id, transaction.state, transaction.partitions) == ("t", "Ongoing", {"orders": [0]})
    assert transaction.started is not None
    cluster.clock.advance(milliseconds=transaction.timeout_ms + 20_000)
    assert [(record.value, record.transaction) for record in cluster.records("orders")][2] == (b"3", "aborted")
    assert cluster.transactions()[0].started is None


def test_produce_creates_a_missing_topic(cluster: Cluster) -> None:
    cluster.produce("new", ["a"])
    assert values(cluster, "new") == [b"a"]


def test_wait_for_records_returns_when_a_client_has_written(cluster: Cluster) -> None:
    found: list[list[Record]] = []
    waiter = threading.Thread(target=lambda: found.append(cluster.wait_for_records("later", 3, timeout_s=30)))
    waiter.start()
    producer = Producer({"bootstrap.servers": cluster.bootstrap_servers})
    for value in (b"a", b"b", b"c"):
        producer.produce("later", value)
    assert producer.flush(30) == 0
    waiter.join()
    assert [record.value for record in found[0]] == [b"a", b"b", b"c"]


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda cluster: cluster.produce("orders", "text"), "records: must be a list, not 'text'"),
        (lambda cluster: cluster.produce("orders", [("a", "b", "c")]), r"records\[0\]: must be a value, a pair of key and value"),
        (lambda cluster: cluster.produce("orders", [1]), r"records\[0\].value: must be text, bytes, null"),
        (lambda cluster: cluster.produce("orders", [{"val": 1}]), r"records\[0\]: unknown field 'val'; the fields are value, key"),
        (lambda cluster: cluster.produce("orders", [{"base64": "?"}]), r"records\[0\].value: invalid base64"),
        (lambda cluster: cluster.produce("orders", [{"headers": 5}]), r"records\[0\].headers: must be an object or a list"),
        (lambda cluster: cluster.produce("orders", [{"headers": {"a": 5}}]), r"records\[0\].headers: must be text, bytes, null"),
        (lambda cluster: cluster.produce("orders", [{"timestamp": "now"}]), r"records\[0\].timestamp: must be an integer of 64 bits"),
        (lambda cluster: cluster.produce("orders", ["a"], partition=3), "orders has the partitions 0 to 2, not 3"),
        (lambda cluster: cluster.records("ordres"), "topic: there is no topic 'ordres'; did you mean 'orders'"),
        (lambda cluster: cluster.records("orders", 5), "partition: there is no partition 5; use one of 0, 1, 2"),
        (lambda cluster: cluster.records("orders", limit=-1), "limit: must not be negative"),
        (lambda cluster: cluster.records("orders", max_bytes=-1), "max_bytes: must not be negative"),
        (lambda cluster: cluster.wait_for_records("orders", -1), "n: must not be negative"),
        (lambda cluster: cluster.wait_for_records("orders", 1, timeout_s=-1), "timeout_s: must be 0 or more seconds"),
    ],
)
def test_invalid_record_control_writes_nothing(cluster: Cluster, call: Callable[[Any], object], message: str) -> None:
    with pytest.raises(InvalidControl, match=message):
        call(cluster)
    assert values(cluster) == []


def test_produce_refused_by_the_topic_names_the_code(cluster: Cluster) -> None:
    cluster.create_topic("compacted", configs={"cleanup.policy": "compact"})
    with pytest.raises(ControlRefused, match="INVALID_RECORD: partition compacted-0 refused the records") as caught:
        cluster.produce("compacted", ["no key"])
    assert caught.value.code == "INVALID_RECORD"


def test_produce_without_a_leader_says_which_nodes_to_start(cluster: Cluster) -> None:
    cluster.stop_node(1)
    cluster.stop_node(2)
    with pytest.raises(ControlRefused, match=r"LEADER_NOT_AVAILABLE: partition orders-0 has no leader; start one of the nodes"):
        cluster.produce("orders", ["a"])


def test_week_of_retention_passes_in_one_call() -> None:
    with Cluster(nodes=1, settings={"log.retention.hours": 168}) as cluster:
        cluster.produce("orders", ["old"])
        cluster.clock.advance(days=6, hours=23)
        assert values(cluster) == [b"old"]
        cluster.clock.advance(hours=2)
        assert values(cluster) == []


def test_idle_connection_is_closed_by_advance(cluster: Cluster) -> None:
    errors: list[KafkaError] = []
    producer = Producer({"bootstrap.servers": cluster.bootstrap_servers, "error_cb": errors.append})
    producer.produce("orders", b"a")
    assert producer.flush(30) == 0
    opened = {each.connection for each in cluster.connections()}
    cluster.clock.advance(minutes=11)
    assert not opened & {each.connection for each in cluster.connections()}
