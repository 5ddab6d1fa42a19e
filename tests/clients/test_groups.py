"""Groups of confluent-kafka consumers with both protocols: static members, conversion, administration.

test_large_groups.py has groups of ten members.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import confluent_kafka
import pytest
from confluent_kafka import ConsumerGroupState, ConsumerGroupTopicPartitions, ConsumerGroupType, TopicPartition
from confluent_kafka.admin import AdminClient

from odradek.broker import Cluster
from tests.clients.client import HEARTBEAT_INTERVAL_MS, PATIENCE_S
from tests.clients.polled_group import PARTITIONS, SETTINGS, produce

pytestmark = pytest.mark.clients
CLASSIC = {"session.timeout.ms": 2_000, "heartbeat.interval.ms": HEARTBEAT_INTERVAL_MS}
PROTOCOLS: dict[str, dict[str, Any]] = {
    "range": CLASSIC | {"partition.assignment.strategy": "range"},
    "roundrobin": CLASSIC | {"partition.assignment.strategy": "roundrobin"},
    "cooperative": CLASSIC | {"partition.assignment.strategy": "cooperative-sticky"},
    "consumer": {"group.protocol": "consumer"},
}
every_protocol = pytest.mark.parametrize("protocol", PROTOCOLS)


class Group:
    """Consumers of one group, which are polled in turns. `seen` counts how often each record was read."""

    def __init__(self, cluster: Cluster, name: str, settings: dict[str, Any]) -> None:
        self.bootstrap_servers = cluster.bootstrap_servers
        self.settings: dict[str, Any] = {
            "bootstrap.servers": cluster.bootstrap_servers,
            "group.id": name,
            "auto.offset.reset": "earliest",
            "auto.commit.interval.ms": 100,
            "log_level": 0,
        } | settings
        self.members: list[confluent_kafka.Consumer] = []
        self.seen: Counter[int] = Counter()

    def join(self, **settings: Any) -> None:
        member = confluent_kafka.Consumer(self.settings | settings)
        member.subscribe(["t"])
        self.members.append(member)

    def leave(self) -> None:
        self.members.pop(0).close()

    def poll(self, until: Callable[[], bool]) -> None:
        deadline = time.monotonic() + PATIENCE_S
        while not until():
            assert time.monotonic() < deadline, (len(self.seen), self.assignments())
            for member in self.members:
                self.seen.update(int(message.value() or b"") for message in member.consume(1000, 0.005) if message.error() is None)

    def assignments(self) -> list[list[int]]:
        return [sorted(partition.partition for partition in member.assignment()) for member in self.members]

    def is_shared(self) -> bool:
        """Returns whether each partition has one owner and the members have equal shares (up to one partition)."""
        shares = self.assignments()
        even = max(map(len, shares)) - min(map(len, shares)) <= 1
        return even and sorted(index for share in shares for index in share) == list(range(PARTITIONS))

    def close(self) -> None:
        for member in self.members:
            member.close()


@pytest.fixture
def cluster() -> Iterator[Cluster]:
    with Cluster(nodes=2, topics={"t": PARTITIONS}, settings=SETTINGS) as cluster:
        yield cluster


@contextmanager
def group_of(cluster: Cluster, protocol: str) -> Iterator[Group]:
    group = Group(cluster, "g", dict(PROTOCOLS[protocol]))
    try:
        yield group
    finally:
        group.close()


@pytest.mark.parametrize("protocol", ["range", "consumer"])
def test_static_member_rejoins_with_its_partitions(cluster: Cluster, protocol: str) -> None:
    with group_of(cluster, protocol) as group:
        for name in ("a", "b"):
            group.join(**{"group.instance.id": name})
        group.poll(group.is_shared)
        first, second = group.assignments()
        group.leave()
        group.join(**{"group.instance.id": "a"})
        group.poll(lambda: group.assignments() == [second, first])


def test_last_member_of_a_protocol_converts_the_group(cluster: Cluster) -> None:
    """The group has classic members, both kinds, the new kind only, and classic members again; every record is read.

    Cooperative assignments are not tested: librdkafka adds user data to them, and Kafka does not convert such groups.
    """
    admin = AdminClient({"bootstrap.servers": cluster.bootstrap_servers, "log_level": 0})
    with group_of(cluster, "range") as group:
        modern = Group(cluster, "g", dict(PROTOCOLS["consumer"]))
        group.join()
        group.join()
        group.poll(group.is_shared)
        produce(cluster, range(1000))
        modern.join()
        group.members.append(modern.members.pop())
        group.poll(group.is_shared)
        assert kind_of(admin) == ConsumerGroupType.CONSUMER
        group.leave()
        group.leave()
        group.poll(group.is_shared)
        produce(cluster, range(1000, 2000))
        group.join()
        group.poll(group.is_shared)
        group.leave()
        group.poll(group.is_shared)
        assert kind_of(admin) == ConsumerGroupType.CLASSIC
        group.poll(lambda: len(group.seen) == 2000)


def kind_of(admin: AdminClient) -> ConsumerGroupType:
    (group,) = admin.list_consumer_groups().result(PATIENCE_S).valid
    kind: ConsumerGroupType = group.type
    return kind


@every_protocol
def test_admin_client_describes_and_changes_groups(cluster: Cluster, protocol: str) -> None:
    admin = AdminClient({"bootstrap.servers": cluster.bootstrap_servers, "log_level": 0})
    with group_of(cluster, protocol) as group:
        group.join()
        group.poll(group.is_shared)
        produce(cluster, range(80))
        group.poll(lambda: len(group.seen) == 80)
        group.members[0].commit(asynchronous=False)
        described = admin.describe_consumer_groups(["g"])["g"].result(PATIENCE_S)
        assert described.state == ConsumerGroupState.STABLE
        (member,) = described.members
        assert len(member.assignment.topic_partitions) == PARTITIONS
    wanted = ConsumerGroupTopicPartitions("g", [TopicPartition("t", 0)])
    found = admin.list_consumer_group_offsets([wanted])["g"].result(PATIENCE_S)
    assert [(each.partition, each.offset) for each in found.topic_partitions or []] == [(0, 10)]
    earlier = ConsumerGroupTopicPartitions("g", [TopicPartition("t", 0, 3)])
    admin.alter_consumer_group_offsets([earlier])["g"].result(PATIENCE_S)
    found = admin.list_consumer_group_offsets([wanted])["g"].result(PATIENCE_S)
    assert [each.offset for each in found.topic_partitions or []] == [3]
    admin.delete_consumer_groups(["g"])["g"].result(PATIENCE_S)
    assert not admin.list_consumer_groups().result(PATIENCE_S).valid
