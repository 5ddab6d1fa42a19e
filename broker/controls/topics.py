"""Controls that create, delete and describe topics without a client."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Annotated

from ...protocol.errors import KafkaError
from ..control_errors import InvalidControl, unknown
from ..frozen_data import FrozenData
from ..settings.properties import InvalidConfig, SettingValue
from .declaration import Controls, control
from .parameters import TopicName
from .waiting import in_turns

if TYPE_CHECKING:
    from ..topics.partition import Partition, Topic


class PartitionInfo(FrozenData):
    """One partition: its leader (-1: none), replicas, in-sync replicas, and the offsets between which there are records."""

    partition: int
    leader: int
    leader_epoch: int
    replicas: list[int]
    isr: list[int]
    start_offset: int
    high_watermark: int
    end_offset: int
    size_bytes: int


class TopicInfo(FrozenData):
    """One topic with the configs that differ from the defaults."""

    name: str
    internal: bool
    configs: dict[str, str]
    partitions: list[PartitionInfo]


class TopicControls(Controls):
    """The topics of a cluster."""

    @control("topic create")
    async def create_topic(
        self,
        topic: TopicName,
        partitions: Annotated[int | None, "the number of partitions; by default num.partitions"] = None,
        replication_factor: Annotated[int | None, "the number of replicas; by default default.replication.factor"] = None,
        configs: Annotated[Mapping[str, SettingValue] | None, "topic settings, such as cleanup.policy"] = None,
    ) -> TopicInfo:
        """Creates a topic and returns its description."""
        from ..cluster.startup_topics import TopicOptions, check_topics, topic_specs_of

        cluster = self._server.cluster
        options = TopicOptions()
        if partitions is not None:
            options["partitions"] = partitions
        if replication_factor is not None:
            options["replication_factor"] = replication_factor
        if configs is not None:
            options["configs"] = configs
        try:
            [spec] = topic_specs_of({topic: options})
            check_topics([spec], len(cluster.brokers), cluster.config.rows)
        except (InvalidConfig, TypeError, ValueError) as error:
            raise InvalidControl.of_call(_parameter_of(str(error)), str(error)) from None
        with self._server.control_turn(f"creating topic {topic}"):
            try:
                created = cluster.topics.create(spec.name, spec.partitions, spec.replication_factor, configs=spec.configs)
            except KafkaError as error:
                raise InvalidControl("topic", f"{error.code.name}: {error.message}") from None
        return _topic_info(created)

    @control("topic delete")
    async def delete_topic(self, topic: TopicName) -> None:
        """Deletes a topic with its records and the offsets that groups have committed for it."""
        found = self._topic(topic)
        with self._server.control_turn(f"deleting topic {topic}"):
            self._server.cluster.delete_topic(found)

    @control("topic list", reads=True)
    async def topics(self) -> list[TopicInfo]:
        """Returns all topics with their partitions, in the order of their creation."""
        return await in_turns(map(_topic_info, list(self._server.cluster.topics.values())))

    def _topic(self, name: str) -> Topic:
        """Returns a topic. Raises InvalidControl for a name that does not exist."""
        topics = self._server.cluster.topics
        if name not in topics:
            raise unknown("topic", "topic", name, topics)
        return topics[name]

    def _partition(self, topic: Topic, index: int) -> Partition:
        """Returns a partition of a topic. Raises InvalidControl for an index that does not exist."""
        partition = topic.partition(index)
        if partition is None:
            raise unknown("partition", "partition", index, range(len(topic.partitions)))
        return partition


def _parameter_of(message: str) -> str:
    """Returns the parameter that an error of `topic_specs_of` or `check_topics` is about."""
    named = {"partitions must": "partitions", "replication": "replication_factor", "config": "configs", "setting": "configs"}
    return next((parameter for text, parameter in named.items() if text in message), "topic")


def _topic_info(topic: Topic) -> TopicInfo:
    return TopicInfo(topic.name, topic.is_internal, dict(topic.config.overrides), [_partition_info(each) for each in topic.partitions])


def _partition_info(partition: Partition) -> PartitionInfo:
    log = partition.log
    return PartitionInfo(
        partition=partition.index,
        leader=partition.leader,
        leader_epoch=partition.leader_epoch,
        replicas=list(partition.replicas),
        isr=list(partition.isr),
        start_offset=log.start_offset,
        high_watermark=partition.high_watermark,
        end_offset=log.end_offset,
        size_bytes=log.size,
    )
