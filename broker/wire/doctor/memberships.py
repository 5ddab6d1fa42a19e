"""The memberships of a client in groups: when each began, how long its member was silent, and how it ended.

Both protocols are covered: JoinGroup, SyncGroup, Heartbeat and LeaveGroup, and ConsumerGroupHeartbeat (KIP-848), in whose requests the
member epoch 0 joins and a negative one leaves.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from enum import Enum
from typing import Any

from ..exchange import Exchange
from .history import ClientHistory

_MEMBER_APIS = ("JoinGroup", "SyncGroup", "Heartbeat", "LeaveGroup", "OffsetCommit", "ConsumerGroupHeartbeat")
_REMOVED = {"UNKNOWN_MEMBER_ID", "FENCED_MEMBER_EPOCH"}
_MISSED_HEARTBEATS = 3
"""With ConsumerGroupHeartbeat, the session time-out is a setting of the broker. It is estimated by this number of intervals."""


class End(Enum):
    """How a membership ended."""

    OPEN = "open"
    LEFT = "left"
    REMOVED = "removed"


@dataclass(slots=True)
class Membership:
    """One membership. `poll_timeout_ms` is max.poll.interval.ms, which clients send as the rebalance time-out.

    `last` is the last request of the member that the group accepted, and `ending` the one by which it left or learned of its removal.
    """

    group: str
    member_id: str
    session_timeout_ms: int
    poll_timeout_ms: int
    first: Exchange
    last: Exchange
    last_join: Exchange
    end: End = End.OPEN
    ending: Exchange | None = None

    @property
    def silence_ms(self) -> float:
        """How long the member was silent before it learned of its removal, by the cluster's clock."""
        return 0.0 if self.ending is None else self.ending.received.cluster_ms - self.last.received.cluster_ms

    @property
    def has_expired(self) -> bool:
        """Whether the group removed the member because it was silent for longer than the session time-out."""
        return self.end is End.REMOVED and 0 < self.session_timeout_ms <= self.silence_ms

    @property
    def polled_late(self) -> bool:
        """Whether the member left because its program did not poll within max.poll.interval.ms.

        Newer clients give that as the reason (KIP-800). An older client leaves this long after it joined, without a commit in between.
        """
        if self.end is not End.LEFT or self.ending is None:
            return False
        if "poll" in _leave_reason(self.ending.request):
            return True
        waited_ms = self.ending.received.wall_ms - self.last_join.received.wall_ms
        return 0 < self.poll_timeout_ms <= waited_ms and self.last.api != "OffsetCommit"


def memberships_of(client: ClientHistory) -> list[Membership]:
    """Returns the memberships of a client in the order in which they began."""
    found: list[Membership] = []
    current: dict[tuple[str, str], Membership] = {}
    for exchange in client.of(*_MEMBER_APIS):
        request: Any = exchange.request
        if request is None:
            continue
        for member_id in _member_ids(exchange):
            membership = current.get((request.group_id, member_id))
            if membership is not None:
                if _continues(membership, exchange):
                    continue
                del current[request.group_id, member_id]
            elif _joins(exchange):
                membership = _new_membership(exchange, member_id)
                current[request.group_id, member_id] = membership
                found.append(membership)
    return found


def _continues(membership: Membership, exchange: Exchange) -> bool:
    """Applies a request of a member. Returns False if the membership has ended."""
    removed = _REMOVED.intersection(exchange.errors)
    if removed or _leaves(exchange):
        membership.end, membership.ending = End.REMOVED if removed else End.LEFT, exchange
        return False
    if not exchange.errors:
        membership.last = exchange
        if _joins(exchange):
            membership.last_join = exchange
    return True


def _new_membership(exchange: Exchange, member_id: str) -> Membership:
    request: Any = exchange.request
    response: Any = exchange.response
    session_ms = getattr(request, "session_timeout_ms", 0) or _MISSED_HEARTBEATS * getattr(response, "heartbeat_interval_ms", 0)
    return Membership(request.group_id, member_id, session_ms, request.rebalance_timeout_ms, exchange, exchange, exchange)


def _member_ids(exchange: Exchange) -> Iterator[str]:
    """Yields the ids of the members that a request is about. The id of a new member is in the response."""
    request: Any = exchange.request
    response: Any = exchange.partial_response
    if exchange.api == "LeaveGroup" and request.members:
        yield from (member.member_id for member in request.members)
    elif _joins(exchange) and response is not None and response.member_id:
        yield response.member_id
    else:
        yield request.member_id


def _joins(exchange: Exchange) -> bool:
    """Returns whether a request has added a member, or has moved one to a new generation."""
    if exchange.errors:
        return False
    request: Any = exchange.request
    return exchange.api == "JoinGroup" or (exchange.api == "ConsumerGroupHeartbeat" and request.member_epoch == 0)


def _leaves(exchange: Exchange) -> bool:
    request: Any = exchange.request
    return exchange.api == "LeaveGroup" or (exchange.api == "ConsumerGroupHeartbeat" and request.member_epoch < 0)


def _leave_reason(request: Any) -> str:
    """Returns the reasons in a LeaveGroup request (KIP-800)."""
    return " ".join(member.reason or "" for member in getattr(request, "members", ())).lower()
