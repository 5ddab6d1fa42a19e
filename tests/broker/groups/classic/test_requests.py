"""The checks of requests of the classic protocol that precede the group's own."""

from __future__ import annotations

import re

import pytest

from odradek.broker.groups.classic.messages import Leave
from odradek.protocol.errors import ErrorCode
from tests.broker.groups.scene import Scene


@pytest.mark.parametrize(
    ("session_timeout_ms", "error"),
    [
        (5_999, ErrorCode.INVALID_SESSION_TIMEOUT),
        (6_000, ErrorCode.NONE),
        (1_800_000, ErrorCode.NONE),
        (1_800_001, ErrorCode.INVALID_SESSION_TIMEOUT),
    ],
)
def test_join_with_session_timeout_out_of_bounds_is_refused(session_timeout_ms: int, error: ErrorCode) -> None:
    assert Scene().join(session_timeout_ms=session_timeout_ms).error is error


def test_generated_member_id_is_client_id_and_uuid() -> None:
    ids = [Scene().join().member_id, Scene().join().member_id]
    assert re.fullmatch("c-[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}", ids[0])
    assert ids[0] == ids[1]  # because the seed is the same


def test_requests_to_empty_group_id_are_refused() -> None:
    scene = Scene()
    scene.groups.offsets.check_commit("", "", None, -1)  # commits are accepted, see test_offset_requests
    assert scene.join("").error is ErrorCode.INVALID_GROUP_ID
    assert scene.sync("m", "").error is ErrorCode.INVALID_GROUP_ID
    assert scene.groups.classic.heartbeat("", "m", None, 1) is ErrorCode.INVALID_GROUP_ID
    assert scene.groups.classic.leave("", [Leave(member_id="m")]) == [ErrorCode.INVALID_GROUP_ID]


def test_requests_to_unknown_group_are_refused() -> None:
    scene = Scene()
    assert scene.join(member_id="m").error is ErrorCode.UNKNOWN_MEMBER_ID
    assert scene.sync("m").error is ErrorCode.UNKNOWN_MEMBER_ID
    assert scene.groups.classic.heartbeat("g", "m", None, 1) is ErrorCode.UNKNOWN_MEMBER_ID
    assert scene.groups.classic.leave("g", [Leave(member_id="m")]) == [ErrorCode.UNKNOWN_MEMBER_ID]
    assert scene.groups.offsets.check_commit("g", "m", None, 1) is ErrorCode.GROUP_ID_NOT_FOUND
    assert scene.groups.delete("g") is ErrorCode.GROUP_ID_NOT_FOUND
    assert scene.groups.get("g") is None
    assert list(scene.groups) == []
