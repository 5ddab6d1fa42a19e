"""Structures that several messages share."""

from __future__ import annotations

from ..schema import Int32, Message


class NodeEndpoint(Message):
    """Where a new leader listens (KIP-951)."""

    node_id: Int32
    host: str
    port: Int32
    rack: str | None = None


class LeaderIdAndEpoch(Message):
    """The leader that the client should ask instead (KIP-951)."""

    leader_id: Int32 = -1
    leader_epoch: Int32 = -1
