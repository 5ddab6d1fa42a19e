"""Determines when committed offsets expire (KIP-211, Kafka's OffsetExpirationCondition).

An offset that was committed with a retention time (OffsetCommit v2 to v4) expires at that time. Any other offset expires
offsets.retention.minutes after the group has stopped using it. That is the time of the commit if the group never had members or if no
member subscribes to the topic, and the time when the group became empty if it is an empty classic group. Offsets of a group that may still
use them do not expire.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable
from math import inf

from .classic.group import ClassicGroup
from .classic.messages import CONSUMER_PROTOCOL_TYPE
from .offsets import CommittedOffset
from .settings import GroupSettings
from .states import GroupState
from .table import Group


def has_expired(group: Group, now_ms: int, settings: GroupSettings, topic: str, committed: CommittedOffset) -> bool:
    return now_ms >= expiry_ms(group, settings, topic, committed)


def expiry_ms(group: Group, settings: GroupSettings, topic: str, committed: CommittedOffset) -> float:
    """Returns the time at which an offset expires if the group stays as it is, `inf` if the group may still use the offset."""
    unused_since_ms = _unused_since_ms(group, topic, committed)
    if unused_since_ms is None:
        return inf
    if committed.expire_timestamp_ms is not None:
        return committed.expire_timestamp_ms
    return unused_since_ms + settings.offsets_retention_minutes * 60_000


def _unused_since_ms(group: Group, topic: str, committed: CommittedOffset) -> int | None:
    """Returns the time at which the retention time begins; None if the group may still use the offset."""
    if not isinstance(group, ClassicGroup):
        return None if group.subscribes_to(topic) else committed.commit_timestamp_ms
    if group.protocol_type is None:
        return committed.commit_timestamp_ms
    if group.state is GroupState.EMPTY:
        return group.empty_since_ms
    is_consumer = group.protocol_type == CONSUMER_PROTOCOL_TYPE
    if is_consumer and group.state is GroupState.STABLE and not group.subscribes_to(topic):
        return committed.commit_timestamp_ms
    return None


def earliest_expiry_ms(group: Group, settings: GroupSettings, commits: Iterable[CommittedOffset]) -> int:
    """Returns a time before which none of the commits expires, whatever becomes of the group until then.

    The group may be used longer, which moves the expiry to a later time, but it cannot have been empty for longer than it is now.
    """
    empty_since_ms = group.empty_since_ms if isinstance(group, ClassicGroup) and group.state is GroupState.EMPTY else sys.maxsize
    retention_ms = settings.offsets_retention_minutes * 60_000
    return min(
        min(each.commit_timestamp_ms, empty_since_ms) + retention_ms if each.expire_timestamp_ms is None else each.expire_timestamp_ms
        for each in commits
    )
