"""When committed offsets expire (KIP-211)."""

from __future__ import annotations

from .classic.group import ClassicGroup
from .classic.member import CONSUMER_PROTOCOL_TYPE
from .consumer.group import ConsumerGroup
from .offsets import CommittedOffset
from .settings import GroupSettings
from .states import GroupState


def has_expired(group: ClassicGroup | ConsumerGroup, now_ms: int, settings: GroupSettings, topic: str, committed: CommittedOffset) -> bool:
    """Whether the time of a commit is over: the one that it came with, else `offsets.retention.minutes`."""
    since_ms = _kept_since_ms(group, topic, committed)
    if since_ms is None:
        return False
    if committed.expire_timestamp_ms is not None:
        return now_ms >= committed.expire_timestamp_ms
    return now_ms - since_ms >= settings.offsets_retention_minutes * 60_000


def _kept_since_ms(group: ClassicGroup | ConsumerGroup, topic: str, committed: CommittedOffset) -> int | None:
    """From when on the time of a commit runs; None as long as the group may still want it."""
    if isinstance(group, ConsumerGroup):
        return None if group.subscribes_to(topic) else committed.commit_timestamp_ms
    if group.protocol_type is None:
        return committed.commit_timestamp_ms
    if group.state is GroupState.EMPTY:
        return group.empty_since_ms
    is_consumer = group.protocol_type == CONSUMER_PROTOCOL_TYPE
    if is_consumer and group.state is GroupState.STABLE and not group.subscribes_to(topic):
        return committed.commit_timestamp_ms
    return None
