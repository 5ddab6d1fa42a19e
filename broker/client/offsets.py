"""Offsets of partitions: the ends of their logs, and the offset at which a user wants to begin."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from datetime import datetime
from typing import NamedTuple

from ...protocol.client.connection import TopicPartition
from ...protocol.messages.list_offsets import LIST_OFFSETS, ListOffsetsPartition, ListOffsetsRequest, ListOffsetsTopic
from .cluster_client import ClusterClient, check

EARLIEST, LATEST = -2, -1
"""The timestamps with which ListOffsets requests the two ends of a log."""
READ_UNCOMMITTED, READ_COMMITTED = 0, 1
CONSUMER = -1
"""The replica id in requests of consumers."""
Offsets = dict[TopicPartition, int]


class Start(NamedTuple):
    """The place at which reading begins. Exactly one of the three is given.

    `timestamp` is EARLIEST, LATEST or ms since 1970, and `last` a number of offsets before the end.
    """

    timestamp: int | None = None
    offset: int | None = None
    last: int | None = None

    @classmethod
    def parse(cls, text: str) -> Start:
        """Returns the place that a text names. Raises ValueError."""
        if text in ("earliest", "latest"):
            return cls(timestamp=EARLIEST if text == "earliest" else LATEST)
        if re.fullmatch("-?[0-9]{1,18}", text):
            return cls(last=-int(text)) if text[0] == "-" else cls(offset=int(text))
        try:
            moment = datetime.fromisoformat(text)
        except ValueError:
            forms = "earliest, latest, an offset, -N for the last N, or a time such as 2026-01-31T12:00:00Z"
            raise ValueError(f"invalid start '{text}': use {forms}") from None
        if moment.tzinfo is None:
            raise ValueError(f"the time '{text}' has no time zone: write {text}Z for UTC")
        return cls(timestamp=round(moment.timestamp() * 1000))


def list_offsets(
    client: ClusterClient, leaders: Mapping[TopicPartition, int], timestamp: int, isolation_level: int = READ_UNCOMMITTED
) -> Offsets:
    """Returns the offset of the first record of this time or later in each partition, -1 if there is none.

    EARLIEST and LATEST are the ends of the log; LATEST is the last stable offset if only committed records are read.
    """
    by_node: dict[int, dict[str, list[ListOffsetsPartition]]] = {}
    for (topic, index), node in leaders.items():
        by_node.setdefault(node, {}).setdefault(topic, []).append(ListOffsetsPartition(partition_index=index, timestamp=timestamp))
    requests = {
        node: ListOffsetsRequest(
            replica_id=CONSUMER,
            isolation_level=isolation_level,
            topics=[ListOffsetsTopic(name=name, partitions=partitions) for name, partitions in topics.items()],
        )
        for node, topics in by_node.items()
    }
    found: Offsets = {}
    for response in client.all_at_once(LIST_OFFSETS, requests).values():
        for topic in response.topics:
            for each in topic.partitions:
                check(each.error_code, f"partition {each.partition_index} of {topic.name}")
                found[TopicPartition(topic.name, each.partition_index)] = each.offset
    return found


def starts(client: ClusterClient, leaders: Mapping[TopicPartition, int], start: Start, isolation_level: int) -> Offsets:
    """Returns the offset at which reading begins in each partition. Offsets that the log does not have become its nearest end."""
    first = list_offsets(client, leaders, EARLIEST)
    if start.timestamp == EARLIEST:
        return first
    last = list_offsets(client, leaders, LATEST, isolation_level)
    if start.timestamp is not None:
        found = last if start.timestamp == LATEST else list_offsets(client, leaders, start.timestamp)
        return {each: offset if offset >= 0 else last[each] for each, offset in found.items()}
    wanted = {each: last[each] - start.last if start.last is not None else start.offset or 0 for each in leaders}
    return {each: min(max(offset, first[each]), last[each]) for each, offset in wanted.items()}


def of_topics(topics: Iterable[TopicPartition]) -> dict[str, list[int]]:
    """Returns the indexes of partitions by topic."""
    found: dict[str, list[int]] = {}
    for topic, index in topics:
        found.setdefault(topic, []).append(index)
    return found
