"""The metadata records that a cluster has written, and those for what has changed since, as Kafka's controller would write them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from functools import singledispatch

from ...protocol.schema import Message
from ...protocol.stored import metadata_records as stored
from ..cluster.state import ClusterState
from ..directories.metadata import cluster_records, topic_records
from ..topics.partition import Topic

PRODUCER_IDS_IN_BLOCK = 1000
"""The number of producer ids for which Kafka's controller writes one record (ProducerIdsBlock)."""
Key = tuple[object, ...]


class WrittenMetadata:
    """The records of a cluster in its metadata log, by what they describe."""

    def __init__(self, cluster: ClusterState, directory_ids: Mapping[int, bytes]) -> None:
        self._cluster, self._directory_ids = cluster, directory_ids
        self._topics: dict[bytes, dict[Key, Message]] = {}
        self._others: dict[Key, Message] = {}
        self._next_producer_id = 0

    def __iter__(self) -> Iterator[Message]:
        """Iterates over the records that describe what has been written."""
        yield from self._others.values()
        for records in self._topics.values():
            yield from records.values()
        yield self._producer_ids(self._next_producer_id)

    @property
    def needs_producer_ids(self) -> bool:
        """Whether an id was generated that no written block contains."""
        return self._cluster.producer_ids.next_id > self._next_producer_id

    def change(self, topics: Iterable[Topic], *, others: bool) -> list[Message]:
        """Returns the records for changed topics and, with `others`, for changes of everything else. They count as written."""
        changes: list[Message] = []
        if others:
            after = _by_key(cluster_records(self._cluster))
            changes += _difference(self._others, after)
            self._others = {key: self._others[key] if key[0] == _ACL and key in self._others else each for key, each in after.items()}
        for topic in topics:
            changes += self._change_topic(topic)
        if self.needs_producer_ids:
            self._next_producer_id = -(-self._cluster.producer_ids.next_id // PRODUCER_IDS_IN_BLOCK) * PRODUCER_IDS_IN_BLOCK
            changes.append(self._producer_ids(self._next_producer_id))
        return changes

    def _change_topic(self, topic: Topic) -> Iterator[Message]:
        before = self._topics.pop(topic.id, {})
        if self._cluster.topics.by_id.get(topic.id) is not topic:
            if before:
                yield stored.RemoveTopicRecord(topic_id=topic.id)
            return
        self._topics[topic.id] = after = _by_key(topic_records(topic, self._directory_ids))
        yield from _difference(before, after)

    def _producer_ids(self, next_id: int) -> Message:
        return stored.ProducerIdsRecord(broker_id=self._cluster.brokers.controller_id, next_producer_id=next_id)


_ACL = stored.AccessControlEntryRecord


def _difference(before: Mapping[Key, Message], after: Mapping[Key, Message]) -> Iterator[Message]:
    for key, record in after.items():
        if key not in before or (key[0] != _ACL and before[key] != record):
            yield record
    for key, record in before.items():
        if key not in after:
            yield _removal(record)


def _by_key(records: Iterable[Message]) -> dict[Key, Message]:
    return {(type(record), *_key(record)): record for record in records}


@singledispatch
def _key(record: Message) -> Key:
    """Returns the fields that identify what a record describes."""
    raise TypeError(record)


@_key.register
def _(record: stored.FeatureLevelRecord) -> Key:
    return (record.name,)


@_key.register
def _(record: stored.ConfigRecord) -> Key:
    return record.resource_type, record.resource_name, record.name


@_key.register
def _(record: stored.TopicRecord) -> Key:
    return (record.topic_id,)


@_key.register
def _(record: stored.PartitionRecord) -> Key:
    return (record.partition_id,)


@_key.register
def _(record: stored.AccessControlEntryRecord) -> Key:
    pattern = record.resource_type, record.resource_name, record.pattern_type
    return *pattern, record.principal, record.host, record.operation, record.permission_type


@_key.register
def _(record: stored.UserScramCredentialRecord) -> Key:
    return record.name, record.mechanism


@_key.register
def _(record: stored.DelegationTokenRecord) -> Key:
    return (record.token_id,)


@_key.register
def _(record: stored.ClientQuotaRecord) -> Key:
    return *((part.entity_type, part.entity_name) for part in record.entity), record.key


def _removal(record: Message) -> Message:
    """Returns the record that removes what a record has added. Levels of features and partitions are never removed."""
    if isinstance(record, stored.ConfigRecord):
        return stored.ConfigRecord(resource_type=record.resource_type, resource_name=record.resource_name, name=record.name, value=None)
    if isinstance(record, stored.AccessControlEntryRecord):
        return stored.RemoveAccessControlEntryRecord(id=record.id)
    if isinstance(record, stored.UserScramCredentialRecord):
        return stored.RemoveUserScramCredentialRecord(name=record.name, mechanism=record.mechanism)
    if isinstance(record, stored.DelegationTokenRecord):
        return stored.RemoveDelegationTokenRecord(token_id=record.token_id)
    if isinstance(record, stored.ClientQuotaRecord):
        return stored.ClientQuotaRecord(entity=record.entity, key=record.key, value=record.value, remove=True)
    if isinstance(record, stored.FeatureLevelRecord):
        return stored.FeatureLevelRecord(name=record.name, feature_level=0)
    raise TypeError(record)
