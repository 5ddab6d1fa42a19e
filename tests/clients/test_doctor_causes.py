"""The doctor with real clients: mistakes in names, groups and ACLs; and symptoms that the test has caused itself, which are no mistakes."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing, suppress
from typing import Any

import pytest
from confluent_kafka import KafkaException, TopicPartition

from odradek import Cluster
from odradek.broker.wire.exchange import Event
from tests.clients.diagnosis import PATIENCE_S, cluster_with, consumer, diagnosis, producer
from tests.waiting import until

pytestmark = [pytest.mark.sockets, pytest.mark.clients]

ALICE: dict[str, Any] = {
    "security_protocol": "SASL_PLAINTEXT",
    "sasl_mechanism": "PLAIN",
    "sasl_username": "alice",
    "sasl_password": "secret",
}


@pytest.fixture
def cluster() -> Iterator[Cluster]:
    with cluster_with() as running:
        yield running


def names(cluster: Cluster) -> list[str]:
    return [each.name for each in cluster.doctor()]


def has_members(cluster: Cluster) -> bool:
    return any(group.members for group in cluster.groups())


def write(cluster: Cluster, topic: str = "orders", count: int = 1, **settings: Any) -> None:
    writer = producer(cluster, **settings)
    for number in range(count):
        writer.produce(topic, str(number).encode(), partition=0)
    writer.flush(PATIENCE_S)


def read(cluster: Cluster, count: int, *topics: str, **settings: Any) -> None:
    """Reads records as a member of a group that commits them and leaves."""
    with closing(consumer(cluster, **settings)) as reader:
        reader.subscribe([*topics] or ["orders"])
        assert len(reader.consume(count, timeout=PATIENCE_S)) == count


# ACLs


def test_denied_write_is_explained() -> None:
    with cluster_with(users={"alice": "secret"}, acls=["User:alice:allow:describe:topic:orders"]) as cluster:
        write(cluster, **ALICE)
        found = diagnosis(cluster, "denied by an ACL")
        assert found.problem.startswith("User:alice may not use topic orders: ")
        assert "allows WRITE on topic orders to User:alice" in found.advice


def test_denied_group_is_explained() -> None:
    acls = ["User:alice:allow:all:topic:orders"]
    with cluster_with(users={"alice": "secret"}, acls=acls) as cluster, closing(consumer(cluster, **ALICE)) as reader:
        reader.subscribe(["orders"])
        with suppress(KafkaException):
            reader.poll(1)
        assert "User:alice may not use group billing" in diagnosis(cluster, "denied by an ACL").problem


def test_allowed_client_and_error_of_a_fault_are_no_denial(cluster: Cluster) -> None:
    with cluster_with(users={"alice": "secret"}, acls=["User:alice:allow:all:topic:orders"]) as secured:
        write(secured, **ALICE)
        assert names(secured) == []
    cluster.fault(api="Produce", error="TOPIC_AUTHORIZATION_FAILED")
    write(cluster)
    assert cluster.requests(error="TOPIC_AUTHORIZATION_FAILED") and names(cluster) == []


# Names of topics


def test_misspelt_topic_is_explained() -> None:
    with cluster_with({"auto.create.topics.enable": False}) as cluster:
        write(cluster)
        writer = producer(cluster)
        writer.produce("ordres", b"a")
        writer.poll(0)
        found = diagnosis(cluster, "an unknown topic")
        assert "the topic ordres does not exist" in found.problem and "there is a topic orders" in found.problem
        writer.purge()


def test_topic_that_is_created_or_deleted_is_not_misspelt() -> None:
    with cluster_with({"auto.create.topics.enable": False}) as cluster:
        writer = producer(cluster, topic_metadata_refresh_interval_ms=100)
        writer.produce("later", b"a")
        until(lambda: cluster.requests(api="Metadata", topic="later", error="UNKNOWN_TOPIC_OR_PARTITION"))
        cluster.create_topic("later")
        writer.flush(PATIENCE_S)
        cluster.delete_topic("later")
        seen = cluster.wire.mark()
        until(lambda: cluster.requests(api="Metadata", topic="later", error="UNKNOWN_TOPIC_OR_PARTITION", since=seen))
        with cluster.fault(api="Metadata", error="UNKNOWN_TOPIC_OR_PARTITION") as fault:
            producer(cluster).list_topics("orders", timeout=PATIENCE_S)
            fault.wait(hits=1, timeout_s=PATIENCE_S)
        assert "an unknown topic" not in names(cluster)


@pytest.mark.parametrize("by_client", [True, False])
def test_topic_beside_the_one_that_is_read_is_explained(cluster: Cluster, by_client: bool) -> None:
    cluster.create_topic("ordres")
    with closing(consumer(cluster)) as reader:
        reader.subscribe(["ordres"])
        until(lambda: reader.poll(0.1) is None and cluster.requests(api="Fetch", topic="ordres"))
        assert names(cluster) == []
        write(cluster) if by_client else cluster.produce("orders", ["a"])
        found = diagnosis(cluster, "a misspelt topic")
        assert "reads ordres, which contains no records; no client reads orders" in found.problem


@pytest.mark.parametrize(("similar", "is_read"), [("ordersx", True), ("orders2", False)])
def test_other_topic_that_is_read_or_numbered_is_no_finding(cluster: Cluster, similar: str, is_read: bool) -> None:
    cluster.create_topic(similar, partitions=1)
    with closing(consumer(cluster, group_id="other")) as reader:
        reader.subscribe([similar])
        until(lambda: reader.poll(0.1) is None and cluster.requests(api="Fetch", topic=similar))
        write(cluster)
        if is_read:
            read(cluster, 1)
        until(lambda: reader.poll(0.1) is None and len(cluster.requests(api="Fetch", topic=similar)) > 1)
        assert names(cluster) == []


# Records that are not read


def test_records_skipped_by_latest_are_explained(cluster: Cluster) -> None:
    write(cluster, count=3)
    with closing(consumer(cluster, auto_offset_reset="latest")) as reader:
        reader.subscribe(["orders"])
        reader.poll(1)
        found = diagnosis(cluster, "records skipped by latest")
        assert found.problem.startswith("the consumer skipped 3 records of orders-0")
        assert "auto.offset.reset" in found.settings


def test_consumer_of_all_records_gets_no_finding(cluster: Cluster) -> None:
    with closing(consumer(cluster, auto_offset_reset="latest", group_id="early")) as reader:
        reader.subscribe(["orders"])
        until(lambda: reader.poll(0.1) is None and cluster.requests(api="Fetch"))
        write(cluster, count=3)
        read(cluster, 3)
        assert names(cluster) == []


def test_commit_that_a_moved_clock_expires_is_no_finding() -> None:
    with cluster_with({"offsets.retention.minutes": 1, "offsets.retention.check.interval.ms": 1000}) as cluster:
        write(cluster, count=3)
        read(cluster, 3)
        cluster.clock.advance(minutes=10)
        write(cluster, count=2)
        with closing(consumer(cluster, auto_offset_reset="latest")) as reader:
            reader.subscribe(["orders"])
            until(lambda: reader.poll(0.1) is None and cluster.requests(api="ListOffsets"))
            reader.poll(1)
        assert "records skipped by latest" not in names(cluster)


EXPIRING = {"retention.ms": 1000, "segment.ms": 100}


def fetch_what_is_gone(cluster: Cluster) -> None:
    """Reads from the first offset of a partition whose first records have expired."""
    with closing(consumer(cluster)) as reader:
        reader.assign([TopicPartition("expiring", 0, 0)])
        until(lambda: reader.poll(0.1) is None and cluster.requests(api="Fetch", error="OFFSET_OUT_OF_RANGE"))


def test_records_that_expired_unread_are_explained() -> None:
    with cluster_with({"log.retention.check.interval.ms": 100, "log.initial.task.delay.ms": 100}) as cluster:
        cluster.create_topic("expiring", partitions=1, configs=EXPIRING)
        write(cluster, "expiring", 3)
        until(lambda: "expiring-0 begins at offset 3" in cluster.wire.story())
        fetch_what_is_gone(cluster)
        found = diagnosis(cluster, "records expired before they were read")
        assert "expiring-0 no longer contained offset 0" in found.problem
        assert "retention.ms" in found.settings


def test_records_that_expired_by_a_moved_clock_are_no_finding(cluster: Cluster) -> None:
    cluster.create_topic("expiring", partitions=1, configs=EXPIRING)
    write(cluster, "expiring", 3)
    cluster.clock.advance(minutes=10)
    assert "expiring-0 begins at offset 3" in cluster.wire.story()
    fetch_what_is_gone(cluster)
    assert names(cluster) == []


def test_offset_that_a_fault_declares_out_of_range_is_no_finding(cluster: Cluster) -> None:
    cluster.create_topic("expiring", partitions=1)
    write(cluster, "expiring", 3)
    cluster.fault(api="Fetch", error="OFFSET_OUT_OF_RANGE", times=1)
    fetch_what_is_gone(cluster)
    assert names(cluster) == []


# Groups


def test_group_with_other_topics_is_explained(cluster: Cluster) -> None:
    cluster.create_topic("invoices", partitions=1)
    with closing(consumer(cluster, client_id="first")) as first, closing(consumer(cluster, client_id="second")) as second:
        first.subscribe(["orders"])
        until(lambda: first.poll(0.1) is None and first.assignment())
        second.subscribe(["invoices"])
        until(lambda: first.poll(0.1) is None and second.poll(0.1) is None and second.assignment())
        found = diagnosis(cluster, "a clash of a group id")
        assert "first subscribes to orders" in found.problem and "second subscribes to invoices" in found.problem


@pytest.mark.parametrize("protocol", ["classic", "consumer"])
def test_members_with_a_common_topic_do_not_clash(cluster: Cluster, protocol: str) -> None:
    cluster.create_topic("invoices", partitions=1)
    cluster.produce("invoices", ["a"])
    write(cluster, count=2)
    read(cluster, 2, client_id="first", group_protocol=protocol)
    read(cluster, 1, "invoices", client_id="second", group_protocol=protocol)
    write(cluster, count=2)
    with closing(consumer(cluster, client_id="third", group_protocol=protocol)) as third:
        third.subscribe(["orders"])
        until(lambda: third.poll(0.1) is None and third.assignment())
        with closing(consumer(cluster, client_id="fourth", group_protocol=protocol)) as fourth:
            fourth.subscribe(["orders", "invoices"])
            until(lambda: third.poll(0.1) is None and fourth.poll(0.1) is None and fourth.assignment())
    assert "a clash of a group id" not in names(cluster)


def test_group_with_another_assignor_is_explained(cluster: Cluster) -> None:
    with closing(consumer(cluster, partition_assignment_strategy="range")) as first:
        first.subscribe(["orders"])
        until(lambda: first.poll(0.1) is None and first.assignment())
        with closing(consumer(cluster, client_id="second", partition_assignment_strategy="roundrobin")) as second:
            second.subscribe(["orders"])
            with suppress(KafkaException):
                second.poll(0.5)
            found = diagnosis(cluster, "a clash of a group id")
            assert "the client offers consumer with roundrobin; its members use consumer with range" in found.problem
            assert "second" in found.client


def test_inconsistent_protocol_of_a_fault_is_no_finding(cluster: Cluster) -> None:
    cluster.fault(api="JoinGroup", error="INCONSISTENT_GROUP_PROTOCOL", times=1)
    with closing(consumer(cluster)) as reader:
        reader.subscribe(["orders"])
        with suppress(KafkaException):
            until(lambda: reader.poll(0.1) is None and cluster.requests(error="INCONSISTENT_GROUP_PROTOCOL"))
    assert names(cluster) == []


@pytest.mark.parametrize("protocol", ["classic", "consumer"])
def test_repeated_instance_id_is_explained(cluster: Cluster, protocol: str) -> None:
    settings: dict[str, Any] = {"group_instance_id": "host-1", "group_protocol": protocol}
    if protocol == "classic":
        settings["heartbeat_interval_ms"] = 100
    with (
        closing(consumer(cluster, client_id="first", **settings)) as first,
        closing(consumer(cluster, client_id="second", **settings)) as second,
    ):
        first.subscribe(["orders"])
        until(lambda: first.poll(0.1) is None and first.assignment())
        second.subscribe(["orders"])

        def clash() -> bool:
            for each in (first, second):
                with suppress(KafkaException):
                    each.poll(0.1)
            return "a clash of a group.instance.id" in names(cluster)

        until(clash)
        found = diagnosis(cluster, "a clash of a group.instance.id")
        assert "two members of group billing have the group.instance.id host-1" in found.problem


def test_instance_id_that_a_fault_fences_is_no_finding(cluster: Cluster) -> None:
    settings = {"group_instance_id": "host-1", "heartbeat_interval_ms": 100}
    cluster.fault(api="Heartbeat", error="FENCED_INSTANCE_ID", times=1)
    with closing(consumer(cluster, **settings)) as reader:
        reader.subscribe(["orders"])

        def fenced() -> bool:
            with suppress(KafkaException):
                reader.poll(0.1)
            return bool(cluster.requests(error="FENCED_INSTANCE_ID"))

        until(fenced)
    assert names(cluster) == []


def test_static_member_that_comes_back_does_not_clash(cluster: Cluster) -> None:
    write(cluster, count=4)
    for _ in range(2):
        read(cluster, 2, group_instance_id="host-1")
    assert names(cluster) == []


# Actions of the test


def test_session_that_a_moved_clock_ends_is_no_finding(cluster: Cluster) -> None:
    with closing(consumer(cluster, heartbeat_interval_ms=100)) as reader:
        reader.subscribe(["orders"])
        until(lambda: reader.poll(0.1) is None and reader.assignment())
        cluster.clock.advance(minutes=5)
        until(lambda: reader.poll(0.1) is None and cluster.requests(error="UNKNOWN_MEMBER_ID"))
        until(lambda: reader.poll(0.1) is None and cluster.group("billing").members)
    assert names(cluster) == []


def test_members_that_a_reset_removes_are_no_storm(cluster: Cluster) -> None:
    with closing(consumer(cluster, heartbeat_interval_ms=100)) as reader:
        reader.subscribe(["orders"])
        for _ in range(4):
            until(lambda: reader.poll(0.1) is None and has_members(cluster))
            cluster.reset()
        until(lambda: reader.poll(0.1) is None and has_members(cluster))
    assert names(cluster) == []


def test_connections_that_a_fault_closes_are_no_loop(cluster: Cluster) -> None:
    cluster.fault(refuse="closed")
    writer = producer(cluster, reconnect_backoff_max_ms=100)
    writer.poll(0)
    until(lambda: sum(event.text.startswith("FIN") for event in cluster.wire.since() if isinstance(event, Event)) > 8)
    assert names(cluster) == []


def test_clients_that_look_for_a_stopped_node_are_no_storm(cluster: Cluster) -> None:
    writer = producer(cluster, topic_metadata_refresh_interval_ms=50)
    cluster.stop_node(2)
    for number in range(10):
        writer.produce("orders", str(number).encode(), partition=number % 2)
    writer.flush(PATIENCE_S)
    until(lambda: len(cluster.requests(api="Metadata")) > 30)
    assert names(cluster) == []


def test_consumer_that_a_stop_interrupts_gets_no_finding(cluster: Cluster) -> None:
    write(cluster, count=2)
    with closing(consumer(cluster, enable_auto_commit=False)) as reader:
        reader.subscribe(["orders"])
        assert len(reader.consume(2, timeout=PATIENCE_S)) == 2
        for node in (1, 2):
            cluster.stop_node(node)
        until(lambda: not cluster.connections())
        assert names(cluster) == []
        for node in (1, 2):
            cluster.start_node(node)


def test_unacknowledged_records_that_a_stop_loses_are_no_mistake(cluster: Cluster) -> None:
    write(cluster, acks=0)
    writer = producer(cluster, acks=0)
    writer.produce("orders", b"a", partition=0)
    until(lambda: len(cluster.requests(api="Produce")) == 2 or writer.poll(0.1))
    for node in (1, 2):
        cluster.stop_node(node)
    assert names(cluster) == []
