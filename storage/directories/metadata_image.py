"""The state that metadata records describe: topics, settings, accounts, quotas and nodes (Kafka's MetadataImage)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import singledispatchmethod
from typing import NamedTuple

from ...protocol.schema import Message
from ...protocol.stored import metadata_records as stored

TOPIC_CONFIG, BROKER_CONFIG, CLIENT_METRICS_CONFIG, GROUP_CONFIG = 2, 4, 16, 32
"""The types of resources that have settings (Kafka's ConfigResource.Type)."""
NO_CHANGE = -2


class Resource(NamedTuple):
    """A resource with settings. The name "" of a broker stands for all brokers."""

    kind: int
    name: str


class TopicImage:
    """A topic with its partitions by index."""

    def __init__(self, name: str, topic_id: bytes) -> None:
        self.name, self.topic_id = name, topic_id
        self.partitions: dict[int, stored.PartitionRecord] = {}


QuotaParts = tuple[tuple[str, str | None], ...]


class MetadataImage:
    """The state after records of the metadata. Deletions of what does not exist are ignored."""

    def __init__(self, records: Iterable[Message] = ()) -> None:
        self.topics: dict[bytes, TopicImage] = {}
        self.configs: dict[Resource, dict[str, str]] = {}
        self.brokers: dict[int, stored.RegisterBrokerRecord] = {}
        self.features: dict[str, int] = {}
        self.acls: dict[bytes, stored.AccessControlEntryRecord] = {}
        self.credentials: dict[tuple[str, int], stored.UserScramCredentialRecord] = {}
        self.tokens: dict[str, stored.DelegationTokenRecord] = {}
        self.quotas: dict[QuotaParts, dict[str, float]] = {}
        self.next_producer_id = 0
        for record in records:
            self._replay(record)

    def configs_of(self, kind: int, name: str) -> Mapping[str, str]:
        """Returns the settings of a resource."""
        return self.configs.get(Resource(kind, name), {})

    @singledispatchmethod
    def _replay(self, record: Message) -> None:
        """Applies a record. Records of other types do not change the image."""

    @_replay.register
    def _topic(self, record: stored.TopicRecord) -> None:
        self.topics[record.topic_id] = TopicImage(record.name, record.topic_id)

    @_replay.register
    def _remove_topic(self, record: stored.RemoveTopicRecord) -> None:
        topic = self.topics.pop(record.topic_id, None)
        if topic is not None:
            self.configs.pop(Resource(TOPIC_CONFIG, topic.name), None)

    @_replay.register
    def _partition(self, record: stored.PartitionRecord) -> None:
        if record.topic_id in self.topics:
            self.topics[record.topic_id].partitions[record.partition_id] = record

    @_replay.register
    def _change_partition(self, record: stored.PartitionChangeRecord) -> None:
        topic = self.topics.get(record.topic_id)
        partition = topic and topic.partitions.get(record.partition_id)
        if not partition:
            return
        if record.leader != NO_CHANGE:
            partition.leader = record.leader
            partition.leader_epoch += 1
        for name in (
            "isr",
            "replicas",
            "removing_replicas",
            "adding_replicas",
            "eligible_leader_replicas",
            "last_known_elr",
            "directories",
        ):
            if (changed := getattr(record, name)) is not None:
                setattr(partition, name, changed)
        partition.partition_epoch += 1

    @_replay.register
    def _config(self, record: stored.ConfigRecord) -> None:
        configs = self.configs.setdefault(Resource(record.resource_type, record.resource_name), {})
        if record.value is None:
            configs.pop(record.name, None)
        else:
            configs[record.name] = record.value

    @_replay.register
    def _register(self, record: stored.RegisterBrokerRecord) -> None:
        self.brokers[record.broker_id] = record

    @_replay.register
    def _unregister(self, record: stored.UnregisterBrokerRecord) -> None:
        self.brokers.pop(record.broker_id, None)

    @_replay.register
    def _feature(self, record: stored.FeatureLevelRecord) -> None:
        self.features[record.name] = record.feature_level

    @_replay.register
    def _acl(self, record: stored.AccessControlEntryRecord) -> None:
        self.acls[record.id] = record

    @_replay.register
    def _remove_acl(self, record: stored.RemoveAccessControlEntryRecord) -> None:
        self.acls.pop(record.id, None)

    @_replay.register
    def _credential(self, record: stored.UserScramCredentialRecord) -> None:
        self.credentials[record.name, record.mechanism] = record

    @_replay.register
    def _remove_credential(self, record: stored.RemoveUserScramCredentialRecord) -> None:
        self.credentials.pop((record.name, record.mechanism), None)

    @_replay.register
    def _token(self, record: stored.DelegationTokenRecord) -> None:
        self.tokens[record.token_id] = record

    @_replay.register
    def _remove_token(self, record: stored.RemoveDelegationTokenRecord) -> None:
        self.tokens.pop(record.token_id, None)

    @_replay.register
    def _quota(self, record: stored.ClientQuotaRecord) -> None:
        entity = tuple((part.entity_type, part.entity_name) for part in record.entity)
        quotas = self.quotas.setdefault(entity, {})
        if record.remove:
            quotas.pop(record.key, None)
        else:
            quotas[record.key] = record.value

    @_replay.register
    def _producer_ids(self, record: stored.ProducerIdsRecord) -> None:
        self.next_producer_id = record.next_producer_id

    @_replay.register
    def _clear_elr(self, record: stored.ClearElrRecord) -> None:
        for topic in self.topics.values():
            if record.topic_name in ("", topic.name):
                for partition in topic.partitions.values():
                    partition.eligible_leader_replicas = partition.last_known_elr = None
