"""The state of groups of all kinds and their committed offsets, without that of share partitions.

A written state contains no waiting JoinGroup and SyncGroup requests, because they belong to connections. Members whose request waited stay
in the group without it, as after a coordinator has failed over: they join again, or a timer removes them.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ...protocol.stored.coordinator_records import RecordType
from ..groups.classic.group import ClassicGroup
from ..groups.classic.members import ClassicMember, Members
from ..groups.classic.messages import Protocol
from ..groups.classic.requests import ClassicRequests
from ..groups.consumer.group import ConsumerGroup
from ..groups.consumer.member import ClassicProtocols, ConsumerMember, MemberState
from ..groups.consumer.member_timers import MemberTimers
from ..groups.consumer.reconciliation import PartitionOwners
from ..groups.consumer.regex_resolutions import Resolution, Resolutions
from ..groups.consumer.requests import ConsumerRequests
from ..groups.consumer.subscriptions import Subscriptions
from ..groups.coordinator import Group, Groups
from ..groups.heartbeat_group import Journal
from ..groups.offset_requests import OffsetRequests
from ..groups.offsets import CommittedOffset, CommittedOffsetIndex, CommittedOffsets, PendingOffset, PendingOffsets
from ..groups.share.group import ShareGroup
from ..groups.share.initialization import Initialization, TopicInitialization
from ..groups.share.member import ShareMember
from ..groups.share.requests import ShareRequests
from ..groups.share.subscriptions import Subscriptions as ShareSubscriptions
from ..groups.states import GroupState
from ..groups.streams.changes import GroupEpoch, TargetEpoch
from ..groups.streams.configuration import Configuration, ConfiguredSubtopology, NewTopic, TopologyProblem
from ..groups.streams.group import StreamsGroup, Unwritten
from ..groups.streams.member import Endpoint, StreamsMember
from ..groups.streams.member import MemberState as StreamsMemberState
from ..groups.streams.reconciliation import TaskOwners
from ..groups.streams.requests import CreationErrors, StreamsRequests
from ..groups.streams.tasks import CurrentTasks, Tasks
from ..groups.streams.topology import CopartitionGroup, InternalTopicInfo, Subtopology, Topology
from ..groups.table import GroupTable
from ..scheduling.revertible import RevertibleDict
from .forms import KEYS, MOMENT, PLAIN, TUPLE, Form, Plain, Record, Within, coded, listed, mapped, named, optional, ordered

PROTOCOLS = listed(named(Protocol), tuple)
"""The protocols of a member that joined with JoinGroup."""
_SLOTS = mapped(TUPLE, PLAIN)

CONSUMER_MEMBER = Record(
    ConsumerMember,
    {
        "assigned": _SLOTS,
        "assignor": PLAIN,
        "classic": optional(named(ClassicProtocols, protocols=PROTOCOLS)),
        "client_host": PLAIN,
        "client_id": PLAIN,
        "epoch": PLAIN,
        "instance_id": PLAIN,
        "member_id": PLAIN,
        "previous_epoch": PLAIN,
        "rack_id": PLAIN,
        "rebalance_timeout_ms": PLAIN,
        "regex": PLAIN,
        "revoking": _SLOTS,
        "state": coded(MemberState),
        "topics": ordered(kind=frozenset),
    },
)

_TOUCHED = Form(
    lambda touched: [[kind.value, name] for kind, name in touched],
    lambda plain, _: {(RecordType(kind), name): None for kind, name in plain},
)
JOURNAL = Record(Journal, {"_touched": _TOUCHED})


def _find_resolutions(subscriptions: Subscriptions) -> None:
    """Finds the resolutions of the expressions, which continue from the beginning if they were not complete."""
    known = subscriptions._resolutions
    subscriptions._resolutions = {regex: subscriptions._cluster.regexes.get(regex) for regex in known}


_SUBSCRIPTION = Form(
    lambda subscription: [sorted(subscription[0]), subscription[1]],
    lambda plain, _: (frozenset(plain[0]), plain[1]),
)

SUBSCRIPTIONS = Record(
    Subscriptions,
    {
        "names": ordered(kind=frozenset),
        "metadata_hash": PLAIN,
        "regexes": mapped(PLAIN, ordered(kind=frozenset)),
        "counts": mapped(_SUBSCRIPTION, PLAIN, RevertibleDict),
        "_is_outdated": PLAIN,
        "_resolutions": KEYS,
        "_resolved_at_ms": MOMENT,
        "_version": PLAIN,
    },
    # `may_describe` belongs to the connection of the last heartbeat.
    apart=("_clock", "_cluster", "_journal", "may_describe"),
    complete=_find_resolutions,
)

CONSUMER_GROUP = Record(
    ConsumerGroup,
    {
        "group_id": PLAIN,
        "epoch": PLAIN,
        "assignment_epoch": PLAIN,
        "assigned_at_ms": MOMENT,
        "empty_since_ms": MOMENT,
        "members": mapped(PLAIN, CONSUMER_MEMBER, RevertibleDict),
        "static_ids": mapped(PLAIN, PLAIN, RevertibleDict),
        "targets": mapped(PLAIN, ordered(TUPLE, frozenset), RevertibleDict),
        "owners": mapped(TUPLE, PLAIN, PartitionOwners),
        "journal": Within(JOURNAL),
        "subscriptions": Within(SUBSCRIPTIONS),
        "is_dead": PLAIN,
    },
    apart=("timers", "settings", "cluster", "member_timers", "_random", "_remove_members"),
)

# Classes without state of their own. A resolution that is not complete begins again.
MEMBER_TIMERS = Record(MemberTimers, {}, apart=("_timers", "_group_id", "_action"))
RESOLUTIONS = Record(Resolutions, {}, apart=("_topics", "_background", "_known"))
RESOLUTION = Record(Resolution, {}, apart=("_regex", "_matches", "_work"))


_INDEXES = ordered(kind=frozenset)
_ASSIGNMENT = mapped(PLAIN, _INDEXES)
_PARTITIONS = mapped(PLAIN, named(TopicInitialization, indexes=_INDEXES, since_ms=MOMENT))
_TOPICS = ordered(kind=frozenset)

SHARE_MEMBER = Record(
    ShareMember,
    {
        "assigned": _ASSIGNMENT,
        "client_host": PLAIN,
        "client_id": PLAIN,
        "epoch": PLAIN,
        "member_id": PLAIN,
        "previous_epoch": PLAIN,
        "rack_id": PLAIN,
        "topics": _TOPICS,
    },
)

SHARE_SUBSCRIPTIONS = Record(
    ShareSubscriptions,
    {"counts": mapped(_TOPICS, PLAIN, RevertibleDict), "metadata_hash": PLAIN, "names": _TOPICS, "_version": PLAIN},
    apart=("_cluster",),
)

INITIALIZATION = Record(
    Initialization,
    {"deleting": mapped(PLAIN, PLAIN), "initialized": _PARTITIONS, "initializing": _PARTITIONS, "is_known": PLAIN},
)

SHARE_GROUP = Record(
    ShareGroup,
    {
        "group_id": PLAIN,
        "epoch": PLAIN,
        "assignment_epoch": PLAIN,
        "assigned_at_ms": MOMENT,
        "members": mapped(PLAIN, SHARE_MEMBER, RevertibleDict),
        "targets": mapped(PLAIN, _ASSIGNMENT, RevertibleDict),
        "subscriptions": Within(SHARE_SUBSCRIPTIONS),
        "initialization": Within(INITIALIZATION),
        "journal": Within(JOURNAL),
        "is_dead": PLAIN,
        "_is_settled": PLAIN,
    },
    apart=("timers", "settings", "cluster", "_remove_member"),
)

# Classes without state of their own.
SHARE_REQUESTS = Record(ShareRequests, {}, apart=("_table",))


_PAIRS = listed(TUPLE, tuple)
_TASKS = ordered(TUPLE, frozenset)
_CURRENT_TASKS = named(CurrentTasks, active=mapped(TUPLE, PLAIN), standby=_TASKS, warmup=_TASKS)
_TARGET = named(Tasks, active=_TASKS, standby=_TASKS, warmup=_TASKS)
_NAMES = listed(PLAIN, tuple)

_MEMBER = named(
    StreamsMember,
    state=coded(StreamsMemberState),
    endpoint=optional(named(Endpoint)),
    client_tags=mapped(PLAIN, PLAIN),
    assigned=_CURRENT_TASKS,
    revoking=_CURRENT_TASKS,
)

_INTERNAL_TOPICS = listed(named(InternalTopicInfo, configs=_PAIRS), tuple)
_SUBTOPOLOGY = named(
    Subtopology,
    source_topics=_NAMES,
    changelog_topics=_INTERNAL_TOPICS,
    repartition_sink_topics=_NAMES,
    repartition_source_topics=_INTERNAL_TOPICS,
    copartition_groups=listed(named(CopartitionGroup, source_topics=_NAMES, repartition_source_topics=_NAMES), tuple),
)
_TOPOLOGY = named(Topology, subtopologies=mapped(PLAIN, _SUBTOPOLOGY))

_NEW_TOPIC = named(NewTopic, configs=_PAIRS)
_CONFIGURED = named(
    ConfiguredSubtopology,
    source_topics=ordered(kind=frozenset),
    repartition_source_topics=mapped(PLAIN, _NEW_TOPIC),
    repartition_sink_topics=ordered(kind=frozenset),
    changelog_topics=mapped(PLAIN, _NEW_TOPIC),
)
_CONFIGURATION = named(
    Configuration,
    subtopologies=optional(mapped(PLAIN, _CONFIGURED)),
    missing=listed(_NEW_TOPIC, tuple),
    problem=optional(named(TopologyProblem)),
)

UNWRITTEN = Record(
    Unwritten,
    {
        "configuration": optional(_CONFIGURATION),
        "topics_version": PLAIN,
        "endpoint_epoch": PLAIN,
        "shutdown_member": PLAIN,
    },
)


def _derive(group: StreamsGroup) -> None:
    group.readers = {} if group.topology is None else group.topology.readers()
    group.owners = TaskOwners()
    for member in group.members.values():
        group.owners.replace(None, member)


STREAMS_GROUP = Record(
    StreamsGroup,
    {
        "group_id": PLAIN,
        "group_epoch": named(GroupEpoch, assignment_configs=_PAIRS),
        "target_epoch": named(TargetEpoch, computed_at_ms=MOMENT),
        "topology": optional(_TOPOLOGY),
        "members": mapped(PLAIN, _MEMBER),
        "targets": mapped(PLAIN, _TARGET),
        "unwritten": UNWRITTEN,
        "is_dead": PLAIN,
    },
    apart=("readers", "owners", "timers", "settings", "cluster", "_remove_member", "_assign_delayed"),
    complete=_derive,
)

_ERROR = Form(list, lambda plain, shift_ms: (plain[0], MOMENT.read(plain[1], shift_ms)))
CREATION_ERRORS = Record(CreationErrors, {"_errors": mapped(PLAIN, _ERROR)}, apart=("_timers",))

# Its attributes follow from the members.
TASK_OWNERS = Record(TaskOwners, {}, apart=("_active", "_standby", "_warmup"))


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

OFFSET_INDEX = Record(CommittedOffsetIndex, {"_topics": mapped(PLAIN, KEYS), "_producers": mapped(PLAIN, KEYS)})

OFFSETS = Record(
    OffsetRequests, {"_offsets": mapped(PLAIN, COMMITTED_OFFSETS), "_index": OFFSET_INDEX}, apart=("_table", "_unexpired_until_ms")
)

# Classes whose attributes follow from the members and groups, or that have no state.
MEMBERS_OF_GROUP = Record(Members, {}, apart=("joined", "_members", "_static_ids", "_supporters"))
GROUPS = Record(Groups, {}, apart=("classic", "consumer", "share", "offsets", "streams", "offset_expiry", "_table"))
GROUP_TABLE = Record(
    GroupTable, {}, apart=("timers", "settings", "cluster", "former_epochs", "_random", "_offset_expiry", "_groups", "share_groups")
)
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
    for each in plain["groups"]:
        group = table.new_group(each["type"], each["group"]["group_id"])
        _record_of(group).fill(group, each["group"], shift_ms)
        table.store(group)
    OFFSETS.fill(groups.offsets, plain["offsets"], shift_ms)
    STREAMS_REQUESTS.fill(groups.streams, plain["streams"], shift_ms)
