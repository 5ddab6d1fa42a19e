"""Structures that several messages contain."""

from __future__ import annotations

from ..schema import Int32, Message


class NodeEndpoint(Message):
    """The address of a new leader (KIP-951)."""

    node_id: Int32
    host: str
    port: Int32
    rack: str | None = None


class LeaderIdAndEpoch(Message):
    """The current leader, for a client that sent its request to another broker (KIP-951)."""

    leader_id: Int32 = -1
    leader_epoch: Int32 = -1
