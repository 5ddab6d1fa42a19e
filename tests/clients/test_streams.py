"""Kafka Streams with the streams protocol (KIP-1071): a word count with a repartition and a changelog topic, in several instances."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path

import confluent_kafka
import pytest

from odradek.broker import Cluster
from odradek.broker.controls.group_info import GroupInfo
from tests import apache_kafka
from tests.clients import streams_programs
from tests.clients.client import PATIENCE_S
from tests.clients.kafka_programs import Programs
from tests.clients.streams_instances import APPLICATION, Instance

pytestmark = [pytest.mark.clients, pytest.mark.slow]
PARTITIONS = 4
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


class Words:
    """A cluster with the topics of the word count: produces lines, and reads the counts."""

    def __init__(self, cluster: Cluster) -> None:
        self.cluster = cluster
        settings = {"bootstrap.servers": cluster.bootstrap_servers, "log_level": 0}
        self._producer = confluent_kafka.Producer(settings)
        self._consumer = confluent_kafka.Consumer(settings | {"group.id": "reader", "auto.offset.reset": "earliest"})
        self._consumer.subscribe(["counts"])
        self.expected: Counter[str] = Counter()
        self.read: dict[str, list[int]] = {}

    def write(self, *lines: str) -> None:
        for number, line in enumerate(lines):
            self._producer.produce("lines", line, partition=number % PARTITIONS)
            self.expected.update(line.split())
        assert self._producer.flush(PATIENCE_S) == 0

    def poll(self) -> None:
        """Reads counts, and waits for a short time if there are none."""
        for message in self._consumer.consume(1000, 0.05):
            assert message.error() is None, message.error()
            self.read.setdefault((message.key() or b"").decode(), []).append(int(message.value() or b""))

    def are_counted(self) -> bool:
        return {word: counts[-1] for word, counts in self.read.items()} == self.expected

    def close(self) -> None:
        self._consumer.close()


@pytest.fixture
def words() -> Iterator[Words]:
    lacking = apache_kafka.missing()
    if lacking is not None:
        pytest.skip(f"no {lacking}")
    with Cluster(nodes=2, topics={"lines": PARTITIONS, "counts": PARTITIONS}, settings=SETTINGS) as cluster:
        words = Words(cluster)
        yield words
        words.close()


def wait(words: Words, condition: Callable[[], bool], *instances: Instance) -> None:
    deadline = time.monotonic() + PATIENCE_S
    while not condition():
        states = [instance.states for instance in instances]
        assert time.monotonic() < deadline, states
        assert not [state for each in states for state in each if state.startswith(("failed", "ERROR"))], states
        words.poll()


def group_of(words: Words) -> GroupInfo | None:
    groups = {each.group_id: each for each in words.cluster.groups()}
    return groups.get(APPLICATION)


def is_shared(words: Words, members: int) -> bool:
    """Returns whether the group is stable and each member has tasks."""
    group = group_of(words)
    return (
        group is not None
        and group.state == "Stable"
        and len(group.members) == members
        and all(any(indexes for indexes in member.assignment.values()) for member in group.members)
    )


def test_word_count_survives_a_killed_instance(words: Words, tmp_path: Path) -> None:
    with ExitStack() as stack:
        first, second = (Instance(words.cluster.bootstrap_servers, tmp_path / name, "exactly_once_v2") for name in ("a", "b"))
        stack.callback(first.close)
        stack.callback(second.close)
        wait(words, lambda: is_shared(words, 2), first, second)
        words.write(*["to be or not to be"] * 40)
        wait(words, words.are_counted, first, second)
        second.kill()
        words.write(*["be that as it may"] * 40)
        wait(words, words.are_counted, first)
        wait(words, lambda: is_shared(words, 1), first)
        first.close()
        wait(words, lambda: (group := group_of(words)) is not None and group.state == "Empty")
        # A new instance has no state of its own and restores it from the changelog topic.
        third = Instance(words.cluster.bootstrap_servers, tmp_path / "c", "exactly_once_v2")
        stack.callback(third.close)
        words.write("to be", "or", "not", "to be")
        wait(words, words.are_counted, third)
    assert all(counts == list(range(1, len(counts) + 1)) for counts in words.read.values()), "each word is counted exactly once"
    configs = {topic.name: (topic.configs, topic.partitions) for topic in words.cluster.topics()}
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
