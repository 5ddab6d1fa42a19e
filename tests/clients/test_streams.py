"""Kafka Streams with the streams protocol (KIP-1071): a word count with a repartition and a changelog topic, in several instances."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from odradek.broker import Cluster
from odradek.broker.controls.group_info import GroupInfo
from tests import apache_kafka
from tests.clients import streams_programs
from tests.clients.kafka_programs import Programs
from tests.clients.streams_instances import APPLICATION, PARTITIONS, Instance, Words

pytestmark = [pytest.mark.clients, pytest.mark.slow]
SESSION_MS = 3000
SETTINGS = {
    "group.streams.min.session.timeout.ms": SESSION_MS,
    "group.streams.session.timeout.ms": SESSION_MS,
    "group.streams.min.heartbeat.interval.ms": 200,
    "group.streams.heartbeat.interval.ms": 200,
    "group.streams.assignment.interval.ms": 100,
    "group.streams.num.standby.replicas": 1,
    "transaction.state.log.num.partitions": 1,
    "offsets.topic.num.partitions": 1,
}


@pytest.fixture
def cluster() -> Iterator[Cluster]:
    lacking = apache_kafka.missing()
    if lacking is not None:
        pytest.skip(f"no {lacking}")
    with Cluster(nodes=2, topics={"lines": PARTITIONS, "counts": PARTITIONS}, settings=SETTINGS) as cluster:
        yield cluster


@pytest.fixture
def words(cluster: Cluster) -> Iterator[Words]:
    words = Words(cluster.bootstrap_servers)
    yield words
    words.close()


def group_of(cluster: Cluster) -> GroupInfo | None:
    groups = {each.group_id: each for each in cluster.groups()}
    return groups.get(APPLICATION)


def is_shared(cluster: Cluster, members: int) -> bool:
    """Returns whether the group is stable and each member has tasks."""
    group = group_of(cluster)
    return (
        group is not None
        and group.state == "Stable"
        and len(group.members) == members
        and all(any(indexes for indexes in member.assignment.values()) for member in group.members)
    )


def test_word_count_survives_a_killed_instance(cluster: Cluster, words: Words, tmp_path: Path) -> None:
    with ExitStack() as stack:
        first, second = (Instance(cluster.bootstrap_servers, tmp_path / name, "exactly_once_v2") for name in ("a", "b"))
        stack.callback(first.close)
        stack.callback(second.close)
        words.wait(lambda: is_shared(cluster, 2), first, second)
        words.write(*["to be or not to be"] * 40)
        words.wait(words.are_counted, first, second)
        second.kill()
        words.write(*["be that as it may"] * 40)
        words.wait(words.are_counted, first)
        words.wait(lambda: is_shared(cluster, 1), first)
        first.close()
        words.wait(lambda: (group := group_of(cluster)) is not None and group.state == "Empty")
        # A new instance has no state of its own and restores it from the changelog topic.
        third = Instance(cluster.bootstrap_servers, tmp_path / "c", "exactly_once_v2")
        stack.callback(third.close)
        words.write("to be", "or", "not", "to be")
        words.wait(words.are_counted, third)
    assert words.are_counted_once()
    configs = {topic.name: (topic.configs, topic.partitions) for topic in cluster.topics()}
    assert configs[f"{APPLICATION}-store-changelog"][0]["cleanup.policy"] == "compact"
    assert len(configs[f"{APPLICATION}-store-repartition"][1]) == PARTITIONS


def test_kafka_streams_groups_prints_the_same_as_with_kafka() -> None:
    if (lacking := apache_kafka.missing()) is not None:
        pytest.skip(f"no {lacking}")
    programs = Programs()
    try:
        with Cluster(nodes=2, settings=streams_programs.CLUSTER) as cluster:
            assert streams_programs.outputs(cluster.bootstrap_servers, programs) == streams_programs.RECORDED.read_text()
    finally:
        programs.close()
