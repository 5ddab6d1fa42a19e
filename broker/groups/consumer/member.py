"""One member of a consumer group: its metadata, its epoch and its current assignment."""

from __future__ import annotations

from collections.abc import Iterable
from enum import IntEnum
from operator import attrgetter
from typing import NamedTuple

from ....protocol.errors import ErrorCode, KafkaError
from ..classic.messages import Protocol
from .assignors import Slot
from .heartbeat import ConsumerHeartbeat


class MemberState(IntEnum):
    """The progress of a member towards its target assignment. The numbers are those in `__consumer_offsets`."""

    STABLE = 0
    """The member owns its target assignment of its epoch. A newer target assignment -> any of the three states."""

    UNREVOKED_PARTITIONS = 1
    """The member has to revoke partitions and stays in its epoch until it reports the revocation.

    It reports the revocation -> STABLE or UNRELEASED_PARTITIONS; its rebalance timeout ends -> it is removed.
    """

    UNRELEASED_PARTITIONS = 2
    """The member is in the target's epoch, but other members still own some of its partitions.

    Each heartbeat assigns the partitions that have become free; all are assigned -> STABLE.
    """


class ClassicProtocols(NamedTuple):
    """The fields of JoinGroup of a member that uses the classic protocol."""

    session_timeout_ms: int
    protocols: tuple[Protocol, ...]


class ConsumerMetadata(NamedTuple):
    """The attributes that a member sends (Kafka's ConsumerGroupMemberMetadata)."""

    instance_id: str | None
    rack_id: str | None
    rebalance_timeout_ms: int
    topics: frozenset[str]
    regex: str
    assignor: str | None
    client_id: str
    client_host: str
    classic: ClassicProtocols | None


_METADATA = attrgetter(*ConsumerMetadata._fields)


class CurrentAssignment(NamedTuple):
    """The attributes of a member that reconciliation changes (Kafka's ConsumerGroupCurrentMemberAssignment)."""

    epoch: int
    previous_epoch: int
    state: MemberState
    assigned: dict[Slot, int]
    revoking: dict[Slot, int]


class ConsumerMember:
    """One member. `assigned` and `revoking` map partitions to the epoch in which the member got each (KIP-1251)."""

    __slots__ = (
        "assigned",
        "assignor",
        "classic",
        "client_host",
        "client_id",
        "epoch",
        "instance_id",
        "member_id",
        "previous_epoch",
        "rack_id",
        "rebalance_timeout_ms",
        "regex",
        "revoking",
        "state",
        "topics",
    )

    def __init__(self, member_id: str) -> None:
        self.member_id = member_id
        self.instance_id: str | None = None
        self.rack_id: str | None = None
        self.client_id = self.client_host = ""
        self.rebalance_timeout_ms = -1
        self.topics: frozenset[str] = frozenset()
        self.regex = ""
        self.assignor: str | None = None
        self.classic: ClassicProtocols | None = None
        self.epoch = self.previous_epoch = 0
        self.state = MemberState.STABLE
        self.assigned: dict[Slot, int] = {}
        self.revoking: dict[Slot, int] = {}

    def successor(self, member_id: str) -> ConsumerMember:
        """Returns a copy with another member id and epoch 0, for a static member that joins again."""
        copy = ConsumerMember(member_id)
        for name in ConsumerMember.__slots__:
            setattr(copy, name, getattr(self, name))
        copy.member_id, copy.epoch, copy.previous_epoch = member_id, 0, 0
        copy.assigned, copy.revoking = dict(self.assigned), dict(self.revoking)
        return copy

    # Metadata

    @property
    def metadata(self) -> ConsumerMetadata:
        return ConsumerMetadata(*_METADATA(self))

    def update(self, heartbeat: ConsumerHeartbeat, classic: ClassicProtocols | None = None) -> bool:
        """Applies the metadata of a heartbeat or a JoinGroup. Returns whether the metadata has changed."""
        before, after = self.metadata, self._metadata_after(heartbeat, classic)
        for name, value in zip(ConsumerMetadata._fields, after, strict=True):
            setattr(self, name, value)
        return before != after

    def would_change(self, heartbeat: ConsumerHeartbeat) -> bool:
        """Returns the same as `update` without changing the member. Members of the classic protocol always count as changed."""
        return (
            self.classic is not None
            or (heartbeat.instance_id is not None and heartbeat.instance_id != self.instance_id)
            or (heartbeat.rack_id is not None and heartbeat.rack_id != self.rack_id)
            or (heartbeat.rebalance_timeout_ms not in (-1, self.rebalance_timeout_ms))
            or (heartbeat.topics is not None and heartbeat.topics != self.topics)
            or (heartbeat.regex is not None and heartbeat.regex != self.regex)
            or (heartbeat.assignor is not None and heartbeat.assignor != self.assignor)
            or heartbeat.client_id != self.client_id
            or heartbeat.client_host != self.client_host
        )

    def _metadata_after(self, heartbeat: ConsumerHeartbeat, classic: ClassicProtocols | None) -> ConsumerMetadata:
        return ConsumerMetadata(
            self.instance_id if heartbeat.instance_id is None else heartbeat.instance_id,
            self.rack_id if heartbeat.rack_id is None else heartbeat.rack_id,
            self.rebalance_timeout_ms if heartbeat.rebalance_timeout_ms == -1 else heartbeat.rebalance_timeout_ms,
            self.topics if heartbeat.topics is None else heartbeat.topics,
            self.regex if heartbeat.regex is None else heartbeat.regex,
            self.assignor if heartbeat.assignor is None else heartbeat.assignor,
            heartbeat.client_id,
            heartbeat.client_host,
            classic,
        )

    # Epochs and partitions

    def check_epoch(self, heartbeat: ConsumerHeartbeat) -> None:
        """Raises KafkaError with FENCED_MEMBER_EPOCH if the heartbeat is of another epoch.

        The previous epoch is accepted as well if the member owns only partitions that are assigned to it, because the member may not
        have received the last response.
        """
        if heartbeat.epoch == self.epoch:
            return
        lost_response = heartbeat.epoch == self.previous_epoch and heartbeat.owned is not None and heartbeat.owned <= self.assigned.keys()
        if heartbeat.epoch > self.epoch or not lost_response:
            size = "greater" if heartbeat.epoch > self.epoch else "smaller"
            raise KafkaError(
                ErrorCode.FENCED_MEMBER_EPOCH,
                f"The consumer group member has a {size} member epoch ({heartbeat.epoch}) than the one known by the group coordinator"
                f" ({self.epoch}). The member must abandon all its partitions and rejoin.",
            )

    @property
    def current_assignment(self) -> CurrentAssignment:
        return CurrentAssignment(self.epoch, self.previous_epoch, self.state, self.assigned, self.revoking)

    def advance_to(self, epoch: int) -> None:
        """Sets the epoch, which may be the same as before, and stores the previous epoch for `check_epoch`."""
        self.previous_epoch, self.epoch = self.epoch, epoch

    def fence(self, epoch: int) -> None:
        """Moves the member to an epoch that it does not know. Its partitions count from that epoch on, so that it cannot commit before."""
        self.epoch = self.previous_epoch = epoch
        self.assigned, self.revoking = dict.fromkeys(self.assigned, epoch), dict.fromkeys(self.revoking, epoch)

    def is_reconciled_to(self, epoch: int) -> bool:
        """Returns whether the member owns its target assignment of that epoch."""
        return self.state is MemberState.STABLE and self.epoch == epoch

    def epoch_of(self, slot: Slot) -> int | None:
        """Returns the epoch in which the member got a partition, None if the member does not own it or has revoked it."""
        return self.assigned.get(slot, self.revoking.get(slot))

    # Offsets

    def check_commit(self, epoch: int, slots: Iterable[Slot], supports_member_epochs: bool) -> ErrorCode:
        """Returns NONE if the member may commit offsets of these partitions, otherwise an error.

        In an older epoch it may commit only partitions that it already owned then (KIP-1251). `supports_member_epochs` is False for
        versions of OffsetCommit without STALE_MEMBER_EPOCH.
        """
        if self.classic is None and not supports_member_epochs:
            return ErrorCode.UNSUPPORTED_VERSION
        epoch_of = [self.epoch_of(slot) for slot in slots] if epoch < self.epoch else []
        if epoch <= self.epoch and all(since is not None and since <= epoch for since in epoch_of):
            return ErrorCode.NONE
        return self._stale_epoch_error

    def check_fetch(self, epoch: int) -> ErrorCode:
        """Returns NONE if `epoch` is the member's current one, in which it may read offsets; otherwise an error."""
        return ErrorCode.NONE if self.epoch == epoch else self._stale_epoch_error

    @property
    def _stale_epoch_error(self) -> ErrorCode:
        return ErrorCode.STALE_MEMBER_EPOCH if self.classic is None else ErrorCode.ILLEGAL_GENERATION
