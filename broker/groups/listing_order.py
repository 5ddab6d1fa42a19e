"""The order of groups in Kafka's responses.

Kafka keeps the groups of each partition of `__consumer_offsets` in a hash table of its own (a coordinator shard), and the shards in another
hash table by topic partition. ListGroups, DescribeGroups and DeleteGroups return groups in the order of these tables.
"""

from __future__ import annotations

from collections.abc import Generator, Iterable

from ..kafka_quirks.java_hash import abs_java_hash, partitions_order, timeline_order
from ..scheduling.slices import Slices, weight_of
from ..scheduling.waiting import NEXT_TURN, Wait
from ..topics.names import CONSUMER_OFFSETS
from ..topics.partition import Topic
from .table import Group


def coordinated_groups(groups: Iterable[Group], offsets: Topic | None, node_id: int, slices: Slices) -> Generator[Wait, None, list[Group]]:
    """Returns the groups that a node coordinates, in the order of ListGroups. `offsets` is `__consumer_offsets`, if it exists."""
    if offsets is None:
        return []
    led = [partition.index for partition in offsets.partitions if partition.leader == node_id]
    shards: dict[int, dict[str, Group]] = {index: {} for index in led}
    for group in list(groups):
        index = _partition_of(group.group_id, offsets)
        if index in shards:
            shards[index][group.group_id] = group
        if slices.full():
            yield NEXT_TURN
    found: list[Group] = []
    for index in partitions_order(CONSUMER_OFFSETS, led, concurrent=True):
        found += [shards[index][group_id] for group_id in timeline_order(shards[index])]
        if slices.full(len(shards[index])):
            yield NEXT_TURN
    return found


def response_order(group_ids: Iterable[str], offsets: Topic | None, slices: Slices) -> Generator[Wait, None, list[str]]:
    """Returns group ids, which may repeat, in the order in which Kafka's response to a request for all of them lists them."""
    shards: dict[int, list[str]] = {}
    for group_id in group_ids:
        shards.setdefault(_partition_of(group_id, offsets) if offsets else 0, []).append(group_id)
        if slices.full(1 + weight_of(group_id)):
            yield NEXT_TURN
    # Of partitions in the same bucket of Kafka's table, the one that was inserted last comes first.
    return [group_id for index in partitions_order(CONSUMER_OFFSETS, list(reversed(shards))) for group_id in shards[index]]


def _partition_of(group_id: str, offsets: Topic) -> int:
    return abs_java_hash(group_id) % len(offsets.partitions)
