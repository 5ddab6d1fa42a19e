"""The shape of a cluster, as far as it decides which faults are possible: how many nodes it has, and the shapes of its topics."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from types import MappingProxyType
from typing import NamedTuple, Protocol


class TopicShape(NamedTuple):
    """The number of partitions of a topic, and the least number of replicas of one of them."""

    partitions: int
    replicas: int


class DescribedPartition(Protocol):
    """A partition as controls describe it."""

    @property
    def replicas(self) -> list[int]: ...


class DescribedTopic(Protocol):
    """A topic as controls describe it."""

    @property
    def name(self) -> str: ...

    @property
    def partitions(self) -> Iterable[DescribedPartition]: ...


class ClusterTopology(NamedTuple):
    """The number of nodes of a cluster and its topics by their names; and of a run, how often each transactional id was initialized, and
    the names of the groups that had members. A group to which offsets are committed need not have any.
    """

    nodes: int
    topics: Mapping[str, TopicShape]
    initialized: Mapping[str, int] = MappingProxyType({})
    joined: frozenset[str] = frozenset()


def topology_of(topics: Iterable[DescribedTopic], nodes: int) -> ClusterTopology:
    """Returns the topology of a cluster with these topics and so many nodes."""
    return ClusterTopology(nodes, {each.name: _shape(list(each.partitions)) for each in topics})


def _shape(partitions: list[DescribedPartition]) -> TopicShape:
    return TopicShape(len(partitions), min((len(each.replicas) for each in partitions), default=1))
