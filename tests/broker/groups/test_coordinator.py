"""What `Groups` adds to its groups: names, settings, committed offsets and their retention."""

from __future__ import annotations

import random
import re

import pytest

from odradek.broker.groups.classic.messages import Join, JoinResult, Leave, Protocol, Sync, SyncResult
from odradek.broker.groups.classic.subscriptions import subscribed_topics
from odradek.broker.groups.coordinator import Groups, GroupSettings
from odradek.broker.groups.offsets import CommittedOffset
from odradek.broker.scheduling.timers import Timers
from odradek.broker.scheduling.waiting import Reply
from odradek.broker.settings.values import BrokerConfig
from odradek.protocol.errors import ErrorCode
from tests.groups.scene import ClusterView

MINUTE_MS = 60_000
WEEK_MS = 10_080 * MINUTE_MS
SUBSCRIBED_TO_T = b"\x00\x03\x00\x00\x00\x01\x00\x01t\xff\xff\xff\xff\x00\x00\x00\x00"


class Scene:
    def __init__(self, **settings: int) -> None:
        self.timers = Timers(1_000)
        self.groups = Groups(self.timers, random.Random(0), GroupSettings(**settings), ClusterView())

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
        """Time goes on while the member sends heartbeats."""
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


def test_settings_are_the_brokers() -> None:
    config = BrokerConfig({"group.max.size": "7", "offsets.retention.minutes": "3"})
    assert GroupSettings.of(config) == GroupSettings(group_max_size=7, offsets_retention_minutes=3)


@pytest.mark.parametrize(
    ("session_timeout_ms", "error"),
    [
        (5_999, ErrorCode.INVALID_SESSION_TIMEOUT),
        (6_000, ErrorCode.NONE),
        (1_800_000, ErrorCode.NONE),
        (1_800_001, ErrorCode.INVALID_SESSION_TIMEOUT),
    ],
)
def test_session_timeouts_have_bounds(session_timeout_ms: int, error: ErrorCode) -> None:
    assert Scene().join(session_timeout_ms=session_timeout_ms).error is error


def test_member_ids_are_random_uuids_behind_the_client_id() -> None:
    ids = [Scene().join().member_id, Scene().join().member_id]
    assert re.fullmatch("c-[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}", ids[0])
    assert ids[0] == ids[1]  # of the same seed


def test_no_group_without_a_name() -> None:
    scene = Scene()
    scene.groups.offsets.check_commit("", "", None, -1)  # offsets may be stored there all the same
    assert scene.join("").error is ErrorCode.INVALID_GROUP_ID
    assert scene.sync("m", "").error is ErrorCode.INVALID_GROUP_ID
    assert scene.groups.classic.heartbeat("", "m", None, 1) is ErrorCode.INVALID_GROUP_ID
    assert scene.groups.classic.leave("", [Leave(member_id="m")]) == [ErrorCode.INVALID_GROUP_ID]


def test_offsets_are_kept_even_below_the_empty_name() -> None:
    scene = Scene()
    assert scene.groups.offsets.check_commit("", "", None, -1) is ErrorCode.NONE
    scene.commit("", "t", 0, 5)
    assert scene.committed("") == [("t", 0, 5)]


def test_a_group_that_does_not_exist() -> None:
    scene = Scene()
    assert scene.join(member_id="m").error is ErrorCode.UNKNOWN_MEMBER_ID
    assert scene.sync("m").error is ErrorCode.UNKNOWN_MEMBER_ID
    assert scene.groups.classic.heartbeat("g", "m", None, 1) is ErrorCode.UNKNOWN_MEMBER_ID
    assert scene.groups.classic.leave("g", [Leave(member_id="m")]) == [ErrorCode.UNKNOWN_MEMBER_ID]
    assert scene.groups.offsets.check_commit("g", "m", None, 1) is ErrorCode.GROUP_ID_NOT_FOUND
    assert scene.groups.delete("g") is ErrorCode.GROUP_ID_NOT_FOUND
    assert scene.groups.get("g") is None
    assert list(scene.groups) == []


def test_metadata_has_a_limit() -> None:
    scene = Scene(offset_metadata_max_bytes=3)
    assert scene.groups.offsets.check_metadata("abc") is ErrorCode.NONE
    assert scene.groups.offsets.check_metadata("abcd") is ErrorCode.OFFSET_METADATA_TOO_LARGE


def test_check_commit_without_a_group_makes_none() -> None:
    scene = Scene()
    assert scene.groups.offsets.check_commit("g", "", None, -1) is ErrorCode.NONE
    assert scene.groups.offsets.check_transactional_commit("g", "", None, -1, []) is ErrorCode.NONE
    assert list(scene.groups) == []
    scene.commit("g", "t", 0, 5)
    assert [group.group_id for group in scene.groups] == ["g"]


def test_a_deleted_topic_takes_its_offsets_along() -> None:
    scene = Scene()
    for group_id in ("g", "h"):
        scene.groups.offsets.check_commit(group_id, "", None, -1)
        scene.commit(group_id, "t", 0, 5)
        scene.commit(group_id, "u", 0, 6)
    scene.groups.offsets.topic_deleted("t")
    assert scene.committed("g") == scene.committed("h") == [("u", 0, 6)]


def test_a_deleted_group_takes_its_offsets_along() -> None:
    scene = Scene()
    member = scene.join().member_id
    assert scene.groups.delete("g") is ErrorCode.NON_EMPTY_GROUP
    scene.groups.classic.leave("g", [Leave(member_id=member)])
    scene.groups.offsets.check_commit("g", "", None, -1)
    scene.commit("g", "t", 0, 5)
    assert scene.groups.delete("g") is ErrorCode.NONE
    assert scene.committed() == []
    assert list(scene.groups) == []


def test_a_simple_group_keeps_each_offset_for_a_week_from_its_commit() -> None:
    scene = Scene()
    scene.groups.offsets.check_commit("g", "", None, -1)
    scene.commit("g", "t", 0, 5)
    scene.advance(WEEK_MS // 2)
    scene.commit("g", "t", 1, 6)
    scene.advance(WEEK_MS // 2 - 1)
    assert len(scene.committed()) == 2
    scene.advance(10 * MINUTE_MS)  # it is looked after every ten minutes
    assert scene.committed() == [("t", 1, 6)]
    scene.advance(WEEK_MS)
    assert scene.committed() == []
    assert list(scene.groups) == []
    assert len(scene.timers) == 0


def test_an_empty_group_keeps_its_offsets_for_a_week_from_its_end() -> None:
    scene = Scene()
    member = scene.join(session_timeout_ms=1_800_000).member_id
    scene.sync(member)
    scene.commit("g", "t", 0, 5)
    scene.live(member, 2 * WEEK_MS)
    scene.groups.classic.leave("g", [Leave(member_id=member)])
    scene.advance(WEEK_MS - 10 * MINUTE_MS)
    assert len(scene.committed()) == 1
    scene.advance(20 * MINUTE_MS)
    assert list(scene.groups) == []


def test_a_consumer_group_forgets_topics_that_it_reads_no_more() -> None:
    scene = Scene()
    member = scene.join(session_timeout_ms=1_800_000, metadata=SUBSCRIBED_TO_T).member_id
    scene.sync(member)
    scene.commit("g", "t", 0, 5)
    scene.commit("g", "u", 0, 6)
    scene.live(member, WEEK_MS - 1)
    assert len(scene.committed()) == 2
    scene.live(member, 10 * MINUTE_MS)
    assert scene.committed() == [("t", 0, 5)]


@pytest.mark.parametrize(("metadata", "kind"), [(b"", "consumer"), (SUBSCRIBED_TO_T, "connect")])
def test_what_other_groups_read_is_not_known(metadata: bytes, kind: str) -> None:
    scene = Scene()
    member = scene.join(session_timeout_ms=1_800_000, metadata=metadata, kind=kind).member_id
    scene.sync(member)
    scene.commit("g", "u", 0, 6)
    scene.live(member, 2 * WEEK_MS)
    assert scene.committed() == [("u", 0, 6)]
    group = scene.groups.get("g")
    assert group is not None
    assert group.subscribes_to("u") == (kind == "consumer")


def test_a_retention_time_of_its_own() -> None:
    scene = Scene()
    scene.groups.offsets.check_commit("g", "", None, -1)
    scene.commit("g", "t", 0, 5, expires_ms=scene.timers.now_ms + 30 * MINUTE_MS)
    scene.commit("g", "t", 1, 6)
    scene.advance(29 * MINUTE_MS)
    assert len(scene.committed()) == 2
    scene.advance(MINUTE_MS)
    assert scene.committed() == [("t", 1, 6)]


def test_members_in_the_making_do_not_keep_a_group() -> None:
    scene = Scene()
    reply: Reply[JoinResult] = Reply()
    protocols = (Protocol("range", b""),)
    join = Join(
        protocol_type="consumer", protocols=protocols, session_timeout_ms=1_800_000, rebalance_timeout_ms=1, requires_known_member_id=True
    )
    scene.groups.classic.join("g", join, reply)
    assert reply.value.error is ErrorCode.MEMBER_ID_REQUIRED
    scene.advance(10 * MINUTE_MS)
    assert list(scene.groups) == []
    assert len(scene.timers) == 0


@pytest.mark.parametrize(
    "bad", [b"", b"\x00\x00\x00\x00\x00\x02\x00\x01t", b"\x00\x00\x00\x00\x00\x01\xff\xff", b"\x00\x00\x00\x00\x00\x01\x00\x01\xff"]
)
def test_subscriptions_that_cannot_be_read(bad: bytes) -> None:
    with pytest.raises(ValueError, match=r"subscription|decode"):
        subscribed_topics(bad)


def test_subscriptions_of_every_version_begin_alike() -> None:
    assert subscribed_topics(SUBSCRIBED_TO_T) == ["t"]
    assert subscribed_topics(b"\x00\x00\x00\x00\x00\x00") == []
