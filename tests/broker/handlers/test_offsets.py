"""OffsetCommit and OffsetFetch: errors and differences between versions. Apache Kafka 4.3.1 gives the same answers."""

from __future__ import annotations

from typing import Any

import pytest

from odradek.protocol.errors import ErrorCode
from odradek.protocol.messages.find_coordinator import FIND_COORDINATOR, FindCoordinatorRequest
from odradek.protocol.messages.join_group import JOIN_GROUP, JoinGroupRequest, JoinGroupRequestProtocol
from odradek.protocol.messages.offset_commit import (
    OFFSET_COMMIT,
    OffsetCommitRequest,
    OffsetCommitRequestPartition,
    OffsetCommitRequestTopic,
)
from odradek.protocol.messages.offset_fetch import (
    OFFSET_FETCH,
    OffsetFetchRequest,
    OffsetFetchRequestGroup,
    OffsetFetchRequestTopic,
    OffsetFetchRequestTopics,
)
from tests.broker.harness import Client, World

HERE, ELSEWHERE = 1, 2
UNKNOWN_ID = b"no such topic id"


def to_commit(offset: int, partition: int = 0, metadata: str | None = "", leader_epoch: int = -1) -> OffsetCommitRequestPartition:
    return OffsetCommitRequestPartition(
        partition_index=partition, committed_offset=offset, committed_leader_epoch=leader_epoch, committed_metadata=metadata
    )


class Scene:
    """Two nodes and a topic `t` of two partitions. The first node coordinates `group`."""

    def __init__(self) -> None:
        self.world = World(nodes=2)
        self.client = self.world.client(HERE)
        self.client.call(FIND_COORDINATOR, 4, FindCoordinatorRequest(key_type=0, coordinator_keys=["any"]))
        self.topic = self.world.cluster.topics.create("t", 2)
        coordinator = self.world.cluster.coordinator_log.coordinator
        self.group = next(name for name in (f"group-{number}" for number in range(100)) if coordinator(name) == HERE)

    def commit(self, version: int, *partitions: OffsetCommitRequestPartition, client: Client | None = None, **options: Any) -> list[int]:
        """Commits offsets of topic t and returns the error of each partition."""
        topic = OffsetCommitRequestTopic(name="t", topic_id=self.topic.id, partitions=list(partitions))
        request = OffsetCommitRequest(**({"group_id": self.group, "member_id": "", "topics": [topic]} | options))
        response = (client or self.client).call(OFFSET_COMMIT, version, request)
        return [partition.error_code for answered in response.topics for partition in answered.partitions]

    def fetch(self, version: int, *partitions: int, name: str = "t", client: Client | None = None) -> Any:
        """Returns the response for one topic, or for all topics if no partition is named."""
        return (client or self.client).call(OFFSET_FETCH, version, self.fetch_request(version, partitions, name))

    def fetch_request(self, version: int, partitions: tuple[int, ...], name: str) -> OffsetFetchRequest:
        indexes = list(partitions)
        if version < 8:
            topics = [OffsetFetchRequestTopic(name=name, partition_indexes=indexes)] if partitions else None
            return OffsetFetchRequest(group_id=self.group, topics=topics)
        topic_id = self.topic.id if name == "t" else UNKNOWN_ID
        wanted = [OffsetFetchRequestTopics(name=name, topic_id=topic_id, partition_indexes=indexes)] if partitions else None
        return OffsetFetchRequest(groups=[OffsetFetchRequestGroup(group_id=self.group, topics=wanted)])

    def fetched(self, version: int, *partitions: int) -> list[tuple[int, int, int, str]]:
        """Returns (partition, offset, leader epoch, metadata) for each partition."""
        response = self.fetch(version, *partitions)
        (answer,) = response.groups if version >= 8 else [response]
        assert answer.error_code == 0
        found = [partition for topic in answer.topics for partition in topic.partitions]
        assert not any(partition.error_code for partition in found)
        return [(each.partition_index, each.committed_offset, each.committed_leader_epoch, each.metadata) for each in found]

    def member(self) -> str:
        """Creates a group of one member without an assignment, and returns the member id."""
        protocols = [JoinGroupRequestProtocol(name="range", metadata=b"")]
        request = JoinGroupRequest(
            group_id=self.group,
            session_timeout_ms=10_000,
            member_id="",
            protocol_type="consumer",
            protocols=protocols,
            group_instance_id="me",
        )
        self.client.send(JOIN_GROUP, 5, request)
        self.world.advance(0)
        return str(self.client.receive().member_id)


@pytest.fixture
def scene() -> Scene:
    return Scene()


@pytest.mark.parametrize("version", range(2, 11))
def test_commit_without_generation_is_stored(scene: Scene, version: int) -> None:
    assert scene.commit(version, to_commit(5, 0, "why", 3), to_commit(7, 1, None)) == [0, 0]
    epoch = 3 if version >= 6 else -1
    assert scene.fetched(7, 0, 1) == [(0, 5, epoch, "why"), (1, 7, -1, "")]


@pytest.mark.parametrize("version", range(1, 11))
def test_fetch_of_partitions_returns_offsets(scene: Scene, version: int) -> None:
    scene.commit(8, to_commit(5, 1, "why", 3))
    epoch = 3 if version >= 5 else -1
    assert scene.fetched(version, 0, 1, 9) == [(0, -1, -1, ""), (1, 5, epoch, "why"), (9, -1, -1, "")]


@pytest.mark.parametrize("version", range(2, 11))
def test_fetch_without_topics_returns_all_offsets(scene: Scene, version: int) -> None:
    assert scene.fetched(version) == []
    scene.commit(8, to_commit(5, 1))
    assert scene.fetched(version) == [(1, 5, -1, "")]


def test_fetch_v10_uses_topic_ids(scene: Scene) -> None:
    scene.commit(10, to_commit(5))
    for partitions in [(), (0,)]:
        (topic,) = scene.fetch(10, *partitions).groups[0].topics
        assert (topic.topic_id, topic.partitions[0].committed_offset) == (scene.topic.id, 5)
    (topic,) = scene.fetch(10, 0, 1, name="unknown").groups[0].topics
    assert topic.topic_id == UNKNOWN_ID
    assert [(each.partition_index, each.committed_offset, each.error_code) for each in topic.partitions] == [(0, -1, 100), (1, -1, 100)]


def test_fetch_of_unknown_topic_returns_no_offset(scene: Scene) -> None:
    (topic,) = scene.fetch(9, 0, name="unknown").groups[0].topics
    assert (topic.name, topic.partitions[0].committed_offset, topic.partitions[0].error_code) == ("unknown", -1, 0)


@pytest.mark.parametrize(("version", "error"), [(9, ErrorCode.UNKNOWN_TOPIC_OR_PARTITION), (10, ErrorCode.UNKNOWN_TOPIC_ID)])
def test_commit_of_unknown_topics_returns_error_for_each(scene: Scene, version: int, error: ErrorCode) -> None:
    topics = [
        OffsetCommitRequestTopic(name="unknown", topic_id=UNKNOWN_ID, partitions=[to_commit(1)]),
        OffsetCommitRequestTopic(name="t", topic_id=scene.topic.id, partitions=[to_commit(2, 2), to_commit(3, 1)]),
    ]
    assert scene.commit(version, topics=topics) == [error, ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, ErrorCode.NONE]
    assert scene.fetched(9, 1) == [(1, 3, -1, "")]


def test_commit_of_unknown_partition_creates_no_group(scene: Scene) -> None:
    assert scene.commit(9, to_commit(1, 2)) == [ErrorCode.UNKNOWN_TOPIC_OR_PARTITION]
    assert list(scene.world.cluster.groups) == []


def test_commit_with_long_metadata_is_refused(scene: Scene) -> None:
    assert scene.commit(9, to_commit(1, 0, "x" * 4096), to_commit(2, 1, "x" * 4097)) == [0, ErrorCode.OFFSET_METADATA_TOO_LARGE]


@pytest.mark.parametrize(("version", "error"), [(8, ErrorCode.ILLEGAL_GENERATION), (9, ErrorCode.GROUP_ID_NOT_FOUND)])
def test_commit_with_generation_to_unknown_group_is_refused(scene: Scene, version: int, error: ErrorCode) -> None:
    assert scene.commit(version, to_commit(1), generation_id_or_member_epoch=0, member_id="who") == [error]


@pytest.mark.parametrize(
    ("options", "error"),
    [
        ({"generation_id_or_member_epoch": 1}, ErrorCode.REBALANCE_IN_PROGRESS),
        ({"generation_id_or_member_epoch": 2}, ErrorCode.ILLEGAL_GENERATION),
        ({}, ErrorCode.ILLEGAL_GENERATION),
        ({"member_id": ""}, ErrorCode.UNKNOWN_MEMBER_ID),
        ({"member_id": "who", "generation_id_or_member_epoch": 1}, ErrorCode.UNKNOWN_MEMBER_ID),
        ({"member_id": "who", "group_instance_id": "me", "generation_id_or_member_epoch": 1}, ErrorCode.FENCED_INSTANCE_ID),
    ],
)
def test_commit_refused_by_group_sets_error_on_all_partitions(scene: Scene, options: dict[str, Any], error: ErrorCode) -> None:
    identity = {"member_id": scene.member()} | options
    assert scene.commit(9, to_commit(1), to_commit(1, 1), to_commit(1, 2), **identity) == [
        ErrorCode.UNKNOWN_TOPIC_OR_PARTITION,
        error,
        error,
    ]
    assert scene.fetched(9) == []


def test_commit_with_retention_time_expires(scene: Scene) -> None:
    scene.commit(4, to_commit(1, 0), retention_time_ms=60_000)
    scene.commit(4, to_commit(2, 1), retention_time_ms=-1)
    scene.world.advance(599_999)
    assert scene.fetched(9) == [(0, 1, -1, ""), (1, 2, -1, "")]
    scene.world.advance(1)
    assert scene.fetched(9) == [(1, 2, -1, "")]


def test_fetch_of_recreated_topic_returns_no_offset(scene: Scene) -> None:
    scene.commit(9, to_commit(1))
    scene.world.cluster.delete_topic(scene.topic)
    scene.topic = scene.world.cluster.topics.create("t", 2)
    assert scene.fetched(9) == []
    assert scene.fetched(10, 0) == [(0, -1, -1, "")]


def test_fetch_of_several_groups_returns_error_for_each(scene: Scene) -> None:
    scene.commit(9, to_commit(1))
    coordinator = scene.world.cluster.coordinator_log.coordinator
    elsewhere = next(name for name in (f"group-{number}" for number in range(100)) if coordinator(name) != HERE)
    groups = [OffsetFetchRequestGroup(group_id=name, topics=None) for name in (scene.group, elsewhere)]
    answers = scene.client.call(OFFSET_FETCH, 8, OffsetFetchRequest(groups=groups)).groups
    assert [(group.group_id, group.error_code, len(group.topics)) for group in answers] == [
        (scene.group, 0, 1),
        (elsewhere, ErrorCode.NOT_COORDINATOR, 0),
    ]


def test_commit_to_other_broker_is_refused(scene: Scene) -> None:
    wrong = scene.world.client(ELSEWHERE)
    assert scene.commit(9, to_commit(1), to_commit(2, 2), client=wrong) == [ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, ErrorCode.NOT_COORDINATOR]
    assert scene.fetched(9) == []


def test_fetch_from_other_broker_is_refused(scene: Scene) -> None:
    scene.commit(9, to_commit(1))
    wrong = scene.world.client(ELSEWHERE)
    (topic,) = scene.fetch(1, 0, 1, client=wrong).topics
    assert [(each.committed_offset, each.error_code) for each in topic.partitions] == [(-1, ErrorCode.NOT_COORDINATOR)] * 2
    for version in (2, 7):
        response = scene.fetch(version, 0, client=wrong)
        assert (response.error_code, response.topics) == (ErrorCode.NOT_COORDINATOR, [])
