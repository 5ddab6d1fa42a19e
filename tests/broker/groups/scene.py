"""Groups without a broker: a cluster of topics only (`FakeCluster`), and the requests of one client (`Scene`)."""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from random import Random
from typing import Any

from odradek.broker.groups.classic.messages import Join, JoinResult, Protocol, Sync, SyncResult
from odradek.broker.groups.cluster_view import UNINITIALIZED_START_OFFSET, ShareStateSummary
from odradek.broker.groups.consumer.regex_resolutions import Resolutions
from odradek.broker.groups.coordinator import Groups, GroupSettings
from odradek.broker.groups.offsets import CommittedOffset
from odradek.broker.releases.release import Release
from odradek.broker.scheduling.timers import Timers
from odradek.broker.scheduling.waiting import Background, Reply
from odradek.broker.settings.values import BrokerConfig, GroupConfig, TopicConfig
from odradek.broker.topics.partition import Partition, Topic
from odradek.broker.transactions.transaction import Producer
from odradek.protocol.errors import ErrorCode, KafkaError
from odradek.protocol.stored.coordinator_records import CoordinatorRecord

MINUTE_MS = 60_000
WEEK_MS = 10_080 * MINUTE_MS
SUBSCRIBED_TO_T = b"\x00\x03\x00\x00\x00\x01\x00\x01t\xff\xff\xff\xff\x00\x00\x00\x00"
"""A `ConsumerProtocolSubscription` of version 3 to topic t."""


class FakeShareStates:
    """A `SharePartitionsView` in memory. While it `is_broken`, all changes fail as if the share coordinator had moved."""

    def __init__(self) -> None:
        self.states: dict[tuple[str, bytes, int], ShareStateSummary] = {}
        self.is_broken = False

    def _check(self) -> None:
        if self.is_broken:
            raise KafkaError(ErrorCode.NOT_COORDINATOR)

    def initialize(self, group_id: str, topic_id: bytes, partition: int, start_offset: int, state_epoch: int) -> None:
        self._check()
        count = -1 if start_offset == UNINITIALIZED_START_OFFSET else 0
        self.states[group_id, topic_id, partition] = ShareStateSummary(state_epoch, 0, start_offset, count)

    set_start_offset = initialize

    def delete(self, group_id: str, topic_id: bytes, partition: int) -> None:
        self._check()
        self.states.pop((group_id, topic_id, partition), None)

    def summary(self, group_id: str, topic_id: bytes, partition: int) -> ShareStateSummary | None:
        return self.states.get((group_id, topic_id, partition))


class FakeCluster:
    """A `ClusterView` without nodes. `topics` maps names to numbers of partitions; `written` are the records by group."""

    def __init__(self, topics: Mapping[str, int] | None = None) -> None:
        self.topics: dict[str, Topic] = {}
        self.topics_by_id: dict[bytes, Topic] = {}
        self.topics_version = 0
        self.config = BrokerConfig({})
        self.release: Release | None = None
        self.group_configs: dict[str, GroupConfig] = {}
        self.share_states = FakeShareStates()
        self.background: list[Background] = []
        """Background work, which a test runs if it needs the result."""
        self.regexes = Resolutions(self.topics, self.background.append)
        self.told: list[tuple[str, str, dict[str, str | int]]] = []
        self.written: list[tuple[str, list[CoordinatorRecord]]] = []
        for name, partitions in (topics or {}).items():
            self.create(name, partitions)

    def create(self, name: str, partitions: int) -> None:
        """Creates a topic, or adds partitions to an existing one."""
        topic = self.topics.get(name) or Topic(name, Random(name).randbytes(16), TopicConfig(BrokerConfig({}), {}))
        topic.add_partitions([Partition(topic, index, [1], [1]) for index in range(len(topic.partitions), partitions)])
        self.topics[name] = self.topics_by_id[topic.id] = topic
        self.topics_version += 1

    def delete(self, name: str) -> None:
        del self.topics_by_id[self.topics.pop(name).id]
        self.topics_version += 1

    def name(self, topic_id: bytes) -> str:
        topic = self.topics_by_id.get(topic_id)
        return topic.name if topic else "?"

    def configure_group(self, group_id: str, configs: Mapping[str, str]) -> None:
        self.group_configs[group_id] = GroupConfig(BrokerConfig({}), dict(configs))

    def tell(self, kind: str, text: str, **fields: str | int) -> None:
        self.told.append((kind, text, fields))

    def write(self, group_id: str, records: Sequence[CoordinatorRecord], producer: Producer | None = None) -> None:
        self.written.append((group_id, list(records)))


class Scene:
    """The groups of a `FakeCluster` and the requests of one client, by default to the group g."""

    def __init__(self, **settings: Any) -> None:
        self.timers = Timers(1_000)
        self.groups = Groups(self.timers, random.Random(0), GroupSettings(**settings), FakeCluster())

    def commit(self, group_id: str, topic: str, partition: int, offset: int, expires_ms: int | None = None) -> None:
        self.groups.offsets.commit(group_id, {(topic, partition): CommittedOffset(offset, -1, "", self.timers.now_ms, expires_ms)})

    def advance(self, delay_ms: int) -> None:
        self.timers.advance(self.timers.now_ms + delay_ms)

    def join(
        self, group_id: str = "g", *, session_timeout_ms: int = 10_000, member_id: str = "", metadata: bytes = b"", kind: str = "consumer"
    ) -> JoinResult:
        reply: Reply[JoinResult] = Reply()
        protocols = (Protocol("range", metadata),)
        join = Join(
            protocol_type=kind,
            protocols=protocols,
            session_timeout_ms=session_timeout_ms,
            rebalance_timeout_ms=9_000,
            member_id=member_id,
            client_id="c",
        )
        self.groups.classic.join(group_id, join, reply)
        self.advance(0)
        return reply.value

    def sync(self, member_id: str, group_id: str = "g") -> SyncResult:
        reply: Reply[SyncResult] = Reply()
        self.groups.classic.sync(group_id, Sync(member_id=member_id, generation_id=1, assignments={}), reply)
        return reply.value

    def live(self, member_id: str, duration_ms: int) -> None:
        """Advances the time while the member sends heartbeats."""
        end_ms = self.timers.now_ms + duration_ms
        while self.timers.now_ms < end_ms:
            assert self.groups.classic.heartbeat("g", member_id, None, 1) is ErrorCode.NONE
            self.advance(min(1_700_000, end_ms - self.timers.now_ms))

    def committed(self, group_id: str = "g") -> list[tuple[str, int, int]]:
        return [
            (topic, partition, commit.offset)
            for topic, partitions in self.groups.offsets.of(group_id)
            for partition, commit in partitions.items()
        ]
