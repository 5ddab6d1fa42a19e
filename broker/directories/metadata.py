"""The metadata records that describe a cluster, with which Apache Kafka's controller begins (`bootstrap.checkpoint`)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from ...protocol.schema import Message
from ...protocol.stored import metadata_records as stored
from ...storage.directories.metadata_image import BROKER_CONFIG, CLIENT_METRICS_CONFIG, GROUP_CONFIG, TOPIC_CONFIG
from ..cluster.features import KRAFT_VERSION, METADATA_VERSION, SUPPORTED
from ..cluster.quotas import Match
from ..cluster.state import ClusterState
from ..topics.partition import Topic

UNKNOWN_DIRECTORY = bytes(16)
ID_BYTES = 16
EVERY_ENTITY = Match({}, (), strict=False)


def metadata_records(cluster: ClusterState, directory_ids: Mapping[int, bytes]) -> Iterator[Message]:
    """Yields the records of a cluster. `directory_ids` are the ids of the nodes' log directories.

    Without the record of producer ids, Kafka would generate ids that the logs contain.
    """
    yield from cluster_records(cluster)
    for topic in cluster.topics.values():
        yield from topic_records(topic, directory_ids)
    if cluster.producer_ids.next_id:
        yield stored.ProducerIdsRecord(broker_id=cluster.brokers.controller_id, next_producer_id=cluster.producer_ids.next_id)


def cluster_records(cluster: ClusterState) -> Iterator[Message]:
    """Yields the records of everything but topics and producer ids.

    The level of metadata.version is the first record, because Kafka demands it.
    """
    levels = {METADATA_VERSION: SUPPORTED[METADATA_VERSION][1], **cluster.features.levels}
    for name, level in levels.items():
        if level and name != KRAFT_VERSION:
            yield stored.FeatureLevelRecord(name=name, feature_level=level)
    yield from _configs(cluster)
    yield from _accounts(cluster)


def _configs(cluster: ClusterState) -> Iterator[stored.ConfigRecord]:
    yield from _settings(BROKER_CONFIG, "", cluster.config.cluster_wide)
    for broker in cluster.brokers.values():
        yield from _settings(BROKER_CONFIG, str(broker.node_id), broker.config.own)
    for name, group in cluster.group_configs.items():
        yield from _settings(GROUP_CONFIG, name, group.overrides)
    for name, subscription in cluster.metric_subscriptions.configs.items():
        yield from _settings(CLIENT_METRICS_CONFIG, name, subscription.overrides)


def _settings(kind: int, resource: str, settings: Mapping[str, str]) -> Iterator[stored.ConfigRecord]:
    for name, text in settings.items():
        yield stored.ConfigRecord(resource_type=kind, resource_name=resource, name=name, value=text)


def topic_records(topic: Topic, directory_ids: Mapping[int, bytes]) -> Iterator[Message]:
    """Yields the records of a topic with its settings and partitions."""
    yield stored.TopicRecord(name=topic.name, topic_id=topic.id)
    yield from _settings(TOPIC_CONFIG, topic.name, topic.config.overrides)
    for partition in topic.partitions:
        yield stored.PartitionRecord(
            partition_id=partition.index,
            topic_id=topic.id,
            replicas=list(partition.replicas),
            isr=list(partition.isr),
            removing_replicas=list(partition.removing),
            adding_replicas=list(partition.adding),
            leader=partition.leader,
            leader_epoch=partition.leader_epoch,
            partition_epoch=partition.leader_epoch,
            directories=[directory_ids.get(node_id, UNKNOWN_DIRECTORY) for node_id in partition.replicas],
            eligible_leader_replicas=list(partition.elr) or None,
            last_known_elr=list(partition.last_known_elr) or None,
        )


def _accounts(cluster: ClusterState) -> Iterator[Message]:
    for acl in cluster.authorizer or ():
        # With this first byte, the id is none of those that Kafka reserves, and its text does not begin with a dash (Uuid.randomUuid).
        yield stored.AccessControlEntryRecord(id=b"\1" + cluster.random.randbytes(ID_BYTES - 1), **acl._asdict())
    if "accounts" in vars(cluster) or cluster.users:
        for user in (credentials := cluster.accounts.scram_credentials):
            for mechanism, credential in credentials.of(user).items():
                yield stored.UserScramCredentialRecord(name=user, mechanism=mechanism, **credential._asdict())
        yield from _tokens(cluster)
    for entity, quotas in cluster.quotas.find(EVERY_ENTITY):
        parts = [stored.QuotaEntity(entity_type=kind, entity_name=name) for kind, name in entity]
        for key, value in quotas.items():
            yield stored.ClientQuotaRecord(entity=parts, key=key, value=value, remove=False)


def _tokens(cluster: ClusterState) -> Iterator[stored.DelegationTokenRecord]:
    tokens = cluster.accounts.tokens
    for token in tokens if tokens.is_enabled else ():
        yield stored.DelegationTokenRecord(
            owner=token.owner,
            requester=token.requester,
            renewers=list(token.renewers),
            issue_timestamp=token.issue_ms,
            max_timestamp=token.max_ms,
            expiration_timestamp=token.expiry_ms,
            token_id=token.token_id,
        )
