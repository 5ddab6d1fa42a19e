"""Configurations of topologies: tasks, missing topics and problems."""

from __future__ import annotations

import pytest

from odradek.broker.groups.streams.configuration import MAX_TASKS, NewTopic, configure
from odradek.broker.groups.streams.topology import InternalTopicInfo, Topology
from odradek.protocol.errors import ErrorCode, KafkaError
from tests.broker.groups.streams_verbs import shape


def with_changelog(topology: Topology, *topics: InternalTopicInfo) -> Topology:
    """Returns the topology with other changelog topics in subtopology 0."""
    parts = {**topology.subtopologies, "0": topology.subtopologies["0"]._replace(changelog_topics=topics)}
    return topology._replace(subtopologies=parts)


def test_topology_with_all_topics_is_ready() -> None:
    configured = configure(shape("1:b*c,0:a"), {"a": 2, "b": 3, "c": 3})
    assert configured.problem is None
    assert configured.subtopologies is not None
    assert [(name, part.tasks, part.is_stateful) for name, part in configured.subtopologies.items()] == [("0", 2, False), ("1", 3, True)]


def test_missing_source_topics_are_named_up_to_three() -> None:
    configured = configure(shape("0:d+b+c+a+e"), {"e": 1})
    assert configured.problem == ("MISSING_SOURCE_TOPICS", "Source topics a, b, c and 1 additional topics are missing.")
    assert configured.subtopologies is None


def test_missing_internal_topics_have_all_their_options() -> None:
    changelog = InternalTopicInfo("c", 0, 2, (("cleanup.policy", "compact"),))
    configured = configure(with_changelog(shape("0:a"), changelog), {"a": 4})
    assert configured.missing == (NewTopic("c", 4, 2, (("cleanup.policy", "compact"),)),)
    assert configured.problem == ("MISSING_INTERNAL_TOPICS", "Internal topics are missing: c")


def test_existing_internal_topic_of_other_size_is_a_problem() -> None:
    configured = configure(shape("0:a*c"), {"a": 4, "c": 3})
    assert configured.problem is not None
    assert configured.problem.status == "INCORRECTLY_PARTITIONED_TOPICS"
    assert configured.problem.detail == "Existing topic c has different number of partitions: expected 4, found 3"


@pytest.mark.parametrize(
    "topics",
    [
        (InternalTopicInfo("c", 0, 0, ()), InternalTopicInfo("c", 0, 0, ())),
        (InternalTopicInfo("c", 0, 0, (("a", "b"), ("a", "c"))),),
        (InternalTopicInfo("c", -1, 0, ()),),
    ],
)
def test_malformed_internal_topics_fail_as_in_kafka(topics: tuple[InternalTopicInfo, ...]) -> None:
    with pytest.raises(KafkaError) as failed:
        configure(with_changelog(shape("0:a"), *topics), {"a": 4})
    assert failed.value.code is ErrorCode.UNKNOWN_SERVER_ERROR


def test_topology_with_too_many_tasks_is_refused() -> None:
    many = ",".join(f"{number}:a" for number in range(11))
    with pytest.raises(KafkaError, match="at most 100000 are supported") as refused:
        configure(shape(many), {"a": MAX_TASKS // 10})
    assert refused.value.code is ErrorCode.STREAMS_INVALID_TOPOLOGY
