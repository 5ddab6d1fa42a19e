"""Builders of the requests of share groups, with defaults that suit most cases."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from odradek.protocol.messages.delete_share_group_state import DELETE_SHARE_GROUP_STATE
from odradek.protocol.messages.initialize_share_group_state import INITIALIZE_SHARE_GROUP_STATE
from odradek.protocol.messages.read_share_group_state import READ_SHARE_GROUP_STATE
from odradek.protocol.messages.read_share_group_state_summary import READ_SHARE_GROUP_STATE_SUMMARY
from odradek.protocol.messages.share_acknowledge import (
    SHARE_ACKNOWLEDGE,
    AcknowledgePartition,
    AcknowledgeTopic,
    ShareAcknowledgeRequest,
)
from odradek.protocol.messages.share_fetch import (
    SHARE_FETCH,
    AcknowledgementBatch,
    FetchPartition,
    FetchTopic,
    ForgottenTopic,
    ShareFetchRequest,
)
from odradek.protocol.messages.write_share_group_state import WRITE_SHARE_GROUP_STATE
from odradek.protocol.schema import Api

from .case import Send, Topic, id_of
from .requests import request_of

GROUP = "share"
STATE_TOPIC = Topic("__share_group_state", {"cleanup.policy": "delete"}, ((1,),))
WAIT_MS = 250
"""Long enough for Kafka to load a share partition, and short enough for fetches that find no records."""

Range = tuple[int, int, Sequence[int]]
"""(first offset, last offset, acknowledge types)."""


def state_request(api: Api, topic: str, version: int = 0, group: str = GROUP, partition: int = 0, **fields: Any) -> Send:
    """Returns a request to the share coordinator for one partition."""
    wanted = {"topic_id": id_of(topic), "partitions": [{"partition": partition, **fields}]}
    return Send(api, version, request_of(api, {"group_id": group, "topics": [wanted]}))


def initialize(topic: str, start_offset: int = 0, state_epoch: int = 0, **options: Any) -> Send:
    return state_request(INITIALIZE_SHARE_GROUP_STATE, topic, state_epoch=state_epoch, start_offset=start_offset, **options)


def read_state(topic: str, leader_epoch: int = -1, **options: Any) -> Send:
    return state_request(READ_SHARE_GROUP_STATE, topic, leader_epoch=leader_epoch, **options)


def delete_state(topic: str, **options: Any) -> Send:
    return state_request(DELETE_SHARE_GROUP_STATE, topic, **options)


def summary(topic: str, version: int = 1, **options: Any) -> Send:
    return state_request(READ_SHARE_GROUP_STATE_SUMMARY, topic, version, leader_epoch=0, **options)


def write_state(
    topic: str,
    batches: Iterable[tuple[int, int, int, int]] = (),
    *,
    start_offset: int = 0,
    state_epoch: int = 0,
    leader_epoch: int = 0,
    count: int = 0,
    version: int = 1,
    **options: Any,
) -> Send:
    names = ("first_offset", "last_offset", "delivery_state", "delivery_count")
    fields: Mapping[str, Any] = {
        "state_epoch": state_epoch,
        "leader_epoch": leader_epoch,
        "start_offset": start_offset,
        "state_batches": [dict(zip(names, batch, strict=True)) for batch in batches],
        **({"delivery_complete_count": count} if version else {}),
    }
    return state_request(WRITE_SHARE_GROUP_STATE, topic, version, **fields, **options)


def _batches(ranges: Iterable[Range]) -> list[AcknowledgementBatch]:
    return [AcknowledgementBatch(first_offset=first, last_offset=last, acknowledge_types=list(types)) for first, last, types in ranges]


def fetch(
    epoch: int,
    *topics: str,
    member: str | None = "m1",
    acks: Mapping[str, Iterable[Range]] | None = None,
    partitions: Sequence[int] = (0,),
    forget: Sequence[str] = (),
    version: int = 2,
    group: str | None = GROUP,
    node: int = 1,
    connection: str = "",
    waits: bool = False,
    **limits: Any,
) -> Send:
    """Returns a ShareFetch request. `acks` are the acknowledgements for partition 0 of each topic."""
    ranges = acks or {}
    wanted = [
        FetchTopic(
            topic_id=id_of(topic),
            partitions=[
                FetchPartition(partition_index=index, acknowledgement_batches=[] if index else _batches(ranges.get(topic, ())))
                for index in partitions
            ],
        )
        for topic in dict.fromkeys((*topics, *ranges))
    ]
    request = ShareFetchRequest(
        group_id=group,
        member_id=member,
        share_session_epoch=epoch,
        topics=wanted,
        forgotten_topics_data=[ForgottenTopic(topic_id=id_of(topic), partitions=list(partitions)) for topic in forget],
        **{"max_wait_ms": WAIT_MS, "min_bytes": 1, "max_bytes": 1 << 20, "max_records": 500, "batch_size": 500, **limits},
    )
    return Send(SHARE_FETCH, version, request, node, connection=connection or member or "", waits=waits)


def acknowledge(
    epoch: int,
    acks: Mapping[str, Iterable[Range]],
    *,
    member: str | None = "m1",
    version: int = 2,
    group: str | None = GROUP,
    renews: bool = False,
    partition: int = 0,
    node: int = 1,
    connection: str = "",
) -> Send:
    """Returns a ShareAcknowledge request for one partition of each topic."""
    topics = [
        AcknowledgeTopic(
            topic_id=id_of(topic), partitions=[AcknowledgePartition(partition_index=partition, acknowledgement_batches=_batches(ranges))]
        )
        for topic, ranges in acks.items()
    ]
    request = ShareAcknowledgeRequest(group_id=group, member_id=member, share_session_epoch=epoch, is_renew_ack=renews, topics=topics)
    return Send(SHARE_ACKNOWLEDGE, version, request, node, connection=connection or member or "")
