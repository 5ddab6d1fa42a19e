"""Kept descriptions of topics equal new ones, whatever changes the cluster, and each client gets its own."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from contextlib import suppress
from typing import Any, cast

import pytest
from hypothesis import given
from hypothesis import strategies as st

from odradek.broker.api import topic_descriptions
from odradek.broker.api.topic_descriptions import KEPT_DESCRIPTIONS, OPERATIONS_NOT_REQUESTED, Key, TopicDescriber
from odradek.broker.security.acls import Operation, ResourceType
from odradek.broker.topics.partition import Partition
from odradek.protocol.errors import ErrorCode, KafkaError
from odradek.protocol.messages.alter_partition_reassignments import (
    ALTER_PARTITION_REASSIGNMENTS,
    AlterPartitionReassignmentsRequest,
    ReassignablePartition,
    ReassignableTopic,
)
from odradek.protocol.messages.elect_leaders import ELECT_LEADERS, ElectLeadersRequest
from odradek.protocol.messages.metadata import METADATA, MetadataRequest, MetadataRequestTopic, MetadataResponsePartition
from tests.broker.harness import World

VERSIONS = range(METADATA.versions.first, METADATA.versions.last + 1)
NODES = 4
NAMES = ("a", "b", "__consumer_offsets")
SETTINGS = {"unclean.leader.election.enable": "true", "offsets.topic.num.partitions": "3", "default.replication.factor": "3"}
Step = tuple[int, int, int]
"""The number of a change, and two numbers that select what it applies to."""


def a_partition(world: World, number: int) -> Partition | None:
    partitions = list(world.cluster.topics.partitions())
    return partitions[number % len(partitions)] if partitions else None


def create(world: World, first: int, second: int) -> None:
    name = NAMES[first % len(NAMES)]
    if name not in world.cluster.topics and not world.cluster.topics.ensure_internal(name):
        world.cluster.topics.create(name, second % 5 + 1)


def delete(world: World, first: int, second: int) -> None:
    if topic := world.cluster.topics.get(NAMES[first % len(NAMES)]):
        world.cluster.delete_topic(topic)


def add_partitions(world: World, first: int, second: int) -> None:
    topics = world.cluster.topics
    if topic := topics.get(NAMES[first % len(NAMES)]):
        topics.add_partitions(topic, topics.place_partitions(topic, len(topic.partitions) + second % 3 + 1, None))


def stop_or_start(world: World, first: int, second: int) -> None:
    node_id = first % NODES + 1
    if world.cluster.brokers[node_id].running:
        world.cluster.nodes.stop(node_id)
    else:
        world.cluster.nodes.start(node_id)


def unregister(world: World, first: int, second: int) -> None:
    world.cluster.nodes.unregister(first % NODES + 1)


def reassign(world: World, first: int, second: int) -> None:
    """Starts a reassignment to one to three nodes, or cancels the one under way."""
    if partition := a_partition(world, first):
        replicas = [(second + each) % NODES + 1 for each in range(second % 4)] or None
        wanted = ReassignableTopic(
            name=partition.topic.name, partitions=[ReassignablePartition(partition_index=partition.index, replicas=replicas)]
        )
        world.client().call(ALTER_PARTITION_REASSIGNMENTS, 0, AlterPartitionReassignmentsRequest(topics=[wanted], timeout_ms=0))


def elect(world: World, first: int, second: int) -> None:
    world.client().call(ELECT_LEADERS, 2, ElectLeadersRequest(election_type=first % 2, topic_partitions=None, timeout_ms=0))


def require_in_sync_replicas(world: World, first: int, second: int) -> None:
    if topic := world.cluster.topics.get(NAMES[first % len(NAMES)]):
        world.cluster.alter_topic(topic, {"min.insync.replicas": str(second % 3 + 1)})


def wait(world: World, first: int, second: int) -> None:
    world.advance(second * 100_000)


CHANGES: tuple[Callable[[World, int, int], None], ...] = (
    create, delete, add_partitions, stop_or_start, unregister, reassign, elect, require_in_sync_replicas, wait,
)  # fmt: skip


def ask(world: World, version: int, node_id: int = 1, **options: Any) -> bytes:
    """Returns the bytes of a response with all topics."""
    client = world.client(node_id)
    client.send(METADATA, version, MetadataRequest(topics=None if version else [], **options))
    return bytes(client.sent)


def ask_anew(world: World, version: int, node_id: int = 1, **options: Any) -> bytes:
    for topic in world.cluster.topics.values():
        topic.descriptions = {}
    return ask(world, version, node_id, **options)


def check(world: World, steps: Iterable[Step], version: int, **options: Any) -> None:
    """Compares a response with a new one after each step. The new one also keeps descriptions that the next step makes outdated."""
    create(world, 0, 4)
    for change, first, second in steps:
        with suppress(KafkaError):
            CHANGES[change](world, first, second)
        response = ask(world, version, **options)
        assert response == ask_anew(world, version, **options), CHANGES[change].__name__


@pytest.mark.parametrize("change", range(len(CHANGES)), ids=[change.__name__ for change in CHANGES])
def test_kept_description_after_a_change_equals_a_new_one(change: int) -> None:
    check(World(NODES, SETTINGS), [(change, first, second) for first in range(6) for second in range(4)], version=12)


STEPS = st.lists(st.tuples(st.integers(0, len(CHANGES) - 1), st.integers(0, 50), st.integers(0, 7)), min_size=5, max_size=40)


@given(steps=STEPS, version=st.sampled_from(VERSIONS), with_operations=st.booleans())
def test_kept_description_after_changes_equals_a_new_one(steps: list[Step], version: int, with_operations: bool) -> None:
    options = {"include_topic_authorized_operations": with_operations} if version >= 8 else {}
    check(World(NODES, SETTINGS), steps, version, **options)


@pytest.mark.parametrize("version", VERSIONS)
def test_partition_begins_with_error_code_and_index(version: int) -> None:
    def encoded(code: int, index: int) -> bytes:
        return MetadataResponsePartition(
            error_code=code, partition_index=index, leader_id=1, replica_nodes=[1], isr_nodes=[1], offline_replicas=[]
        ).encode(version)

    assert encoded(0x1122, 0x33445566)[:6] == bytes.fromhex("112233445566")
    assert encoded(0, 5)[6:] == encoded(0, 6)[6:]


def test_states_beyond_the_limit_are_forgotten(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(topic_descriptions, "KNOWN_STATES", 2)
    world = World(NODES, SETTINGS)
    topic = world.cluster.topics.create("t", 12)
    (described,) = world.client().call(METADATA, 12, MetadataRequest(topics=None)).topics
    assert [partition.replica_nodes for partition in described.partitions] == [partition.replicas for partition in topic.partitions]


def test_descriptions_for_many_versions_are_limited() -> None:
    world = World()
    topic = world.cluster.topics.create("t", 2)
    for version in VERSIONS:
        ask(world, version)
    described_versions = [cast(Key, key)[0] for key in topic.descriptions]
    assert described_versions == list(VERSIONS[-KEPT_DESCRIPTIONS:])


def test_description_overtaken_by_a_change_is_not_kept() -> None:
    """The first slice of the topic is described before the change."""
    world = World()
    topic = world.cluster.topics.create("t", 1000)
    describer = TopicDescriber(12, frozenset({1, 2}), frozenset())
    slices = describer.describe(topic, OPERATIONS_NOT_REQUESTED)
    next(slices)
    topic.partitions[0].elect(2)
    assert len(list(slices)) == 1
    assert describer.find(topic, OPERATIONS_NOT_REQUESTED) is None


def test_kept_description_is_shared_by_responses() -> None:
    world = World()
    topic = world.cluster.topics.create("t", 2000)
    ask(world, 12)
    (kept,) = topic.descriptions.values()
    client = world.client()
    client.connection.on_output = lambda: None
    client.send(METADATA, 12, MetadataRequest(topics=None))
    assert any(part is kept[1] for part in client.connection.output)


# Clients with other permissions, listeners or nodes

ACLS = {"authorizer.class.name": "org.apache.kafka.metadata.authorizer.StandardAuthorizer"}


def topics_of(world: World, host: str, *names: str, **options: Any) -> list[Any]:
    wanted = [MetadataRequestTopic(name=name) for name in names] or None
    request = MetadataRequest(topics=wanted, allow_auto_topic_creation=False, **options)
    return list(world.client(host=host).call(METADATA, 12, request).topics)


def test_topic_is_described_only_to_clients_with_permission(monkeypatch: pytest.MonkeyPatch) -> None:
    world = World(1, ACLS)
    world.cluster.topics.create("t", 1)
    authorizer = world.cluster.authorizer
    assert authorizer is not None

    def allows(principal: str, host: str, operation: Operation, resource_type: ResourceType, name: str) -> bool:
        return host == "127.0.0.1" or (host == "127.0.0.2" and operation is Operation.DESCRIBE)

    monkeypatch.setattr(authorizer, "allows", allows)
    monkeypatch.setattr(
        authorizer, "allowed_operations", lambda principal, host, kind, name: [Operation.DESCRIBE] if host == "127.0.0.2" else []
    )
    for _ in range(2):
        for options in ({}, {"include_topic_authorized_operations": True}):
            (full,) = topics_of(world, "127.0.0.1", "t", **options)
            (limited,) = topics_of(world, "127.0.0.2", "t", **options)
            (refused,) = topics_of(world, "127.0.0.3", "t", **options)
            assert (full.error_code, limited.error_code, refused.error_code) == (0, 0, ErrorCode.TOPIC_AUTHORIZATION_FAILED)
            assert refused.partitions == [] and refused.topic_authorized_operations == OPERATIONS_NOT_REQUESTED
            expected = (0, 1 << Operation.DESCRIBE) if options else (OPERATIONS_NOT_REQUESTED,) * 2
            assert (full.topic_authorized_operations, limited.topic_authorized_operations) == expected
            assert topics_of(world, "127.0.0.3", **options) == []


def test_leader_without_the_clients_listener_is_not_returned() -> None:
    listeners = {
        "listeners": "IN://127.0.0.1:29092,OUT://127.0.0.1:9092",
        "listener.security.protocol.map": "IN:PLAINTEXT,OUT:PLAINTEXT",
        "inter.broker.listener.name": "IN",
    }
    world = World(settings=listeners)
    world.cluster.topics.create("t", assignments=[[2]])
    del world.cluster.brokers[2].listeners["OUT"]
    found: dict[str, Any] = {}
    for listener in ("IN", "OUT", "IN", "OUT"):
        client = world.client(listener=listener)
        (partition,) = client.call(METADATA, 12, MetadataRequest(topics=None)).topics[0].partitions
        assert found.setdefault(listener, partition) == partition
    assert (found["IN"].error_code, found["IN"].leader_id) == (0, 2)
    assert (found["OUT"].error_code, found["OUT"].leader_id) == (ErrorCode.LISTENER_NOT_FOUND, -1)
