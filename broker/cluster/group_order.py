"""The order of groups in Kafka's answers, which is that of its tables: it has one for each partition of `__consumer_offsets`."""

from __future__ import annotations

from collections.abc import Generator, Iterable

from ..groups.coordinator import Group
from ..kafka_quirks.java_hash import abs_java_hash, partitions_order, timeline_order
from ..scheduling.waiting import NEXT_TURN, Wait
from ..slices import Slices
from ..topics.names import CONSUMER_OFFSETS
from ..topics.topic import Topic
from .broker import Broker


def coordinated_groups(broker: Broker, slices: Slices) -> Generator[Wait, None, list[Group]]:
    """Returns the groups that a broker coordinates, in the order of ListGroups."""
    offsets = broker.cluster.topics.get(CONSUMER_OFFSETS)
    if offsets is None:
        return []
    led = [partition.index for partition in offsets.partitions if partition.leader == broker.node_id]
    shards: dict[int, dict[str, Group]] = {index: {} for index in led}
    for group in list(broker.groups):
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


def by_coordinator(group_ids: Iterable[str], broker: Broker) -> list[str]:
    """Returns the ids of groups, which may repeat, in the order in which Kafka answers a request that names all of them."""
    offsets = broker.cluster.topics.get(CONSUMER_OFFSETS)
    shards: dict[int, list[str]] = {}
    for group_id in group_ids:
        shards.setdefault(_partition_of(group_id, offsets) if offsets else 0, []).append(group_id)
    # Of partitions in one bucket of Kafka's table, the last that was put into it comes first.
    return [group_id for index in partitions_order(CONSUMER_OFFSETS, list(reversed(shards))) for group_id in shards[index]]


def _partition_of(group_id: str, offsets: Topic) -> int:
    return abs_java_hash(group_id) % len(offsets.partitions)
