"""Configures a topology with the topics that exist: tasks, internal topics, and what is wrong (Kafka's InternalTopicManager)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from ....protocol.errors import ErrorCode, KafkaError
from ...kafka_quirks.java_hash import hash_map_order
from .partition_counts import IncorrectPartitions, PartitionCounts
from .topology import InternalTopicInfo, Topology

NAMED_TOPICS = 3
"""The number of topics that an explanation names."""
MAX_TASKS = 100_000
"""The number of tasks that a topology may have. Kafka has no limit, but a small request can describe a topology of any size."""


class NewTopic(NamedTuple):
    """An internal topic with its decided number of partitions. `replication_factor` is 0 if the broker's default applies."""

    name: str
    partitions: int
    replication_factor: int
    configs: tuple[tuple[str, str], ...]


class ConfiguredSubtopology(NamedTuple):
    """A subtopology with as many tasks as its largest topic has partitions, and its internal topics by name."""

    tasks: int
    source_topics: frozenset[str]
    repartition_source_topics: Mapping[str, NewTopic]
    repartition_sink_topics: frozenset[str]
    changelog_topics: Mapping[str, NewTopic]

    @property
    def is_stateful(self) -> bool:
        return bool(self.changelog_topics)


class TopologyProblem(NamedTuple):
    """The reason why tasks cannot be assigned: the name of a `StatusCode`, and an explanation in Kafka's words."""

    status: str
    detail: str


class Configuration(NamedTuple):
    """A topology in the context of the existing topics. It is ready if there is no problem.

    `subtopologies` are in ascending order of their ids; None if the numbers of partitions could not be derived.
    """

    topology_epoch: int
    subtopologies: Mapping[str, ConfiguredSubtopology] | None
    missing: tuple[NewTopic, ...]
    problem: TopologyProblem | None


def configure(topology: Topology, existing: Mapping[str, int]) -> Configuration:
    """Returns the configuration. `existing` are the numbers of partitions of those topics of the topology that exist.

    Raises KafkaError with STREAMS_INVALID_TOPOLOGY, and with UNKNOWN_SERVER_ERROR where Kafka fails.
    """
    for part in topology.subtopologies.values():
        list(part.copartitioned_topics())  # Kafka fails on an index without a topic before any other check
    sources = {topic for part in topology.subtopologies.values() for topic in part.source_topics}
    if absent := sorted(sources - existing.keys()):
        return _unusable(topology, TopologyProblem("MISSING_SOURCE_TOPICS", f"Source topics {_summary(absent)} are missing."))
    try:
        counts = PartitionCounts(topology, existing)
        parts = {name: _configure_subtopology(topology, name, counts) for name in sorted(topology.subtopologies)}
        missing = _missing(topology, parts, existing)
    except IncorrectPartitions as error:
        return _unusable(topology, TopologyProblem("INCORRECTLY_PARTITIONED_TOPICS", str(error)))
    if not missing and (tasks := sum(part.tasks for part in parts.values())) > MAX_TASKS:
        raise KafkaError(ErrorCode.STREAMS_INVALID_TOPOLOGY, f"The topology has {tasks} tasks; at most {MAX_TASKS} are supported.")
    problem = TopologyProblem("MISSING_INTERNAL_TOPICS", f"Internal topics are missing: {_summary([topic.name for topic in missing])}")
    return Configuration(topology.epoch, parts, missing, problem if missing else None)


def _unusable(topology: Topology, problem: TopologyProblem) -> Configuration:
    return Configuration(topology.epoch, None, (), problem)


def _configure_subtopology(topology: Topology, name: str, counts: PartitionCounts) -> ConfiguredSubtopology:
    part = topology.subtopologies[name]
    tasks = max(counts[topic] for topic in part.read_topics())
    if tasks < 1:
        raise KafkaError(ErrorCode.UNKNOWN_SERVER_ERROR)
    return ConfiguredSubtopology(
        tasks,
        frozenset(part.source_topics),
        _decide_topics(part.repartition_source_topics, counts),
        frozenset(part.repartition_sink_topics),
        _decide_topics(part.changelog_topics, counts),
    )


def _decide_topics(topics: tuple[InternalTopicInfo, ...], counts: PartitionCounts) -> dict[str, NewTopic]:
    """Returns the topics by name. Raises KafkaError with UNKNOWN_SERVER_ERROR, as Kafka fails, for names or settings that occur twice."""
    decided = {}
    for topic in topics:
        partitions = topic.partitions or counts.decided[topic.name]
        if topic.name in decided or partitions < 1 or len(dict(topic.configs)) < len(topic.configs):
            raise KafkaError(ErrorCode.UNKNOWN_SERVER_ERROR)
        decided[topic.name] = NewTopic(topic.name, partitions, topic.replication_factor, topic.configs)
    return decided


def _missing(topology: Topology, parts: Mapping[str, ConfiguredSubtopology], existing: Mapping[str, int]) -> tuple[NewTopic, ...]:
    """Returns the internal topics that do not exist. Raises IncorrectPartitions if one exists with another number of partitions."""
    internal: dict[str, NewTopic] = {}
    for part in parts.values():
        internal.update(part.repartition_source_topics)
        internal.update(part.changelog_topics)
    for topic in hash_map_order(sorted(topology.required_topics())):
        if topic in existing and topic in internal and existing[topic] != internal[topic].partitions:
            raise IncorrectPartitions(
                f"Existing topic {topic} has different number of partitions: expected {internal[topic].partitions}, found {existing[topic]}"
            )
    return tuple(internal[topic] for topic in hash_map_order(internal) if topic not in existing)


def _summary(topics: list[str]) -> str:
    more = f" and {len(topics) - NAMED_TOPICS} additional topics" if len(topics) > NAMED_TOPICS else ""
    return ", ".join(topics[:NAMED_TOPICS]) + more
