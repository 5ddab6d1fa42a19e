"""The topology of a streams application, as members send it in their first heartbeat (Kafka's StreamsTopology).

A topology consists of subtopologies. Each reads source topics, which users create, and repartition topics, to which other subtopologies
write; it keeps its state in changelog topics. Repartition and changelog topics are internal: the broker creates them
(`configuration.py`).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import NamedTuple, TypeVar

from ....protocol.errors import ErrorCode, KafkaError
from ...kafka_quirks.java_hash import hash_map_order

T = TypeVar("T")


class InternalTopicInfo(NamedTuple):
    """An internal topic. `partitions` and `replication_factor` are 0 if the broker decides them."""

    name: str
    partitions: int
    replication_factor: int
    configs: tuple[tuple[str, str], ...]


class CopartitionGroup(NamedTuple):
    """Topics that must have the same number of partitions, as indexes of `source_topics` and `repartition_source_topics`."""

    source_topics: tuple[int, ...]
    repartition_source_topics: tuple[int, ...]


class Subtopology(NamedTuple):
    """A part of a topology whose tasks are assigned independently of other parts."""

    subtopology_id: str
    source_topics: tuple[str, ...]
    changelog_topics: tuple[InternalTopicInfo, ...]
    repartition_sink_topics: tuple[str, ...]
    repartition_source_topics: tuple[InternalTopicInfo, ...]
    copartition_groups: tuple[CopartitionGroup, ...]

    def read_topics(self) -> Iterator[str]:
        """Yields the source topics and the repartition topics that the subtopology reads."""
        yield from self.source_topics
        yield from (topic.name for topic in self.repartition_source_topics)

    def copartitioned_topics(self) -> Iterator[list[str]]:
        """Yields the names of the topics in each group, without duplicates, in the order of a HashSet.

        Raises KafkaError with UNKNOWN_SERVER_ERROR, as Kafka fails, for an index without a topic.
        """
        for group in self.copartition_groups:
            sources = [_at(self.source_topics, index) for index in group.source_topics]
            repartitioned = [_at(self.repartition_source_topics, index).name for index in group.repartition_source_topics]
            yield hash_map_order([*sources, *repartitioned])


def _at(items: tuple[T, ...], index: int) -> T:
    if not 0 <= index < len(items):
        raise KafkaError(ErrorCode.UNKNOWN_SERVER_ERROR)
    return items[index]


class Topology(NamedTuple):
    """A topology, with its subtopologies by id."""

    epoch: int
    subtopologies: Mapping[str, Subtopology]

    def parts(self) -> list[Subtopology]:
        """Returns the subtopologies in the order of a HashMap, in which Kafka visits them."""
        return [self.subtopologies[name] for name in hash_map_order(self.subtopologies)]

    def readers(self) -> dict[str, str]:
        """Returns the id of the subtopology that reads each topic; of several, the one that Kafka finds last."""
        return {topic: part.subtopology_id for part in self.parts() for topic in part.read_topics()}

    def required_topics(self) -> set[str]:
        """Returns the topics that tasks read, and the changelog topics."""
        parts = self.subtopologies.values()
        return {topic for part in parts for topic in (*part.read_topics(), *(changelog.name for changelog in part.changelog_topics))}
