"""Deletion of groups, and the timer that deletes expired offsets and unused groups."""

from __future__ import annotations

import subprocess
import sys

from odradek.broker.groups.classic.messages import Join, JoinResult, Leave, Protocol
from odradek.broker.scheduling.waiting import Reply
from odradek.protocol.errors import ErrorCode
from tests.broker.groups.scene import MINUTE_MS, Scene


def test_group_deletion_deletes_its_offsets() -> None:
    scene = Scene()
    member = scene.join().member_id
    assert scene.groups.delete("g") is ErrorCode.NON_EMPTY_GROUP
    scene.groups.classic.leave("g", [Leave(member_id=member)])
    scene.groups.offsets.check_commit("g", "", None, -1)
    scene.commit("g", "t", 0, 5)
    assert scene.groups.delete("g") is ErrorCode.NONE
    assert scene.committed() == []
    assert list(scene.groups) == []


def test_group_with_only_pending_member_ids_is_deleted() -> None:
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


def test_classic_and_consumer_groups_import_no_other_kinds() -> None:
    """Most programs use neither share nor streams groups, whose modules take as long to import as the rest."""
    code = "import sys, odradek.broker.groups.coordinator; print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, env={"PYTHONPATH": ":".join(sys.path)})
    kinds = ("odradek.broker.groups.share", "odradek.broker.groups.streams", "odradek.broker.kafka_quirks.re2")
    assert not [name for name in done.stdout.split() if name.startswith(kinds)]
