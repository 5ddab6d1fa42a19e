"""Reads the internal topics of an imported cluster again, as Kafka's coordinators do when they start: groups, offsets, transactional ids.

Groups come back without members. Their clients join again with the next request, because no member id is known any more. Epochs and
generations continue, so that no epoch has two meanings.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator
from typing import NamedTuple, TypeVar

from ...protocol.batches.records import RecordBatch
from ...protocol.schema import Message, ProtocolError
from ...protocol.stored import coordinator_records as stored
from ...protocol.stored.control_records import ControlType, read_control_record
from ...protocol.stored.coordinator_records import CoordinatorRecord, RecordType
from ...protocol.stored.streams_records import StreamsGroupMetadataValue
from ..cluster.state import ClusterState
from ..groups.classic.group import ClassicGroup
from ..groups.consumer.group import ConsumerGroup
from ..groups.offsets import CommittedOffset
from ..groups.share.group import ShareGroup
from ..groups.share.initialization import TopicInitialization
from ..groups.streams.group import StreamsGroup
from ..topics.names import CONSUMER_OFFSETS, SHARE_GROUP_STATE, TRANSACTION_STATE
from ..topics.partition import Partition
from ..transactions.records import read_transaction

log = logging.getLogger("kafka.coordinator.group.GroupCoordinatorService")

M = TypeVar("M", bound=Message)

_OLD_OFFSET_COMMIT = 0


class _Stored(NamedTuple):
    """A record of an internal topic; `producer_id` is that of its transaction, None without one."""

    record: CoordinatorRecord
    producer_id: int | None


class _Marker(NamedTuple):
    """The end of a transaction in an internal topic."""

    producer_id: int
    committed: bool


def replay_coordinators(cluster: ClusterState, *, restarts_timeouts: bool) -> None:
    """Fills the coordinators of a cluster from its internal topics. Records that cannot be read are left out with a warning.

    With `restarts_timeouts`, the timeouts of open transactions begin again.
    """
    for partition in _partitions(cluster, CONSUMER_OFFSETS):
        _replay_groups(cluster, partition)
    for partition in _partitions(cluster, TRANSACTION_STATE):
        _replay_transactions(cluster, partition, restarts_timeouts=restarts_timeouts)
    if SHARE_GROUP_STATE in cluster.topics:
        cluster.load_share_states()


def _partitions(cluster: ClusterState, topic_name: str) -> list[Partition]:
    return cluster.topics[topic_name].partitions if topic_name in cluster.topics else []


def _entries(partition: Partition) -> Iterator[_Stored | _Marker]:
    for view in partition.log.batches(partition.log.start_offset, partition.log.end_offset):
        batch = RecordBatch(view)
        header = batch.header
        for record in batch.records():
            if header.is_control:
                control = read_control_record(record.key, record.value)
                if control is not None and control.kind in (ControlType.ABORT, ControlType.COMMIT):
                    yield _Marker(header.producer_id, control.kind is ControlType.COMMIT)
            elif record.key is not None:
                producer_id = header.producer_id if header.is_transactional else None
                yield _Stored(CoordinatorRecord(record.key, record.value), producer_id)


def _each_readable(partition: Partition, apply: Callable[[_Stored | _Marker], None]) -> None:
    """Calls `apply` for each entry of a partition, and logs those that it cannot read."""
    skipped = 0
    try:
        for entry in _entries(partition):
            try:
                apply(entry)
            except (ProtocolError, KeyError):
                skipped += 1
    except ProtocolError as error:
        log.warning("the rest of %r cannot be read: %s", partition, error)
    if skipped:
        log.warning("%d records of %r cannot be read and are left out", skipped, partition)


def _replay_groups(cluster: ClusterState, partition: Partition) -> None:
    offsets = cluster.groups.offsets

    def apply(entry: _Stored | _Marker) -> None:
        if isinstance(entry, _Marker):
            for group_id in offsets.groups_in_transaction(entry.producer_id):
                offsets.end_transaction(group_id, entry.producer_id, committed=entry.committed)
            return
        kind = int.from_bytes(entry.record.key[:2], "big")
        if kind in (_OLD_OFFSET_COMMIT, RecordType.OFFSET_COMMIT):
            _replay_commit(cluster, entry)
        elif kind in _GROUPS:
            _replay_group(cluster, RecordType(kind), entry.record)

    _each_readable(partition, apply)
    for group_id in offsets.group_ids():
        if cluster.groups.get(group_id) is None:  # offsets of a group without members
            cluster.groups.load(ClassicGroup.type, group_id, 0)


def _replay_commit(cluster: ClusterState, entry: _Stored) -> None:
    key = stored.OffsetCommitKey.decode(0, entry.record.key[2:])
    committed = None
    if entry.record.value is not None:
        value = _value(stored.OffsetCommitValue, entry.record.value, newest=4)
        expires = None if value.expire_timestamp == -1 else value.expire_timestamp
        committed = CommittedOffset(value.offset, value.leader_epoch, value.metadata, value.commit_timestamp, expires)
    cluster.groups.offsets.load(key.group, key.topic, key.partition, committed, entry.producer_id)


_GROUPS: dict[int, tuple[str, type[Message], str, int]] = {
    RecordType.GROUP_METADATA: (ClassicGroup.type, stored.GroupMetadataValue, "generation", 4),
    RecordType.CONSUMER_GROUP_METADATA: (ConsumerGroup.type, stored.ConsumerGroupMetadataValue, "epoch", 0),
    RecordType.SHARE_GROUP_METADATA: (ShareGroup.type, stored.ShareGroupMetadataValue, "epoch", 0),
    RecordType.STREAMS_GROUP_METADATA: (StreamsGroup.type, StreamsGroupMetadataValue, "epoch", 0),
    RecordType.SHARE_STATE_PARTITION_METADATA: (ShareGroup.type, stored.ShareGroupStatePartitionMetadataValue, "", 0),
}
"""The records of whole groups: the kind of group, the value, the name of its epoch, and the newest version."""


def _replay_group(cluster: ClusterState, kind: RecordType, record: CoordinatorRecord) -> None:
    group_type, form, epoch_name, newest = _GROUPS[kind]
    group_id = stored.GroupKey.decode(0, record.key[2:]).group
    if record.value is None:
        if epoch_name:
            cluster.groups.forget(group_id)
        return
    value = _value(form, record.value, newest)
    group = cluster.groups.load(group_type, group_id, getattr(value, epoch_name, 0))
    if isinstance(value, stored.GroupMetadataValue) and isinstance(group, ClassicGroup):
        group.protocol_type = value.protocol_type or None
    if isinstance(value, stored.ShareGroupStatePartitionMetadataValue) and isinstance(group, ShareGroup):
        initialization, now_ms = group.initialization, cluster.timers.now_ms
        initialization.is_known = True
        for topics, target in (
            (value.initializing_topics, initialization.initializing),
            (value.initialized_topics, initialization.initialized),
        ):
            target.clear()
            target.update({each.topic_id: TopicInitialization(each.topic_name, frozenset(each.partitions), now_ms) for each in topics})
        initialization.deleting = {each.topic_id: each.topic_name for each in value.deleting_topics}


def _replay_transactions(cluster: ClusterState, partition: Partition, *, restarts_timeouts: bool) -> None:
    found = {}

    def apply(entry: _Stored | _Marker) -> None:
        if isinstance(entry, _Stored):
            transactional_id, transaction = read_transaction(entry.record)
            found[transactional_id] = transaction

    _each_readable(partition, apply)
    for transaction in found.values():
        if transaction is not None:
            cluster.transactions.load(transaction, restarts_timeout=restarts_timeouts)
            newest = max(transaction.producer.id, transaction.next_producer_id)
            cluster.producer_ids.next_id = max(cluster.producer_ids.next_id, newest + 1)


def _value(form: type[M], value: bytes, newest: int) -> M:
    version = int.from_bytes(value[:2], "big")
    if version > newest:
        raise ProtocolError(f"version {version} of {form.__name__} is unknown")
    return form.decode(version, value[2:])
