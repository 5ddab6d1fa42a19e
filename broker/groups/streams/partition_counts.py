"""Derives the numbers of partitions of internal topics (Kafka's RepartitionTopics, CopartitionedTopicsEnforcer, ChangelogTopics).

1. A repartition topic has the number that the topology states, or as many partitions as the largest topic that is read by a subtopology
   which writes to it.
2. Repartition topics that are co-partitioned with source topics get the number of those. Among themselves they get the stated number or,
   if none is stated, the largest one.
3. A changelog topic has as many partitions as the largest topic that its subtopology reads.

A topic that exists already counts with its real number in the second and the third step. Names are visited in the order of Kafka's hash
tables, because the first conflict is the one that is reported.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from heapq import heappop, heappush

from ....protocol.errors import ErrorCode, KafkaError
from ...kafka_quirks.java_hash import hash_map_order
from .topology import Subtopology, Topology


class IncorrectPartitions(Exception):
    """The numbers of partitions contradict each other, for the reason in the text."""


class PartitionCounts:
    """The numbers of partitions of all topics of a topology. `existing` returns the number of an existing topic, else None.

    Raises IncorrectPartitions, and KafkaError with STREAMS_INVALID_TOPOLOGY, or with UNKNOWN_SERVER_ERROR where Kafka fails.
    """

    def __init__(self, topology: Topology, existing: Mapping[str, int]) -> None:
        self._parts = topology.parts()
        self._existing = existing
        self.decided: dict[str, int] = {}
        """The numbers of repartition and changelog topics."""
        self._repartitioned = [topic for part in self._parts for topic in part.repartition_source_topics]
        self._fixed = {topic.name for topic in self._repartitioned if topic.partitions}
        self._flexible = {topic.name for topic in self._repartitioned if not topic.partitions}
        copartitioned = [group for part in self._parts for group in list(part.copartitioned_topics())]
        self.decided.update(self._repartition_counts())
        fixed_counts = {self[topic] for topic in self._fixed}
        for group in copartitioned:
            self._equalize(group, fixed_counts)
        self.decided.update(self._changelog_counts())

    def __getitem__(self, topic: str) -> int:
        count = self._existing.get(topic, self.decided.get(topic))
        if count is None:
            raise KafkaError(ErrorCode.UNKNOWN_SERVER_ERROR)
        return count

    def _repartition_counts(self) -> dict[str, int]:
        counts = {topic.name: topic.partitions for topic in self._repartitioned if topic.partitions}
        self._follow_sinks(counts)
        if any(sink not in counts for part in self._parts for sink in part.repartition_sink_topics):
            raise _invalid(
                "Failed to compute number of partitions for all repartition topics. There may be loops in the topology that"
                " cannot be resolved."
            )
        if not (self._fixed | self._flexible) <= counts.keys():
            raise _invalid(
                "Failed to compute number of partitions for all repartition topics, because a repartition source topic is never"
                " used as a sink topic."
            )
        return counts

    def _follow_sinks(self, counts: dict[str, int]) -> None:
        """Adds the numbers of sink topics to `counts`.

        Kafka passes over all subtopologies again and again, and decides the sinks of a subtopology when it first finds one of its inputs
        decided. The queue contains only the visits, as (pass, index), that decide something, so that long chains cost no more than others.
        """
        parts, readers = self._parts, defaultdict[str, list[int]](list)
        for index, part in enumerate(parts):
            for topic in part.repartition_source_topics:
                readers[topic.name].append(index)
        visits = [(0, index) for index, part in enumerate(parts) if self._largest_read(part, counts) is not None]
        seen = {index for _, index in visits}
        while visits:
            number, index = heappop(visits)
            count = self._largest_read(parts[index], counts)
            for sink in parts[index].repartition_sink_topics:
                if count is not None and sink not in counts:
                    counts[sink] = count
                    for reader in set(readers[sink]) - seen:
                        seen.add(reader)
                        heappush(visits, (number + (reader < index), reader))

    def _largest_read(self, part: Subtopology, counts: Mapping[str, int]) -> int | None:
        repartitioned = [counts.get(topic.name) for topic in part.repartition_source_topics]
        sources = [self._existing.get(topic) for topic in part.source_topics]
        return max((count for count in (*repartitioned, *sources) if count is not None), default=None)

    def _equalize(self, group: list[str], fixed_counts: set[int]) -> None:
        """Gives the repartition topics of a co-partition group the same number of partitions.

        `fixed_counts` are the numbers of all topics with a stated number, also those of other groups, which Kafka compares too.
        """
        repartitioned = {topic: self[topic] for topic in group if topic in self._fixed or topic in self._flexible}
        others = {topic: self[topic] for topic in group if topic not in repartitioned}
        if not group:
            return
        if others:
            count = _same(others)
        elif len(fixed_counts) > 1:
            raise IncorrectPartitions(f"Following topics do not have the same number of partitions: [{_java_map(repartitioned)}]")
        elif fixed_counts:
            (count,) = fixed_counts
        else:
            count = max(repartitioned.values())
        for topic in hash_map_order(repartitioned):
            if topic in self._fixed and repartitioned[topic] != count:
                raise IncorrectPartitions(
                    f"Number of partitions [{repartitioned[topic]}] of repartition topic [{topic}] doesn't match number of partitions"
                    f" [{count}] of the source topic."
                )
        self.decided.update(dict.fromkeys(repartitioned, count))

    def _changelog_counts(self) -> dict[str, int]:
        counts: dict[str, int] = {}
        for part in self._parts:
            read = [self[topic] for topic in part.read_topics()]
            if not read:
                raise _invalid(f"No source topics found for subtopology {part.subtopology_id}")
            counts.update({topic.name: max(read) for topic in part.changelog_topics})
        return counts


def _same(counts: Mapping[str, int]) -> int:
    if len(set(counts.values())) > 1:
        raise IncorrectPartitions(f"Following topics do not have the same number of partitions: [{_java_map(counts)}]")
    return next(iter(counts.values()))


def _java_map(counts: Mapping[str, int]) -> str:
    """Returns the text of a Java TreeMap."""
    return "{" + ", ".join(f"{topic}={counts[topic]}" for topic in sorted(counts)) + "}"


def _invalid(reason: str) -> KafkaError:
    return KafkaError(ErrorCode.STREAMS_INVALID_TOPOLOGY, reason)
