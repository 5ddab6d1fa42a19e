"""The metrics of kafka_exporter (github.com/danielqsj/kafka_exporter), under its names and with its labels, so that dashboards for it work.

kafka_exporter is a client: it asks for Metadata, for the first and the last offset of each partition, and for the groups with their
offsets. The values here are the answers that it would get. Three of its rules may surprise:

* A partition without a leader has neither leader nor offsets, and a group without a coordinator is left out.
* A group has values for each partition of a topic for whose partitions it has committed at least one offset. Offset and lag of a partition
  without a committed offset are -1. The -1 counts in the sum of the offsets and does not count in the sum of the lags.
* The lag is the difference of high watermark and committed offset. It is negative if a client has committed an offset beyond the end.

The samples are made in slices, as in `slices.py`: those of deleted topics and groups are left out.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import groupby
from operator import itemgetter
from typing import TYPE_CHECKING, NamedTuple

from ..cluster.state import ClusterState
from ..scheduling.slices import chunks
from ..topics.partition import Partition, Topic
from ..topics.replication import NO_LEADER
from .openmetrics import Family, escape, gauge, labels, samples

if TYPE_CHECKING:
    from ..groups.coordinator import Group
    from ..groups.offsets import CommittedOffset

NO_OFFSET = -1

BROKERS = gauge("kafka_brokers", "Brokers that are alive.")
BROKER_INFO = gauge("kafka_broker_info", "The address that a broker advertises to clients.")
TOPIC_PARTITIONS = gauge("kafka_topic_partitions", "Partitions of a topic.")


def _has_leader(partition: Partition) -> bool:
    return partition.leader != NO_LEADER


PARTITION_FAMILIES: Mapping[Family, Callable[[Partition], int | None]] = {
    gauge("kafka_topic_partition_current_offset", "High watermark of a partition."): (
        lambda partition: partition.high_watermark if _has_leader(partition) else None
    ),
    gauge("kafka_topic_partition_oldest_offset", "Offset of the first record of a partition."): (
        lambda partition: partition.log.start_offset if _has_leader(partition) else None
    ),
    gauge("kafka_topic_partition_leader", "Id of the node that leads a partition."): (
        lambda partition: partition.leader if _has_leader(partition) else None
    ),
    gauge("kafka_topic_partition_leader_is_preferred", "1 if the first replica leads the partition, otherwise 0."): (
        lambda partition: int(partition.leader == partition.replicas[0])
    ),
    gauge("kafka_topic_partition_replicas", "Replicas of a partition."): lambda partition: len(partition.replicas),
    gauge("kafka_topic_partition_in_sync_replica", "In-sync replicas of a partition."): lambda partition: len(partition.isr),
    gauge("kafka_topic_partition_under_replicated_partition", "1 if replicas of the partition are out of sync, otherwise 0."): (
        lambda partition: int(len(partition.isr) < len(partition.replicas))
    ),
}
"""The families of partitions, each with a function that returns the value, or None if there is no sample."""


class PartitionProgress(NamedTuple):
    """The progress of a group in one partition. The offset is -1 if the group has not committed one."""

    partition: Partition
    offset: int

    @property
    def lag(self) -> int | None:
        """The number of records up to the high watermark, or None if the partition has no leader that could name it."""
        if not _has_leader(self.partition):
            return None
        return NO_OFFSET if self.offset == NO_OFFSET else self.partition.high_watermark - self.offset

    @property
    def known_lag(self) -> int:
        """The lag, or 0 if it is unknown."""
        return 0 if self.offset == NO_OFFSET else self.lag or 0


GROUP_MEMBERS = gauge("kafka_consumergroup_members", "Members of a group.")
GROUP_FAMILIES: Mapping[Family, Callable[[PartitionProgress], int | None]] = {
    gauge("kafka_consumergroup_current_offset", "Committed offset of a group in a partition, -1 without one."): lambda each: each.offset,
    gauge("kafka_consumergroup_lag", "Records of a partition that a group has not committed, -1 without a committed offset."): (
        lambda each: each.lag
    ),
}
GROUP_SUMS: Mapping[Family, Callable[[PartitionProgress], int]] = {
    gauge("kafka_consumergroup_current_offset_sum", "Sum of the committed offsets of a group in a topic."): lambda each: each.offset,
    gauge("kafka_consumergroup_lag_sum", "Sum of the lags of a group in the partitions of a topic."): lambda each: each.known_lag,
}


def pieces(cluster: ClusterState, addresses: Mapping[int, str]) -> Iterator[str]:
    """Yields the text, each piece in about a millisecond. `addresses` are those that the nodes advertise, by their ids."""
    running = cluster.brokers.running
    yield BROKERS.head + samples(BROKERS.name, [("", len(running))])
    yield BROKER_INFO.head + samples(BROKER_INFO.name, ((labels(id=node, address=addresses[node]), 1) for node in running))
    topics = list(cluster.topics.values())
    yield from _topics(topics)
    yield from _groups(list(cluster.groups), cluster)


def _topics(topics: Sequence[Topic]) -> Iterator[str]:
    yield TOPIC_PARTITIONS.head
    for some in chunks(topics):
        present = [topic for topic in some if topic.partitions]
        yield samples(TOPIC_PARTITIONS.name, ((labels(topic=topic.name), len(topic.partitions)) for topic in present))
    for family, value_of in PARTITION_FAMILIES.items():
        yield family.head
        for topic in topics:
            opening = f'{{topic="{escape(topic.name)}",partition="'
            for partitions in chunks(topic.partitions):
                values = ((f'{opening}{partition.index}"}}', value_of(partition)) for partition in partitions)
                yield samples(family.name, ((each, value) for each, value in values if value is not None))


def _groups(groups: Sequence[Group], cluster: ClusterState) -> Iterator[str]:
    yield GROUP_MEMBERS.head
    for some in chunks(groups):
        served = ((labels(consumergroup=group.group_id), len(group.members)) for group in some if _is_served(group, cluster))
        yield samples(GROUP_MEMBERS.name, served)
    for family, value_of in GROUP_FAMILIES.items():
        yield family.head
        for opening, found in _progress(groups, cluster):
            values = ((f'{opening},partition="{each.partition.index}"}}', value_of(each)) for each in found)
            yield samples(family.name, ((each, value) for each, value in values if value is not None))
    for family, amount_of in GROUP_SUMS.items():
        yield family.head
        for opening, parts in groupby(_progress(groups, cluster), itemgetter(0)):
            amount = 0
            for _, found in parts:
                amount += sum(map(amount_of, found))
                yield ""
            yield samples(family.name, [(opening + "}", amount)])


def _is_served(group: Group, cluster: ClusterState) -> bool:
    """Returns whether the group still exists and has a coordinator."""
    return cluster.groups.get(group.group_id) is group and cluster.coordinator_log.coordinator(group.group_id) != NO_LEADER


def _progress(groups: Sequence[Group], cluster: ClusterState) -> Iterator[tuple[str, list[PartitionProgress]]]:
    """Yields the partitions of each topic of which a group has committed offsets, in parts, after the beginning of their labels."""
    for group in groups:
        if not _is_served(group, cluster):
            continue
        for name, committed in list(cluster.groups.offsets.of(group.group_id)):
            opening = f'{{consumergroup="{escape(group.group_id)}",topic="{escape(name)}"'
            topic = cluster.topics.get(name)
            for partitions in chunks(topic.partitions if topic else []):
                yield opening, [PartitionProgress(each, _offset(committed, each)) for each in partitions]


def _offset(committed: Mapping[int, CommittedOffset], partition: Partition) -> int:
    found = committed.get(partition.index)
    return NO_OFFSET if found is None else found.offset
