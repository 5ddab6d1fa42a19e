"""What is said to a consumer group, what it answers, and what it knows of each member."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from enum import IntEnum
from typing import NamedTuple

from ....protocol.errors import ErrorCode, KafkaError
from ..classic.member import Protocol
from .assignors import Slot

LEAVES = -1
LEAVES_FOR_A_WHILE = -2
"""The epoch that a static member names when it leaves and means to be back within its session."""


class MemberState(IntEnum):
    """How far a member is on its way to the target assignment; the numbers are those in `__consumer_offsets`."""

    STABLE = 0
    """It owns what it shall own in its epoch. A newer target assignment -> any of the three."""

    UNREVOKED_PARTITIONS = 1
    """It has been told to give partitions up and stays in its epoch until it reports that it has; then it goes on to the target.
    Too late for its rebalance timeout: it is fenced."""

    UNRELEASED_PARTITIONS = 2
    """It is in the target's epoch, but others have not yet given up all that it shall own. Each heartbeat takes what has become free."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Beat:
    """A ConsumerGroupHeartbeat. None (and -1 for the timeout) means: as before."""

    member_id: str
    epoch: int
    instance_id: str | None = None
    rack_id: str | None = None
    rebalance_timeout_ms: int = -1
    topics: frozenset[str] | None = None
    regex: str | None = None
    assignor: str | None = None
    owned: frozenset[Slot] | None = None
    client_id: str = ""
    client_host: str = ""
    may_describe: Callable[[str], bool] | None = None
    """Which topics a regular expression may find; None: all."""

    @property
    def is_full(self) -> bool:
        """It says everything, as the first one after a join or an error does, and gets a full answer."""
        subscribes = self.topics is not None or self.regex is not None
        return self.epoch == 0 or (self.rebalance_timeout_ms != -1 and self.owned is not None and subscribes)


class BeatResult(NamedTuple):
    """The answer to a `Beat`; `assignment` is None if nothing changed."""

    member_id: str
    epoch: int
    heartbeat_interval_ms: int = 0
    assignment: frozenset[Slot] | None = None


class ClassicProtocols(NamedTuple):
    """What a member said that speaks the classic protocol with a consumer group."""

    session_timeout_ms: int
    protocols: tuple[Protocol, ...]


class Said(NamedTuple):
    """All that a member says of itself."""

    instance_id: str | None
    rack_id: str | None
    rebalance_timeout_ms: int
    topics: frozenset[str]
    regex: str
    assignor: str | None
    client_id: str
    client_host: str
    classic: ClassicProtocols | None


class Standing(NamedTuple):
    """Where a member stands: all that reconciliation changes."""

    epoch: int
    previous_epoch: int
    state: MemberState
    assigned: dict[Slot, int]
    revoking: dict[Slot, int]


class ConsumerMember:
    """One member of a consumer group. `assigned` and `revoking` are partitions with the epoch in which the member got each."""

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
        """The same static member under a new member id, about to join."""
        copy = ConsumerMember(member_id)
        for name in ConsumerMember.__slots__:
            setattr(copy, name, getattr(self, name))
        copy.member_id, copy.epoch, copy.previous_epoch = member_id, 0, 0
        copy.assigned, copy.revoking = dict(self.assigned), dict(self.revoking)
        return copy

    def update(self, beat: Beat, classic: ClassicProtocols | None = None) -> bool:
        """Takes over what a heartbeat or a JoinGroup says; whether that is news."""
        before, said = self._said(), self._saying(beat, classic)
        (
            self.instance_id,
            self.rack_id,
            self.rebalance_timeout_ms,
            self.topics,
            self.regex,
            self.assignor,
            self.client_id,
            self.client_host,
            self.classic,
        ) = said
        return before != said

    def would_change(self, beat: Beat) -> bool:
        """Whether a heartbeat says anything new."""
        return (
            self.classic is not None
            or (beat.instance_id is not None and beat.instance_id != self.instance_id)
            or (beat.rack_id is not None and beat.rack_id != self.rack_id)
            or (beat.rebalance_timeout_ms != -1 and beat.rebalance_timeout_ms != self.rebalance_timeout_ms)
            or (beat.topics is not None and beat.topics != self.topics)
            or (beat.regex is not None and beat.regex != self.regex)
            or (beat.assignor is not None and beat.assignor != self.assignor)
            or beat.client_id != self.client_id
            or beat.client_host != self.client_host
        )

    def _saying(self, beat: Beat, classic: ClassicProtocols | None) -> Said:
        """What the member says from a heartbeat or a JoinGroup on; what that leaves out stays."""
        return Said(
            self.instance_id if beat.instance_id is None else beat.instance_id,
            self.rack_id if beat.rack_id is None else beat.rack_id,
            self.rebalance_timeout_ms if beat.rebalance_timeout_ms == -1 else beat.rebalance_timeout_ms,
            self.topics if beat.topics is None else beat.topics,
            self.regex if beat.regex is None else beat.regex,
            self.assignor if beat.assignor is None else beat.assignor,
            beat.client_id,
            beat.client_host,
            classic,
        )

    def _said(self) -> Said:
        return Said(
            self.instance_id,
            self.rack_id,
            self.rebalance_timeout_ms,
            self.topics,
            self.regex,
            self.assignor,
            self.client_id,
            self.client_host,
            self.classic,
        )

    def check_epoch(self, beat: Beat) -> None:
        """Raises FENCED_MEMBER_EPOCH for a heartbeat of another epoch.

        The previous epoch is accepted from a member that has not got the last answer, and owns nothing that it may not.
        """
        if beat.epoch == self.epoch:
            return
        lost_answer = beat.epoch == self.previous_epoch and beat.owned is not None and beat.owned <= self.assigned.keys()
        if beat.epoch > self.epoch or not lost_answer:
            size = "greater" if beat.epoch > self.epoch else "smaller"
            raise KafkaError(
                ErrorCode.FENCED_MEMBER_EPOCH,
                f"The consumer group member has a {size} member epoch ({beat.epoch}) than the one known by the group coordinator"
                f" ({self.epoch}). The member must abandon all its partitions and rejoin.",
            )

    @property
    def standing(self) -> Standing:
        """Its epochs, state and partitions as they are now."""
        return Standing(self.epoch, self.previous_epoch, self.state, self.assigned, self.revoking)

    def enter(self, epoch: int) -> None:
        """Moves to an epoch, maybe the same; the one before is remembered for answers that got lost."""
        self.previous_epoch, self.epoch = self.epoch, epoch

    def is_reconciled_to(self, epoch: int) -> bool:
        """It owns what it shall own in that epoch."""
        return self.state is MemberState.STABLE and self.epoch == epoch

    def owned_since(self, slot: Slot) -> int | None:
        """The epoch in which the member got a partition that it has not yet given up."""
        return self.assigned.get(slot, self.revoking.get(slot))
