"""The effects of each fault at a point on a cluster and on a real client. The faults prove by their hits that they have happened."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import closing

import pytest
from confluent_kafka import Consumer, KafkaException, Producer

from odradek import Cluster
from odradek.broker.cluster.startup_topics import TopicOptions
from odradek.broker.exploring.acts import ABSENCE_MS

pytestmark = [pytest.mark.sockets, pytest.mark.clients]
TOPICS: dict[str, int | TopicOptions] = {
    "orders": {"partitions": 1, "replication_factor": 2},
    "wide": {"partitions": 2, "replication_factor": 1},
}
SETTINGS = {"offsets.topic.num.partitions": 1, "transaction.state.log.num.partitions": 1}


@pytest.fixture
def cluster() -> Iterator[Cluster]:
    with Cluster(topics=TOPICS, settings=SETTINGS) as cluster:
        yield cluster


def write(cluster: Cluster, topic: str = "orders", settings: Mapping[str, str | int | bool] | None = None) -> list[bytes]:
    """Sends two records one after the other, and returns those that the topic then has."""
    config: dict[str, str | int | bool] = {"bootstrap.servers": cluster.bootstrap_servers, "log_level": 0}
    with Producer({**config, **(settings or {})}) as producer:
        for value in (b"1", b"2"):
            producer.produce(topic, value, partition=0)
            assert producer.flush(30) == 0
    return [record.value for record in cluster.records(topic) if record.value is not None]


@pytest.mark.parametrize(
    ("fault", "settings", "expected"),
    [
        ("lost-response", {}, [b"1", b"1", b"2"]),
        ("lost-response", {"enable.idempotence": True}, [b"1", b"2"]),
        ("reset", {}, [b"1", b"2"]),
        ("leader-moves", {}, [b"1", b"2"]),
        ("leader-lost", {"acks": 1}, [b"2"]),
        ("sent-twice", {}, [b"1", b"1", b"2"]),
        ("crash-after", {"enable.idempotence": True}, [b"1", b"2"]),
        ("late", {}, [b"1", b"2"]),
    ],
)
def test_fault_at_a_produce_has_its_effect(cluster: Cluster, fault: str, settings: dict[str, bool | int], expected: list[bytes]) -> None:
    handle = cluster.fault_at(f"Produce#1@producer:{fault}")
    assert write(cluster, settings=settings) == expected
    assert handle.hits == 1


def test_crashed_node_returns(cluster: Cluster) -> None:
    handle = cluster.fault_at("Metadata#1@client:crash-before")
    assert write(cluster) == [b"1", b"2"]
    cluster.wait_until(lambda: all(node.state == "running" for node in cluster.nodes()))
    assert handle.hits == 1


def test_only_topics_with_several_partitions_grow(cluster: Cluster) -> None:
    handles = [cluster.fault_at(f"Produce#{number}@producer:partitions-grow") for number in (1, 3)]
    write(cluster, "orders")
    write(cluster, "wide")
    assert [handle.hits for handle in handles] == [0, 1]
    assert "came when the fault could not happen" in str(handles[0])
    assert {topic.name: len(topic.partitions) for topic in cluster.topics()} == {"orders": 1, "wide": 3}


def commit_once(cluster: Cluster) -> None:
    """Reads a record and commits it."""
    cluster.produce("orders", ["1"])
    group = {"group.id": "billing", "auto.offset.reset": "earliest", "enable.auto.commit": False, "log_level": 0}
    with closing(Consumer({"bootstrap.servers": cluster.bootstrap_servers, **group})) as consumer:
        consumer.subscribe(["orders"])
        message = consumer.poll(30)
        assert message is not None
        consumer.commit(message=message, asynchronous=False)


def committed(cluster: Cluster) -> int | None:
    return cluster.show_group("billing").offsets[0].committed


def test_expired_session_refuses_a_commit(cluster: Cluster) -> None:
    handle = cluster.fault_at("OffsetCommit#1@billing:session-expired")
    with pytest.raises(KafkaException, match="UNKNOWN_MEMBER_ID"):
        commit_once(cluster)
    assert handle.hits == 1


def test_coordinator_that_moves_gets_the_commit_again(cluster: Cluster) -> None:
    handle = cluster.fault_at("OffsetCommit#1@group-1:coordinator-moves")
    commit_once(cluster)
    assert (handle.hits, committed(cluster)) == (1, 1)
    assert cluster.requests(api="OffsetCommit", error="NOT_COORDINATOR")


@pytest.mark.parametrize("fault", ["transaction-timed-out", "fenced"])
def test_aborted_transaction_stops_its_producer(cluster: Cluster, fault: str) -> None:
    handle = cluster.fault_at(f"EndTxn#1@payments:{fault}")
    producer = Producer({"bootstrap.servers": cluster.bootstrap_servers, "transactional.id": "payments", "log_level": 0})
    producer.init_transactions(30)
    producer.begin_transaction()
    producer.produce("orders", b"1")
    with pytest.raises(KafkaException):
        producer.commit_transaction(30)
    assert handle.hits == 1
    assert [record.transaction for record in cluster.records("orders")] == ["aborted"]


def test_fault_at_a_point_outlives_a_reset(cluster: Cluster) -> None:
    handle = cluster.fault_at("Produce#1@producer:sent-twice")
    cluster.fault(api="Produce", delay_ms=1)
    cluster.reset()
    assert [each.options for each in cluster.list_faults()] == ["Produce#1@producer:sent-twice"]
    assert write(cluster) == [b"1", b"1", b"2"]
    assert handle.hits == 1


def test_member_that_is_cut_off_has_committed_without_knowing(cluster: Cluster) -> None:
    handle = cluster.fault_at("OffsetCommit#1@billing:cut-off")
    with pytest.raises(KafkaException, match="UNKNOWN_MEMBER_ID"):
        commit_once(cluster)
    assert (handle.hits, committed(cluster)) == (1, 1)


def read_until(consumer: Consumer, is_done: Callable[[list[bytes | None]], bool]) -> list[bytes | None]:
    """Returns the values that a consumer has read when a condition on them holds, and fails after 300 polls of 100 ms."""
    values: list[bytes | None] = []
    for _ in range(300):
        if is_done(values):
            return values
        message = consumer.poll(0.1)
        if message is not None:
            values.append(message.value())
    raise AssertionError(f"The condition did not hold after {values} had been read.")


def test_rebalance_takes_and_gives_partitions(cluster: Cluster) -> None:
    handle = cluster.fault_at("Heartbeat#1@billing:rebalance")
    cluster.produce("orders", ["1"])
    given: list[str] = []
    group = {"group.id": "billing", "auto.offset.reset": "earliest", "heartbeat.interval.ms": 100, "log_level": 0}
    with closing(Consumer({"bootstrap.servers": cluster.bootstrap_servers, "enable.auto.commit": False, **group})) as consumer:
        consumer.subscribe(["orders"], on_assign=lambda *_: given.append("given"), on_revoke=lambda *_: given.append("taken"))
        values = read_until(consumer, lambda values: given.count("given") == 2 and len(values) > 0)
    assert (handle.hits, given[:3], {*values}) == (1, ["given", "taken", "given"], {b"1"})


def test_refused_records_are_an_error_and_the_topic_recovers(cluster: Cluster) -> None:
    handle = cluster.fault_at("Produce#1@producer:refused")
    errors: list[object] = []
    with Producer({"bootstrap.servers": cluster.bootstrap_servers, "log_level": 0}) as producer:
        for value in (b"1", b"2"):
            producer.produce("orders", value, on_delivery=lambda error, _: errors.append(error))
            producer.flush(30)
    assert [handle.hits, str(errors[0]).count("MSG_SIZE_TOO_LARGE"), errors[1]] == [1, 1, None]
    assert [record.value for record in cluster.records("orders")] == [b"2"]


def test_response_that_never_comes_is_the_client_s_to_notice(cluster: Cluster) -> None:
    handle = cluster.fault_at("Produce#1@producer:no-response")
    assert write(cluster, settings={"enable.idempotence": True, "socket.timeout.ms": 500}) == [b"1", b"2"]
    assert handle.hits == 1


@pytest.mark.parametrize(("fault", "expected"), [("Fetch#1@billing:records-expired", [b"3"]), ("Fetch#1@billing:late", [b"1", b"2", b"3"])])
def test_expired_records_are_skipped(cluster: Cluster, fault: str, expected: list[bytes]) -> None:
    handle = cluster.fault_at(fault)
    cluster.produce("orders", ["1", "2", "3"])
    group = {"group.id": "billing", "auto.offset.reset": "earliest", "log_level": 0}
    with closing(Consumer({"bootstrap.servers": cluster.bootstrap_servers, **group})) as consumer:
        consumer.subscribe(["orders"])
        values = [message.value() for _ in expected if (message := consumer.poll(30)) is not None]
    assert (handle.hits, values) == (1, expected)


def test_expired_offsets_are_not_found_by_the_next_consumer(cluster: Cluster) -> None:
    commit_once(cluster)
    handle = cluster.fault_at("OffsetFetch#1@billing:offsets-expired")
    commit_once(cluster)  # gets the first record again, because it begins at the earliest one
    assert (handle.hits, committed(cluster)) == (1, 1)
    assert [each.value for each in cluster.records("orders")] == [b"1", b"1"]


def test_member_of_several_is_away_while_the_others_go_on(cluster: Cluster) -> None:
    handle = cluster.fault_at("OffsetCommit#1@billing:session-expired")
    cluster.produce("orders", ["1"])
    group = {"group.id": "billing", "auto.offset.reset": "earliest", "enable.auto.commit": False, "log_level": 0}
    place = {"bootstrap.servers": cluster.bootstrap_servers, "heartbeat.interval.ms": 100}
    with (
        closing(Consumer({**place, **group, "client.id": "a"})) as first,
        closing(Consumer({**place, **group, "client.id": "b"})) as second,
    ):
        first.subscribe(["orders"])
        message = first.poll(30)
        assert message is not None
        second.subscribe(["orders"])
        read_until(second, lambda _: len(cluster.show_group("billing").members) == 2)
        with pytest.raises(KafkaException):
            first.commit(message=message, asynchronous=False)
    assert handle.hits == 1
    (commit,) = cluster.requests(api="OffsetCommit", error="UNKNOWN_MEMBER_ID")
    assert commit.answered is not None
    assert commit.answered.cluster_ms - commit.received.cluster_ms >= ABSENCE_MS
