"""Fills a new cluster from the log directories of a broker or of a whole cluster.

The batches stay in the files, which are mapped; only their ends and the coordinators' topics are read. Nodes whose directories are missing
do not exist in the emulated cluster: their replicas are left out, and a partition without a copy is empty.
"""

from __future__ import annotations

import logging
from collections.abc import Iterator, Mapping

from ...protocol.errors import KafkaError
from ...protocol.stored.metadata_records import PartitionRecord
from ...storage.directories.log_loading import load_log
from ...storage.directories.metadata_image import BROKER_CONFIG, CLIENT_METRICS_CONFIG, GROUP_CONFIG, TOPIC_CONFIG, MetadataImage
from ...storage.directories.names import PARTITION_METADATA, UUID_BYTES, DamagedFile, PartitionName
from ...storage.directories.stored_cluster import Copy, committed_end
from ...storage.directories.text_files import read_topic_id
from ..cluster.quotas import entity_of
from ..cluster.state import ClusterState
from ..plurals import counted
from ..security.acls import Acl, Operation, PatternType, Permission, ResourceType
from ..security.scram_credentials import ScramCredential
from ..settings.properties import InvalidConfig
from ..settings.validation import validate_group_configs, validate_topic_configs
from ..settings.values import TopicConfig
from ..topics.partition import Partition, Topic
from ..topics.replication import NO_LEADER
from ..topics.topics import internal_topic
from .coordinators import replay_coordinators
from .source import ImportSource

log = logging.getLogger("kafka.log.LogManager")


def import_directories(cluster: ClusterState, source: ImportSource) -> None:
    """Fills a cluster that has the nodes of the directories. Raises InvalidConfig for files that cannot be read."""
    image = source.image
    try:
        _import_topics(cluster, source)
    except DamagedFile as error:
        raise InvalidConfig(f"cannot read the log directory: {error}") from None
    except OSError as error:
        raise InvalidConfig(f"cannot read {error.filename}: {error.strerror or error}") from None
    if image is not None:
        _import_settings(cluster, image)
        _import_tokens(cluster, image)
        _import_accounts(cluster, image)
        cluster.producer_ids.next_id = image.next_producer_id
    cluster.producer_ids.next_id = max([cluster.producer_ids.next_id, *(1 + producer_id for producer_id in _producer_ids(cluster))])
    # The directory of another cluster may be old; its transactions can then be looked at before they time out.
    replay_coordinators(cluster, restarts_timeouts=not source.has_all_nodes)
    # As after a restart of all brokers: clients find out by the new leader epoch where the logs that they have read end.
    epochs = (partition.leader_epoch for partition in cluster.topics.partitions())
    cluster.topics.begin_leader_epoch(1 + max(epochs, default=0))
    cluster.write_missing_markers()
    log.info("imported %s of %s", counted(len(cluster.topics), "topic"), ", ".join(str(each.path) for each in source.directories))


def _producer_ids(cluster: ClusterState) -> Iterator[int]:
    return (producer_id for partition in cluster.topics.partitions() for producer_id, _ in partition.producers)


def _import_topics(cluster: ClusterState, source: ImportSource) -> None:
    if source.image is not None:
        for found in source.image.topics.values():
            if source.selection.takes(found.name) and found.partitions:
                topic = _new_topic(cluster, found.name, found.topic_id, source.image.configs_of(TOPIC_CONFIG, found.name))
                for index in range(1 + max(found.partitions)):
                    _add_partition(cluster, source, topic, found.partitions.get(index))
        return
    counts: dict[str, int] = {}
    for each in filter(lambda name: source.selection.takes(name.topic), source.copies):
        counts[each.topic] = max(counts.get(each.topic, 0), each.partition + 1)
    for name, count in counts.items():
        internal = internal_topic(name, cluster.config)
        configs = {} if internal is None else {key: text for key, text in internal.configs.items() if text is not None}
        topic = _new_topic(cluster, name, _stored_id(source, name) or cluster.random.randbytes(UUID_BYTES), configs)
        for _ in range(count):
            _add_partition(cluster, source, topic, None)


def _stored_id(source: ImportSource, topic: str) -> bytes | None:
    """Returns the id in the folder of a partition; None if no folder has one, as those of brokers before 2.8."""
    for name, copies in source.copies.items():
        path = copies[0].directory.partitions[name] / PARTITION_METADATA
        if name.topic == topic and path.exists():
            return read_topic_id(path)
    return None


def _new_topic(cluster: ClusterState, name: str, topic_id: bytes, configs: Mapping[str, str]) -> Topic:
    valid = {}
    for key, text in configs.items():
        try:
            validate_topic_configs({key: text}, cluster.config.rows)
            valid[key] = text
        except InvalidConfig as error:
            log.warning("the setting %s=%s of the topic %s is left out: %s", key, text, name, error)
    topic = cluster.topics.new(name, topic_id, TopicConfig(cluster.config, valid))
    cluster.topics.add(topic)
    cluster.topics.version += 1
    return topic


def _add_partition(cluster: ClusterState, source: ImportSource, topic: Topic, record: PartitionRecord | None) -> None:
    name, nodes = PartitionName(topic.name, len(topic.partitions)), list(cluster.brokers)
    chosen = source.best_copy(name, record)
    wanted = [copy.node_id for copy in source.copies.get(name, [])] if record is None else record.replicas
    replicas = [node_id for node_id in wanted if node_id in nodes] or nodes[:1]
    leader = _leader(replicas, chosen, record if source.has_all_nodes else None)
    partition = Partition(topic, name.partition, replicas, [leader, *(each for each in replicas if each != leader)])
    partition.leader_epoch = 0 if record is None else max(0, record.leader_epoch)
    topic.partitions.append(partition)
    if chosen is None:
        if not source.has_all_nodes:
            log.warning("no directory has the partition %s, which is empty", name)
        return
    stored = chosen.directory.read_log(name)
    for damage in stored.damages:
        log.warning("%s", damage)
    load_log(partition.log, partition.producers, stored, cluster.timers.now_ms)
    partition.virtual_segments.load(partition.log, stored.file_starts)
    partition.update_held_offset()
    if not source.has_all_nodes and (end_offset := committed_end(chosen, name, record)) is not None:
        partition.truncate_to(max(end_offset, partition.log.start_offset))
    source.selection.cut(partition)


def _leader(replicas: list[int], chosen: Copy | None, record: PartitionRecord | None) -> int:
    """Returns the node that leads: that of the record, else the one whose copy was chosen, else the first one."""
    wanted = (NO_LEADER if record is None else record.leader, NO_LEADER if chosen is None else chosen.node_id)
    return next((node_id for node_id in wanted if node_id in replicas), replicas[0])


def _import_settings(cluster: ClusterState, image: MetadataImage) -> None:
    cluster.features.levels |= {name: level for name, level in image.features.items() if name in cluster.features.supported}
    cluster.features.limit()
    cluster.alter_brokers(None, dict(cluster.config.cluster_wide) | _known_settings(cluster, image.configs_of(BROKER_CONFIG, "")))
    for node_id, broker in cluster.brokers.items():
        if own := _known_settings(cluster, image.configs_of(BROKER_CONFIG, str(node_id))):
            cluster.alter_brokers(broker, own)
    for (kind, name), configs in image.configs.items():
        try:
            if kind == GROUP_CONFIG:
                validate_group_configs(configs, cluster.config)
                cluster.alter_group(name, configs)
            elif kind == CLIENT_METRICS_CONFIG:
                cluster.alter_client_metrics(name, configs)
        except InvalidConfig as error:
            log.warning("the settings of %s are left out: %s", name, error)
    for parts, quotas in image.quotas.items():
        if quotas:
            cluster.alter_quotas(entity_of(dict(parts)), dict(quotas), validate_only=False)


def _known_settings(cluster: ClusterState, configs: Mapping[str, str]) -> dict[str, str]:
    """Returns the settings of brokers that the emulated release knows. Listeners are those of this start."""
    return {name: text for name, text in configs.items() if name in cluster.config.rows.broker and "listener" not in name}


def _import_tokens(cluster: ClusterState, image: MetadataImage) -> None:
    if not image.tokens:
        return
    if not (tokens := cluster.accounts.tokens).is_enabled:
        found = counted(len(image.tokens), "delegation token has", "delegation tokens have")
        log.warning("%s no effect; set delegation.token.secret.key to that of the brokers", found)
        return
    for each in image.tokens.values():
        times = each.issue_timestamp, each.max_timestamp, each.expiration_timestamp
        tokens.load(each.token_id, each.owner, each.requester, each.renewers, *times)


def _import_accounts(cluster: ClusterState, image: MetadataImage) -> None:
    for (user, mechanism), record in image.credentials.items():
        credential = ScramCredential(record.iterations, record.salt, record.stored_key, record.server_key)
        cluster.accounts.scram_credentials.set(user, mechanism, credential)
    if image.acls and cluster.authorizer is None:
        log.warning("%s no effect; set authorizer.class.name, and super.users", counted(len(image.acls), "ACL has", "ACLs have"))
        return
    for each in image.acls.values():
        acl = Acl(
            *(ResourceType(each.resource_type), each.resource_name, PatternType(each.pattern_type), each.principal, each.host),
            *(Operation(each.operation), Permission(each.permission_type)),
        )
        try:
            cluster.authorizer.add(acl)  # type: ignore[union-attr]
        except KafkaError as error:
            log.warning("the ACL %s is left out: %s", acl, error)
