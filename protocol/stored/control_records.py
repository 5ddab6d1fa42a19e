"""The records of control batches: the ends of transactions, and those of the metadata log and its snapshots (Kafka's ControlRecordUtils).

The key consists of an int16 for its version and an int16 for the type of the record, and the value is a message.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import IntEnum
from typing import NamedTuple

from ..schema import Int16, Int32, Int64, Message, ProtocolError, UInt16, Uuid, field


class ControlType(IntEnum):
    """The types of control records (Kafka's ControlRecordType)."""

    ABORT = 0
    COMMIT = 1
    LEADER_CHANGE = 2
    SNAPSHOT_HEADER = 3
    SNAPSHOT_FOOTER = 4
    KRAFT_VERSION = 5
    KRAFT_VOTERS = 6


class EndTransactionMarker(Message):
    """The end of a transaction in a partition."""

    version: Int16 = 0
    coordinator_epoch: Int32


class LeaderChangeMessage(Message):
    """The begin of an epoch in the metadata log."""

    flexible_from = 0
    version: Int16
    leader_id: Int32
    voters: list[Voter]
    granting_voters: list[Voter]


class Voter(Message):
    """A controller that votes."""

    voter_id: Int32
    voter_directory_id: Uuid = field(since=1, default=bytes(16))


class SnapshotHeaderRecord(Message):
    """The first record of a snapshot."""

    flexible_from = 0
    version: Int16 = 0
    last_contained_log_timestamp: Int64


class SnapshotFooterRecord(Message):
    """The last record of a snapshot."""

    flexible_from = 0
    version: Int16 = 0


class KRaftVersionRecord(Message):
    """The level of kraft.version."""

    flexible_from = 0
    version: Int16
    kraft_version: Int16


class VotersRecord(Message):
    """The controllers of a dynamic quorum (KIP-853)."""

    flexible_from = 0
    version: Int16
    voters: list[DynamicVoter]


class DynamicVoter(Message):
    """A controller of a dynamic quorum."""

    voter_id: Int32
    voter_directory_id: Uuid
    endpoints: list[VoterEndpoint]
    kraft_version_feature: KRaftVersionRange


class VoterEndpoint(Message):
    """A listener of a controller."""

    name: str
    host: str
    port: UInt16


class KRaftVersionRange(Message):
    """The levels of kraft.version that a controller supports."""

    min_supported_version: Int16
    max_supported_version: Int16


_CONTROLS: Mapping[ControlType, type[Message]] = {
    ControlType.ABORT: EndTransactionMarker,
    ControlType.COMMIT: EndTransactionMarker,
    ControlType.LEADER_CHANGE: LeaderChangeMessage,
    ControlType.SNAPSHOT_HEADER: SnapshotHeaderRecord,
    ControlType.SNAPSHOT_FOOTER: SnapshotFooterRecord,
    ControlType.KRAFT_VERSION: KRaftVersionRecord,
    ControlType.KRAFT_VOTERS: VotersRecord,
}


class ControlRecord(NamedTuple):
    """The record of a control batch."""

    kind: ControlType
    message: Message


def write_control_record(record: ControlRecord) -> tuple[bytes, bytes]:
    """Returns key and value of a control record of version 0."""
    return bytes(2) + record.kind.to_bytes(2, "big"), record.message.encode(0)


def read_control_record(key: bytes | None, value: bytes | None) -> ControlRecord | None:
    """Returns a control record, None if its type is newer than Kafka 4.3. Raises ProtocolError for other bytes."""
    if key is None or len(key) < 4 or value is None:
        raise ProtocolError("a control record needs a key of 4 bytes and a value")
    kind = int.from_bytes(key[2:4], "big")
    if kind not in set(ControlType):
        return None
    message = _CONTROLS[ControlType(kind)]
    version = min(int.from_bytes(value[:2], "big"), 1) if message is LeaderChangeMessage else 0
    return ControlRecord(ControlType(kind), message.decode(version, value))
