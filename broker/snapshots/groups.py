"""The state of groups and their committed offsets.

A written state contains no waiting JoinGroup and SyncGroup requests, because they belong to connections. Members whose request waited stay
in the group without it, as after a coordinator has failed over: they join again, or a timer removes them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from ..groups.classic.group import ClassicGroup
from ..groups.classic.members import ClassicMember, Members
from ..groups.classic.requests import ClassicRequests
from ..groups.consumer.group import ConsumerGroup
from ..groups.consumer.requests import ConsumerRequests
from ..groups.coordinator import Group, Groups
from ..groups.offset_requests import OffsetRequests
from ..groups.offsets import CommittedOffset, CommittedOffsets, OffsetIndex, PendingOffset, PendingOffsets
from ..groups.share.group import ShareGroup
from ..groups.states import GroupState
from ..groups.streams.group import StreamsGroup
from ..groups.streams.requests import StreamsRequests
from ..groups.table import GroupTable
from .consumer_groups import CONSUMER_GROUP, PROTOCOLS
from .forms import KEYS, MOMENT, PLAIN, TUPLE, Form, Plain, Record, Within, coded, mapped, named, optional, ordered
from .share_groups import SHARE_GROUP
from .streams_groups import CREATION_ERRORS, STREAMS_GROUP


def _new_member() -> ClassicMember:
    member = ClassicMember.__new__(ClassicMember)
    member.join_reply = member.sync_reply = None
    return member


MEMBER = Record(
    ClassicMember,
    {
        "assignment": PLAIN,
        "client_host": PLAIN,
        "client_id": PLAIN,
        "group_instance_id": PLAIN,
        "is_new": PLAIN,
        "member_id": PLAIN,
        "protocols": PROTOCOLS,
        "rebalance_timeout_ms": PLAIN,
        "session_timeout_ms": PLAIN,
    },
    apart=("join_reply", "sync_reply"),
    make=_new_member,
)

MEMBERS = Form(
    lambda members: [MEMBER.write(member) for member in members.values()],
    lambda plain, shift_ms: Members([MEMBER.read(member, shift_ms) for member in plain]),
)
"""The members of a classic group, whose counts and indexes follow from them."""

CLASSIC_GROUP = Record(
    ClassicGroup,
    {
        "group_id": PLAIN,
        "state": coded(GroupState),
        "empty_since_ms": MOMENT,
        "generation_id": PLAIN,
        "protocol_type": PLAIN,
        "protocol_name": PLAIN,
        "leader": PLAIN,
        "members": MEMBERS,
        "pending": ordered(),
        "unsynced": ordered(),
        "_subscribed": optional(ordered(kind=frozenset)),
        "_initial_rebalance": PLAIN,
        "_arrived_in_delay": PLAIN,
        "_delay_ms": PLAIN,
        "_remaining_ms": PLAIN,
    },
    apart=("_timers", "_random", "_write", "_tell", "settings"),
)

_COMMITTED = named(CommittedOffset, commit_timestamp_ms=MOMENT, expire_timestamp_ms=MOMENT)

PENDING_OFFSETS = Record(
    PendingOffsets,
    {
        "_producers": mapped(PLAIN, mapped(TUPLE, optional(named(PendingOffset, committed=_COMMITTED)))),
        "_waiting": mapped(PLAIN, mapped(PLAIN, ordered())),
        "_next_number": PLAIN,
    },
)

COMMITTED_OFFSETS = Record(CommittedOffsets, {"_topics": mapped(PLAIN, mapped(PLAIN, _COMMITTED)), "pending": PENDING_OFFSETS})

OFFSET_INDEX = Record(OffsetIndex, {"_topics": mapped(PLAIN, KEYS), "_producers": mapped(PLAIN, KEYS)})

OFFSETS = Record(
    OffsetRequests, {"_offsets": mapped(PLAIN, COMMITTED_OFFSETS), "_index": OFFSET_INDEX}, apart=("_table", "_unexpired_until_ms")
)

# Classes whose attributes follow from the members and groups, or that have no state.
MEMBERS_OF_GROUP = Record(Members, {}, apart=("joined", "_members", "_static_ids", "_supporters"))
GROUPS = Record(Groups, {}, apart=("classic", "consumer", "share", "offsets", "streams", "offset_expiry", "_table"))
GROUP_TABLE = Record(GroupTable, {}, apart=("timers", "settings", "cluster", "former_epochs", "_random", "_offset_expiry", "_groups"))
CLASSIC_REQUESTS = Record(ClassicRequests, {}, apart=("_table",))
CONSUMER_REQUESTS = Record(ConsumerRequests, {}, apart=("_table",))
STREAMS_REQUESTS = Record(StreamsRequests, {"creation_errors": Within(CREATION_ERRORS)}, apart=("_table",))


_RECORDS: Mapping[str, Record[Any]] = {
    ClassicGroup.type: CLASSIC_GROUP,
    ConsumerGroup.type: CONSUMER_GROUP,
    ShareGroup.type: SHARE_GROUP,
    StreamsGroup.type: STREAMS_GROUP,
}
"""The record of each kind of group."""


def write_groups(groups: Groups) -> Plain:
    """Returns the state of all groups and offsets."""
    written = [{"type": group.type, "group": _record_of(group).write(group)} for group in groups]
    return {"groups": written, "offsets": OFFSETS.write(groups.offsets), "streams": STREAMS_REQUESTS.write(groups.streams)}


def unchanged_groups(former: Groups, restored: Groups) -> set[str]:
    """Returns the ids of the restored groups that have the epoch and the assignments that they had in the cluster before."""
    present = {group.group_id: group for group in former}
    return {
        group.group_id
        for group in restored
        if (other := present.get(group.group_id)) is not None
        and other.type == group.type
        and other.epoch == group.epoch
        and _assignments(other) == _assignments(group)
    }


def _assignments(group: Group) -> dict[str, Any]:
    """Returns what each member has: bytes in a classic group, partitions or tasks in others. Members of share groups have their topics."""
    return {
        each.member_id: next(getattr(each, name) for name in ("assignment", "assigned", "topics") if hasattr(each, name))
        for each in group.members.values()
    }


def _record_of(group: Group) -> Record[Any]:
    return _RECORDS[group.type]


def fill_groups(groups: Groups, plain: Mapping[str, Plain], shift_ms: int) -> None:
    """Adds the groups and offsets of a written state to the groups of a new cluster, without their timers."""
    table = groups._table
    new: Mapping[str, Callable[[str], Group]] = {
        ClassicGroup.type: table.new_classic_group,
        ConsumerGroup.type: table.new_consumer_group,
        ShareGroup.type: table.new_share_group,
        StreamsGroup.type: table.new_streams_group,
    }
    for each in plain["groups"]:
        group = new[each["type"]](each["group"]["group_id"])
        _record_of(group).fill(group, each["group"], shift_ms)
        table.store(group)
    OFFSETS.fill(groups.offsets, plain["offsets"], shift_ms)
    STREAMS_REQUESTS.fill(groups.streams, plain["streams"], shift_ms)
