"""The partitions that each application of a streams group can answer queries about (Kafka's EndpointToPartitionsManager)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from ....protocol.errors import ErrorCode, KafkaError
from ..cluster_view import ClusterView
from .configuration import Configuration, ConfiguredSubtopology
from .heartbeat import EndpointPartitions
from .member import StreamsMember
from .tasks import Task, by_subtopology


def endpoint_partitions(members: Iterable[StreamsMember], configuration: Configuration, cluster: ClusterView) -> list[EndpointPartitions]:
    """Returns the partitions of each member that has an endpoint.

    Raises KafkaError with UNKNOWN_SERVER_ERROR, as Kafka fails, if a member has an endpoint and topics of the topology are missing.
    """
    return [
        EndpointPartitions(
            member.endpoint,
            _partitions(member.assigned.active, configuration.subtopologies, cluster),
            _partitions(member.assigned.standby, configuration.subtopologies, cluster),
        )
        for member in members
        if member.endpoint is not None
    ]


def _partitions(
    tasks: Iterable[Task], subtopologies: Mapping[str, ConfiguredSubtopology] | None, cluster: ClusterView
) -> list[tuple[str, list[int]]]:
    if subtopologies is None:
        raise KafkaError(ErrorCode.UNKNOWN_SERVER_ERROR)
    found = []
    for name, partitions in by_subtopology(tasks).items():
        part = subtopologies.get(name)
        for topic in sorted(part.source_topics | part.repartition_source_topics.keys()) if part else ():
            if topic not in cluster.topics:
                raise KafkaError(ErrorCode.UNKNOWN_SERVER_ERROR)
            # Kafka takes as many partitions as the topic has, not those that it has.
            found.append((topic, partitions[: len(cluster.topics[topic].partitions)]))
    return found
