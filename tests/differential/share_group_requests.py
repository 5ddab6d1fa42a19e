"""Requests of share groups, for the families of share groups.

Kafka initializes and deletes share partitions after it has answered. `SETTLE` is a pause in which that ends.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from odradek.protocol.messages.alter_share_group_offsets import ALTER_SHARE_GROUP_OFFSETS
from odradek.protocol.messages.create_partitions import CREATE_PARTITIONS
from odradek.protocol.messages.create_topics import CREATE_TOPICS
from odradek.protocol.messages.delete_share_group_offsets import DELETE_SHARE_GROUP_OFFSETS
from odradek.protocol.messages.delete_topics import DELETE_TOPICS
from odradek.protocol.messages.describe_share_group_offsets import DESCRIBE_SHARE_GROUP_OFFSETS
from odradek.protocol.messages.incremental_alter_configs import INCREMENTAL_ALTER_CONFIGS
from odradek.protocol.messages.share_group_describe import SHARE_GROUP_DESCRIBE
from odradek.protocol.messages.share_group_heartbeat import SHARE_GROUP_HEARTBEAT

from .case import Pause, Send, Topic
from .requests import request_of

ONE = Topic("share-one", {}, ((1,),))
TWO = Topic("share-two")
FOUR = Topic("share-four", {}, ((1,), (1,), (2,), (2,)))
TOPICS = (ONE, TWO, FOUR)
"""Topics with one, two and four partitions."""
SETTINGS = {
    "group.share.assignment.interval.ms": "0",
    "group.share.heartbeat.interval.ms": "5000",
    "group.share.max.size": "3",
    "group.share.min.heartbeat.interval.ms": "50",
    "group.share.min.session.timeout.ms": "100",
    "share.coordinator.state.topic.num.partitions": "1",
    "share.coordinator.state.topic.replication.factor": "1",
    "share.coordinator.state.topic.min.isr": "1",
}
SETTLE = Pause(500)
GROUP_RESOURCE, SET = 32, 0


class ShareMember:
    """A member of a share group, whose id is its name."""

    def __init__(self, group: str, name: str = "m") -> None:
        self.group, self.name = group, name

    def join(self, *topics: str, **fields: Any) -> Send:
        return self.beat(0, *(topics or (ONE.name,)), **fields)

    def beat(self, epoch: int, *topics: str, **fields: Any) -> Send:
        """Returns a heartbeat; without `topics` the subscription is left out."""
        values = {"group_id": self.group, "member_id": self.name, "member_epoch": epoch, "subscribed_topic_names": list(topics) or None}
        return Send(SHARE_GROUP_HEARTBEAT, 1, request_of(SHARE_GROUP_HEARTBEAT, values | fields), connection=self.name)

    def leave(self) -> Send:
        return self.beat(-1)


def describe_shares(*groups: str, operations: bool = False, node: int = 1) -> Send:
    fields = {"group_ids": list(groups), "include_authorized_operations": operations}
    return Send(SHARE_GROUP_DESCRIBE, 1, request_of(SHARE_GROUP_DESCRIBE, fields), node=node)


def share_offsets(group: str, topics: Mapping[str, Sequence[int]] | None = None, *, version: int = 1, node: int = 1) -> Send:
    """Returns a DescribeShareGroupOffsets request, by default for all topics."""
    wanted = None if topics is None else [{"topic_name": name, "partitions": list(indexes)} for name, indexes in topics.items()]
    return share_offsets_of_groups({"group_id": group, "topics": wanted}, version=version, node=node)


def share_offsets_of_groups(*groups: Mapping[str, Any], version: int = 1, node: int = 1) -> Send:
    return Send(DESCRIBE_SHARE_GROUP_OFFSETS, version, request_of(DESCRIBE_SHARE_GROUP_OFFSETS, {"groups": list(groups)}), node=node)


def alter_share(group: str, offsets: Mapping[str, Mapping[int, int]], *, node: int = 1) -> Send:
    topics = [
        {"topic_name": name, "partitions": [{"partition_index": index, "start_offset": offset} for index, offset in each.items()]}
        for name, each in offsets.items()
    ]
    return Send(ALTER_SHARE_GROUP_OFFSETS, 0, request_of(ALTER_SHARE_GROUP_OFFSETS, {"group_id": group, "topics": topics}), node=node)


def delete_share(group: str, *topics: str, node: int = 1) -> Send:
    fields = {"group_id": group, "topics": [{"topic_name": name} for name in topics]}
    return Send(DELETE_SHARE_GROUP_OFFSETS, 0, request_of(DELETE_SHARE_GROUP_OFFSETS, fields), node=node)


def set_configs(group: str, **configs: str) -> Send:
    """Returns a request that sets configs of a group; names are written with `_` for `.`."""
    made = [{"name": name.replace("_", "."), "config_operation": SET, "value": value} for name, value in configs.items()]
    fields = {"resources": [{"resource_type": GROUP_RESOURCE, "resource_name": group, "configs": made}], "validate_only": False}
    return Send(INCREMENTAL_ALTER_CONFIGS, 1, request_of(INCREMENTAL_ALTER_CONFIGS, fields), settles=True)


def create_topic(name: str, partitions: int = 1) -> Send:
    topic = {"name": name, "num_partitions": partitions, "replication_factor": 1, "assignments": [], "configs": []}
    fields = {"topics": [topic], "timeout_ms": 10_000, "validate_only": False}
    return Send(CREATE_TOPICS, 5, request_of(CREATE_TOPICS, fields), settles=True)


def delete_topic(name: str) -> Send:
    return Send(DELETE_TOPICS, 5, request_of(DELETE_TOPICS, {"topic_names": [name], "timeout_ms": 10_000}), settles=True)


def add_partitions(name: str, count: int) -> Send:
    fields = {"topics": [{"name": name, "count": count, "assignments": None}], "timeout_ms": 10_000, "validate_only": False}
    return Send(CREATE_PARTITIONS, 3, request_of(CREATE_PARTITIONS, fields), settles=True)
