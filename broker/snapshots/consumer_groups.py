"""The state of groups of the consumer protocol (KIP-848)."""

from __future__ import annotations

from ...protocol.stored.coordinator_records import RecordType
from ..groups.classic.messages import Protocol
from ..groups.consumer.group import ConsumerGroup
from ..groups.consumer.member import ClassicProtocols, ConsumerMember, MemberState
from ..groups.consumer.member_timers import MemberTimers
from ..groups.consumer.reconciliation import PartitionOwners
from ..groups.consumer.regex_resolutions import Resolution, Resolutions
from ..groups.consumer.subscriptions import Subscriptions
from ..groups.heartbeat_group import Journal
from ..scheduling.revertible import RevertibleDict
from .forms import KEYS, MOMENT, PLAIN, TUPLE, Form, Record, Within, coded, listed, mapped, named, optional, ordered

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
    lambda plain, shift_ms: {(RecordType(kind), name): None for kind, name in plain},
)
JOURNAL = Record(Journal, {"_touched": _TOUCHED})


def _find_resolutions(subscriptions: Subscriptions) -> None:
    """Finds the resolutions of the expressions, which continue from the beginning if they were not complete."""
    known = subscriptions._resolutions
    subscriptions._resolutions = {regex: subscriptions._cluster.regexes.get(regex) for regex in known}


_SUBSCRIPTION = Form(
    lambda subscription: [sorted(subscription[0]), subscription[1]],
    lambda plain, shift_ms: (frozenset(plain[0]), plain[1]),
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
