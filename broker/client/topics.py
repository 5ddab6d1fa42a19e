"""Topics: their partitions with offsets, their settings, and requests that create and delete them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ...protocol.client.connection import TopicPartition
from ...protocol.errors import ErrorCode, KafkaError
from ...protocol.messages.create_topics import CREATE_TOPICS, CreatableTopic, CreatableTopicConfig, CreateTopicsRequest
from ...protocol.messages.delete_topics import DELETE_TOPICS, DeleteTopicsRequest, DeleteTopicState
from ...protocol.messages.describe_configs import DESCRIBE_CONFIGS, DescribeConfigsRequest, DescribeConfigsResource
from ...protocol.schema import ZERO_UUID
from .cluster_client import ClientError, ClusterClient, check
from .offsets import EARLIEST, LATEST, Offsets, list_offsets

TIMEOUT_MS = 10_000
TOPIC_RESOURCE = 2
TOPIC_CONFIG = 1
"""The source of a setting that was set for the topic itself."""
BROKER_DEFAULT = -1


@dataclass(frozen=True)
class TopicSummary:
    """A topic in a list. `replicas` is the replication factor."""

    name: str
    partitions: int
    replicas: int
    internal: bool


@dataclass(frozen=True)
class PartitionInfo:
    """A partition: its leader, replicas, in-sync replicas, and the offsets between which there are records."""

    partition: int
    leader: int
    replicas: list[int]
    isr: list[int]
    start_offset: int
    end_offset: int


@dataclass(frozen=True)
class TopicDescription:
    """A topic with its partitions, and the settings that were set for it."""

    name: str
    internal: bool
    configs: dict[str, str | None]
    partitions: list[PartitionInfo]


def list_topics(client: ClusterClient) -> list[TopicSummary]:
    """Returns all topics that the user may see, by name."""
    topics = [topic for topic in client.metadata().topics if not topic.error_code]
    return sorted(
        (TopicSummary(each.name, len(each.partitions), _replicas(each), each.is_internal) for each in topics),
        key=lambda topic: topic.name,
    )


def _replicas(topic: Any) -> int:
    return max((len(each.replica_nodes) for each in topic.partitions), default=0)


def describe_topics(client: ClusterClient, names: Sequence[str]) -> list[TopicDescription]:
    """Returns the topics with these names. Raises ClientError if one does not exist."""
    topics = client.topics(names)
    leaders = client.leaders(topics)
    first, after = _ends(client, leaders, EARLIEST), _ends(client, leaders, LATEST)
    configs = _configs(client, names)

    def partition(topic: str, found: Any) -> PartitionInfo:
        place = TopicPartition(topic, found.partition_index)
        return PartitionInfo(place.partition, found.leader_id, list(found.replica_nodes), list(found.isr_nodes), first[place], after[place])

    return [
        TopicDescription(
            topic.name,
            topic.is_internal,
            configs[topic.name],
            sorted((partition(topic.name, each) for each in topic.partitions), key=lambda found: found.partition),
        )
        for topic in topics
    ]


def _ends(client: ClusterClient, leaders: Mapping[TopicPartition, int], timestamp: int) -> Offsets:
    return client.retry(lambda: list_offsets(client, leaders, timestamp))


def _configs(client: ClusterClient, names: Iterable[str]) -> dict[str, dict[str, str | None]]:
    resources = [DescribeConfigsResource(resource_type=TOPIC_RESOURCE, resource_name=name, configuration_keys=None) for name in names]
    response = client.any(DESCRIBE_CONFIGS, DescribeConfigsRequest(resources=resources))
    found: dict[str, dict[str, str | None]] = {}
    for result in response.results:
        check(result.error_code, f"settings of topic {result.resource_name}", result.error_message)
        own = (each for each in result.configs if each.config_source == TOPIC_CONFIG)
        found[result.resource_name] = {each.name: each.value for each in sorted(own, key=lambda each: str(each.name))}
    return found


def create_topics(
    client: ClusterClient, names: Iterable[str], partitions: int, replicas: int, configs: Mapping[str, str], *, may_exist: bool = False
) -> None:
    """Creates topics, and returns when their partitions have leaders. BROKER_DEFAULT stands for the broker's default.

    Raises KafkaError if one cannot be created, or exists unless it may.
    """
    wanted = list(names)
    topics = [
        CreatableTopic(
            name=name,
            num_partitions=partitions,
            replication_factor=replicas,
            assignments=[],
            configs=[CreatableTopicConfig(name=key, value=value) for key, value in configs.items()],
        )
        for name in wanted
    ]
    response = client.ask_controller(CREATE_TOPICS, CreateTopicsRequest(topics=topics, timeout_ms=TIMEOUT_MS))
    for result in response.topics:
        if not (may_exist and result.error_code == ErrorCode.TOPIC_ALREADY_EXISTS):
            check(result.error_code, f"topic {result.name}", result.error_message)
    client.retry(lambda: _await(client, wanted))


def _await(client: ClusterClient, names: Iterable[str]) -> None:
    """Raises KafkaError with a retriable error while a broker does not know the topics yet."""
    try:
        client.topics(names)
    except ClientError as error:
        raise KafkaError(ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, str(error)) from None


def delete_topics(client: ClusterClient, names: Sequence[str]) -> None:
    """Deletes topics. Raises ClientError if one does not exist, and KafkaError if one cannot be deleted; others are deleted."""
    topics = [DeleteTopicState(name=name, topic_id=ZERO_UUID) for name in names]
    response = client.ask_controller(DELETE_TOPICS, DeleteTopicsRequest(topics=topics, topic_names=list(names), timeout_ms=TIMEOUT_MS))
    for result in response.responses:
        if result.error_code == ErrorCode.UNKNOWN_TOPIC_OR_PARTITION:
            raise ClientError(f"there is no topic {result.name!r}; odradek topics lists those that exist")
        check(result.error_code, f"topic {result.name}", result.error_message)
