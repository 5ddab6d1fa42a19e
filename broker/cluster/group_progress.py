"""The progress of a group: the committed offset and the lag of each partition of the topics that it reads.

A group reads the topics to which its members subscribe, and those in which it has committed an offset. All partitions of these topics
count: where nothing is committed, the lag is the number of offsets from the start of the log, because nothing shows that a record was
processed. A classic group that no member has ever joined stores the offsets of consumers which assign partitions to themselves; only the
partitions that they have committed count.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping

from ..groups.classic.group import ClassicGroup
from ..groups.cluster_view import UNINITIALIZED_START_OFFSET
from ..groups.coordinator import Group
from ..groups.offsets import CommittedOffset
from ..groups.share.group import ShareGroup
from ..groups.streams.group import StreamsGroup
from ..topics.partition import Partition
from .offset_info import OffsetInfo
from .state import ClusterState


def progress(group: Group, cluster: ClusterState) -> Iterator[OffsetInfo]:
    """Yields the partitions of the topics that a group reads, in the order of topics and partitions."""
    return _share_progress(group, cluster) if isinstance(group, ShareGroup) else _progress(group, cluster)


def _progress(group: Group, cluster: ClusterState) -> Iterator[OffsetInfo]:
    committed = dict(cluster.groups.offsets.of(group.group_id))
    subscribed = _subscribed_topics(group)
    is_joined = not isinstance(group, ClassicGroup) or group.protocol_type is not None
    for topic in sorted(committed.keys() | subscribed):
        offsets = committed.get(topic, {})
        for index in _indexes(topic, offsets, cluster) if is_joined else sorted(offsets):
            yield _offset_info(topic, index, offsets.get(index), cluster.topics.find_partition(topic, index))


def _offset_info(topic: str, index: int, found: CommittedOffset | None, partition: Partition | None) -> OffsetInfo:
    lag = 0
    if partition is not None:
        lag = max(0, partition.high_watermark - (partition.log.start_offset if found is None else found.offset))
    return OffsetInfo(topic, index, None if found is None else found.offset, "" if found is None else found.metadata, lag)


def _indexes(topic: str, offsets: Mapping[int, object], cluster: ClusterState) -> Iterable[int]:
    """Returns the partitions of a topic, and those of committed offsets that it does not have any more."""
    found = cluster.topics.get(topic)
    return sorted({*offsets, *(range(len(found.partitions)) if found else ())})


def _subscribed_topics(group: Group) -> Collection[str]:
    if isinstance(group, ClassicGroup):
        return group.subscribed_topics
    return group.readers if isinstance(group, StreamsGroup) else group.subscriptions.names


def _share_progress(group: ShareGroup, cluster: ClusterState) -> Iterator[OffsetInfo]:
    names = {*group.subscriptions.names, *map(cluster.topics.name_of, group.initialization.assignable)}
    for topic in (cluster.topics[name] for name in sorted(names) if name in cluster.topics):
        for partition in topic.partitions:
            stored = cluster.share_states.summary(group.group_id, topic.id, partition.index)
            if stored is None or stored.start_offset == UNINITIALIZED_START_OFFSET:
                yield _offset_info(topic.name, partition.index, None, partition)
            else:
                lag = partition.high_watermark - stored.start_offset - max(0, stored.delivery_complete_count)
                yield OffsetInfo(topic.name, partition.index, stored.start_offset, "", max(0, lag))
