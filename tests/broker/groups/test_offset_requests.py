"""Committed offsets of groups: checks, commits and deletion."""

from __future__ import annotations

import pytest

from odradek.broker.groups.classic.messages import Leave
from odradek.protocol.errors import ErrorCode
from tests.broker.groups.scene import MINUTE_MS, SUBSCRIBED_TO_T, WEEK_MS, Scene


def test_commit_to_empty_group_id_is_stored() -> None:
    scene = Scene()
    assert scene.groups.offsets.check_commit("", "", None, -1) is ErrorCode.NONE
    scene.commit("", "t", 0, 5)
    assert scene.committed("") == [("t", 0, 5)]


def test_metadata_above_limit_is_refused() -> None:
    scene = Scene(offset_metadata_max_bytes=3)
    assert scene.groups.offsets.check_metadata("abc") is ErrorCode.NONE
    assert scene.groups.offsets.check_metadata("abcd") is ErrorCode.OFFSET_METADATA_TOO_LARGE


def test_check_commit_creates_no_group() -> None:
    scene = Scene()
    assert scene.groups.offsets.check_commit("g", "", None, -1) is ErrorCode.NONE
    assert scene.groups.offsets.check_transactional_commit("g", "", None, -1, []) is ErrorCode.NONE
    assert list(scene.groups) == []
    scene.commit("g", "t", 0, 5)
    assert [group.group_id for group in scene.groups] == ["g"]


def test_topic_deletion_deletes_its_offsets() -> None:
    scene = Scene()
    for group_id in ("g", "h"):
        scene.groups.offsets.check_commit(group_id, "", None, -1)
        scene.commit(group_id, "t", 0, 5)
        scene.commit(group_id, "u", 0, 6)
    scene.groups.offsets.topic_deleted("t")
    assert scene.committed("g") == scene.committed("h") == [("u", 0, 6)]


def test_offset_of_group_without_members_expires_after_commit() -> None:
    scene = Scene()
    scene.groups.offsets.check_commit("g", "", None, -1)
    scene.commit("g", "t", 0, 5)
    scene.advance(WEEK_MS // 2)
    scene.commit("g", "t", 1, 6)
    scene.advance(WEEK_MS // 2 - 1)
    assert len(scene.committed()) == 2
    scene.advance(10 * MINUTE_MS)  # the check runs every ten minutes
    assert scene.committed() == [("t", 1, 6)]
    scene.advance(WEEK_MS)
    assert scene.committed() == []
    assert list(scene.groups) == []
    assert len(scene.timers) == 0


def test_offset_of_empty_group_expires_after_last_leave() -> None:
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


def test_offset_of_unsubscribed_topic_expires_after_commit() -> None:
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
def test_offset_in_group_of_unknown_topics_does_not_expire(metadata: bytes, kind: str) -> None:
    scene = Scene()
    member = scene.join(session_timeout_ms=1_800_000, metadata=metadata, kind=kind).member_id
    scene.sync(member)
    scene.commit("g", "u", 0, 6)
    scene.live(member, 2 * WEEK_MS)
    assert scene.committed() == [("u", 0, 6)]
    group = scene.groups.get("g")
    assert group is not None
    assert group.subscribes_to("u") == (kind == "consumer")


def test_offset_with_retention_time_expires_at_that_time() -> None:
    scene = Scene()
    scene.groups.offsets.check_commit("g", "", None, -1)
    scene.commit("g", "t", 0, 5, expires_ms=scene.timers.now_ms + 30 * MINUTE_MS)
    scene.commit("g", "t", 1, 6)
    scene.advance(29 * MINUTE_MS)
    assert len(scene.committed()) == 2
    scene.advance(MINUTE_MS)
    assert scene.committed() == [("t", 1, 6)]


def test_offset_committed_later_may_expire_earlier() -> None:
    scene = Scene()
    scene.groups.offsets.check_commit("g", "", None, -1)
    scene.commit("g", "t", 0, 5)
    scene.advance(20 * MINUTE_MS)  # a check finds that the first offset is valid for nearly a week
    scene.commit("g", "t", 1, 6, expires_ms=scene.timers.now_ms + 5 * MINUTE_MS)
    scene.advance(10 * MINUTE_MS)
    assert scene.committed() == [("t", 0, 5)]


def test_shorter_retention_expires_checked_offsets() -> None:
    scene = Scene()
    scene.groups.offsets.check_commit("g", "", None, -1)
    scene.commit("g", "t", 0, 5)
    scene.advance(20 * MINUTE_MS)
    scene.groups.reload(scene.groups.settings._replace(offsets_retention_minutes=1))
    scene.advance(10 * MINUTE_MS)
    assert list(scene.groups) == []


def test_commit_to_an_empty_group_expires_with_the_group() -> None:
    scene = Scene()
    member = scene.join(session_timeout_ms=1_800_000).member_id
    scene.sync(member)
    scene.commit("g", "t", 1, 6)
    scene.groups.classic.leave("g", [Leave(member_id=member)])
    scene.advance(WEEK_MS // 2)
    scene.commit("g", "t", 0, 5)
    scene.advance(WEEK_MS // 2 + 10 * MINUTE_MS)
    assert list(scene.groups) == []
