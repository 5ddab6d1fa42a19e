"""Committed offsets of groups: checks, commits and deletion."""

from __future__ import annotations

from odradek.protocol.errors import ErrorCode
from tests.broker.groups.scene import Scene


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
