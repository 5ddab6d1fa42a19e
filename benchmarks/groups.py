"""Measures the broker's CPU time and memory for consumer groups, without sockets.

Run: `python -m benchmarks.groups`. Requests are encoded beforehand, so the figures contain only the broker's work: decoding the request,
handling it, writing records and encoding the response.
"""

from __future__ import annotations

import random
import time
import tracemalloc
from collections.abc import Iterable

from odradek.broker.api.context import Parked
from odradek.broker.cluster.state import ClusterState
from odradek.broker.connections.connection import Connection
from odradek.broker.connections.core import Core
from odradek.broker.groups.consumer.group import ConsumerGroup
from odradek.broker.groups.offsets import CommittedOffset
from odradek.broker.scheduling.timers import Timers
from odradek.broker.scheduling.turns import Turns
from odradek.broker.settings.cluster_config import cluster_of
from odradek.protocol.frame import decode_response, encode_request
from odradek.protocol.messages.consumer_group_heartbeat import CONSUMER_GROUP_HEARTBEAT, ConsumerGroupHeartbeatRequest, TopicPartitions
from odradek.protocol.messages.heartbeat import HEARTBEAT, HeartbeatRequest
from odradek.protocol.messages.join_group import JOIN_GROUP, JoinGroupRequest, JoinGroupRequestProtocol
from odradek.protocol.messages.offset_commit import (
    OFFSET_COMMIT,
    OffsetCommitRequest,
    OffsetCommitRequestPartition,
    OffsetCommitRequestTopic,
)
from odradek.protocol.messages.sync_group import SYNC_GROUP, SyncGroupRequest, SyncGroupRequestAssignment
from odradek.protocol.schema import Api, Message

MEMBERS, GROUPS, BEATS = 100, 10_000, 20_000


class Broker:
    """A cluster of one node with one topic. Its connections keep the responses."""

    def __init__(self) -> None:
        self.timers = Timers(1_700_000_000_000)
        config = cluster_of([{"listeners": "PLAINTEXT://127.0.0.1:9092"}], nodes=1)
        turns = Turns[Parked](self.timers, time.monotonic)
        self.cluster = ClusterState(config, turns, random.Random(1))
        self.core = Core(self.cluster, turns)
        self.cluster.topics.ensure_internal("__consumer_offsets")
        self.topic = self.cluster.topics.create("t", MEMBERS)

    def connect(self) -> Connection:
        return self.core.connect(self.cluster.brokers[1], "PLAINTEXT", "127.0.0.1", 50_000, lambda: None, lambda: None)


def frame(api: Api, version: int, request: Message) -> bytes:
    return b"".join(encode_request(api, version, 1, "bench", request))


def feed(connection: Connection, data: bytes) -> None:
    """Passes the bytes of one request to a connection, which handles it."""
    connection.buffer()[: len(data)] = data
    connection.received(len(data))


def cpu(connection: Connection, frames: Iterable[bytes]) -> float:
    """Returns the seconds of CPU in which the broker handles the requests."""
    began = time.process_time()
    for request in frames:
        feed(connection, request)
        connection.take_output()
    return time.process_time() - began


def classic_rebalance(members: int = MEMBERS) -> float:
    """Returns the seconds of CPU for a rebalance in which all members rejoin and sync."""
    broker = Broker()
    connections = [broker.connect() for _ in range(members)]
    protocols = [JoinGroupRequestProtocol(name="range", metadata=bytes(60))]

    def join(ids: list[str]) -> tuple[float, list[str], int]:
        spent = 0.0
        for connection, member_id in zip(connections, ids, strict=True):
            request = JoinGroupRequest(
                group_id="g",
                member_id=member_id,
                session_timeout_ms=45_000,
                rebalance_timeout_ms=300_000,
                protocol_type="consumer",
                protocols=protocols,
            )
            data = frame(JOIN_GROUP, 3, request)
            began = time.process_time()
            feed(connection, data)
            spent += time.process_time() - began
        began = time.process_time()
        broker.core.advance(broker.timers.now_ms)
        spent += time.process_time() - began
        responses = [decode_response(JOIN_GROUP, 3, memoryview(b"".join(connection.take_output())[4:]))[1] for connection in connections]
        return spent, [response.member_id for response in responses], responses[0].generation_id

    _, ids, generation = join([""] * members)
    assignments = [SyncGroupRequestAssignment(member_id=member_id, assignment=bytes(60)) for member_id in ids]

    def sync(generation: int) -> float:
        spent = 0.0
        for number, (connection, member_id) in enumerate(zip(connections, ids, strict=True)):
            request = SyncGroupRequest(
                group_id="g", generation_id=generation, member_id=member_id, assignments=[] if number else assignments
            )
            spent += cpu(connection, [frame(SYNC_GROUP, 3, request)])
        return spent

    sync(generation)
    spent, _, generation = join(ids)
    return spent + sync(generation)


def classic_heartbeat() -> float:
    """Returns the seconds of CPU for a heartbeat of one member of a stable group."""
    broker = Broker()
    connection = broker.connect()
    join = JoinGroupRequest(
        group_id="g",
        member_id="",
        session_timeout_ms=45_000,
        rebalance_timeout_ms=300_000,
        protocol_type="consumer",
        protocols=[JoinGroupRequestProtocol(name="range", metadata=b"")],
    )
    feed(connection, frame(JOIN_GROUP, 3, join))
    broker.core.advance(broker.timers.now_ms)
    member_id = decode_response(JOIN_GROUP, 3, memoryview(b"".join(connection.take_output())[4:]))[1].member_id
    sync = SyncGroupRequest(group_id="g", generation_id=1, member_id=member_id, assignments=[])
    feed(connection, frame(SYNC_GROUP, 3, sync))
    connection.take_output()
    beat = frame(HEARTBEAT, 4, HeartbeatRequest(group_id="g", generation_id=1, member_id=member_id))
    return cpu(connection, [beat] * BEATS) / BEATS


def join_request(group_id: str, member_id: str) -> bytes:
    request = ConsumerGroupHeartbeatRequest(
        group_id=group_id,
        member_id=member_id,
        member_epoch=0,
        rebalance_timeout_ms=300_000,
        subscribed_topic_names=["t"],
        topic_partitions=[],
    )
    return frame(CONSUMER_GROUP_HEARTBEAT, 1, request)


def consumer_heartbeat() -> float:
    """Returns the seconds of CPU for a heartbeat of one member with MEMBERS partitions."""
    broker = Broker()
    connection = broker.connect()
    cpu(connection, [join_request("g", "m")])
    beat = ConsumerGroupHeartbeatRequest(group_id="g", member_id="m", member_epoch=2)
    return cpu(connection, [frame(CONSUMER_GROUP_HEARTBEAT, 1, beat)] * BEATS) / BEATS


def consumer_rebalance() -> float:
    """Returns the seconds of CPU until MEMBERS members, which join one by one, have their target assignments."""
    broker = Broker()
    connection = broker.connect()
    names = [f"m{number}" for number in range(MEMBERS)]
    spent = cpu(connection, [join_request("g", name) for name in names])
    group = broker.cluster.groups.get("g")
    assert isinstance(group, ConsumerGroup)
    for _ in range(4):
        broker.core.advance(broker.timers.now_ms + 1000)
        for name in names:
            member = group.members[name]
            owned = [TopicPartitions(topic_id=broker.topic.id, partitions=[index for _, index in member.assigned])]
            beat = ConsumerGroupHeartbeatRequest(group_id="g", member_id=name, member_epoch=member.epoch, topic_partitions=owned)
            spent += cpu(connection, [frame(CONSUMER_GROUP_HEARTBEAT, 1, beat)])
    assert group.state.value == "Stable"
    return spent


def commit() -> float:
    """Returns the seconds of CPU for a commit of one partition by a consumer without group management."""
    broker = Broker()
    connection = broker.connect()
    partition = OffsetCommitRequestPartition(partition_index=0, committed_offset=5, committed_metadata="")
    topics = [OffsetCommitRequestTopic(name="t", partitions=[partition])]
    request = frame(OFFSET_COMMIT, 9, OffsetCommitRequest(group_id="g", member_id="", topics=topics))
    return cpu(connection, [request] * BEATS) / BEATS


def idle_groups() -> int:
    """Returns the bytes of GROUPS groups without members, each with one committed offset."""
    broker = Broker()
    groups = broker.cluster.groups
    tracemalloc.start()
    for number in range(GROUPS):
        group_id = f"group-{number}"
        groups.offsets.commit(group_id, {("t", 0): CommittedOffset(5, -1, "", 0)})
    used, _ = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    return used


def main() -> None:
    print(f"rebalance of {MEMBERS} classic members      {classic_rebalance() * 1000:8.1f} ms")
    print(f"rebalance of {10 * MEMBERS} classic members     {classic_rebalance(10 * MEMBERS) * 1000:8.1f} ms")
    print(f"rebalance of {MEMBERS} consumer members     {consumer_rebalance() * 1000:8.1f} ms")
    print(f"classic heartbeat                 {classic_heartbeat() * 1e6:8.1f} µs")
    print(f"consumer heartbeat                {consumer_heartbeat() * 1e6:8.1f} µs")
    print(f"commit of one partition           {commit() * 1e6:8.1f} µs")
    print(f"{GROUPS} idle groups                {idle_groups() / 2**20:8.1f} MiB")


if __name__ == "__main__":
    main()
