"""Requests of share groups whose answers depend on access rights, for the family `acls`, and the requests that make their groups."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from odradek.broker.security.acls import ResourceType

from ..case import Pause, Receive, Step
from ..share_group_requests import SETTLE, alter_share

GROUP_AND_TOPIC = (ResourceType.GROUP, ResourceType.TOPIC)
KEPT, DELETED = "acls.share.kept", "acls.share.deleted"
"""Share groups without members: one that no request changes, and one whose offsets are deleted."""


def rows(shared: str, other: str) -> Iterator[tuple[Any, ...]]:
    """Yields rows like those in `acl_requests`. `shared` and `other` are topics that are not changed by any request."""
    topics = ("nobody", shared, other)
    offsets = [{"topic_name": topic, "partitions": [{"partition_index": index, "start_offset": 1} for index in (0, 7)]} for topic in topics]
    described = [{"topic_name": topic, "partitions": [0]} for topic in topics]

    def beat(name: str) -> Mapping[str, Any]:
        return {"group_id": name, "member_id": "m", "member_epoch": 0, "subscribed_topic_names": [shared, other]}

    yield "ShareGroupHeartbeat", (1,), "", GROUP_AND_TOPIC, beat
    yield "ShareGroupHeartbeat", (1,), ".no-topics", GROUP_AND_TOPIC, lambda name: {**beat(name), "subscribed_topic_names": None}
    yield "ShareGroupDescribe", (1,), "", GROUP_AND_TOPIC, lambda name: {"group_ids": [KEPT, name], "include_authorized_operations": True}
    for what, wanted in (("", described), (".all", None), (".none", [])):
        groups = [{"group_id": KEPT, "topics": wanted}]
        yield "DescribeShareGroupOffsets", (0, 1), what, GROUP_AND_TOPIC, lambda name, groups=groups: {"groups": groups}
    yield "AlterShareGroupOffsets", (0,), "", GROUP_AND_TOPIC, lambda name: {"group_id": name, "topics": offsets}
    named = [{"topic_name": topic} for topic in topics]
    yield "DeleteShareGroupOffsets", (0,), "", GROUP_AND_TOPIC, lambda name: {"group_id": DELETED, "topics": named}


def set_up(shared: str, other: str) -> Iterator[Step]:
    """Yields the requests that create the groups. The first of them takes Apache Kafka seconds."""
    unread = {topic: {0: -1} for topic in (shared, other)}
    yield alter_share(KEPT, unread)._replace(connection="shares", waits=True)
    yield Pause(4000)
    yield Receive("shares")
    yield alter_share(DELETED, unread)
    yield SETTLE
