"""The state of share groups (KIP-932), without that of their share partitions."""

from __future__ import annotations

from ..groups.share.group import ShareGroup
from ..groups.share.initialization import Initialization, TopicInitialization
from ..groups.share.member import ShareMember
from ..groups.share.requests import ShareRequests
from ..groups.share.subscriptions import Subscriptions
from ..scheduling.revertible import RevertibleDict
from .consumer_groups import JOURNAL
from .forms import MOMENT, PLAIN, Record, Within, mapped, named, ordered

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
    Subscriptions,
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
