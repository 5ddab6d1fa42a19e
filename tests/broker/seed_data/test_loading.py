"""Seed data in a cluster."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pytest

from odradek import Cluster
from odradek.broker.seed_data.entries import entry_of
from odradek.broker.seed_data.loading import BATCH_RECORDS, load
from odradek.broker.settings.properties import InvalidConfig
from tests.broker.harness import START_MS, World


def loaded(*lines: Mapping[str, object]) -> World:
    world = World(nodes=2)
    load(world.cluster, [(f"file:{number}", entry_of(line, "t")) for number, line in enumerate(lines, 1)])
    return world


def offsets(world: World, topic: str = "t") -> list[tuple[int, int]]:
    return [(partition.log.end_offset, partition.last_stable_offset) for partition in world.cluster.topics[topic].partitions]


def test_topic_is_created_as_described() -> None:
    world = loaded({"topic": "orders", "partitions": 3, "replication_factor": 2, "configs": {"cleanup.policy": "compact"}}, {"value": "x"})
    orders = world.cluster.topics["orders"]
    assert ([len(each.replicas) for each in orders.partitions], orders.config.overrides) == ([2, 2, 2], {"cleanup.policy": "compact"})
    assert len(world.cluster.topics["t"].partitions) == 1


def test_records_go_to_their_partitions() -> None:
    world = loaded({"partitions": 2}, {"value": "a"}, {"value": "b"}, {"value": "c", "partition": 1}, {"key": "k", "value": "d"})
    assert sorted(offsets(world)) in ([(1, 1), (3, 3)], [(2, 2), (2, 2)])


def test_many_records_are_written_in_batches() -> None:
    count = 2 * BATCH_RECORDS + 1
    world = loaded(*({"value": str(number)} for number in range(count)))
    (partition,) = world.cluster.topics["t"].partitions
    assert partition.log.end_offset == count
    assert len(list(partition.log.batches(0, count))) == 3


def test_transactions_end_with_markers() -> None:
    world = loaded(*({"value": "a", "transaction": state} for state in ("committed", "aborted", "open")))
    assert offsets(world) == [(5, 4)]


def test_records_get_the_time_of_the_start_by_default() -> None:
    world = loaded({"value": "a"}, {"value": "b", "timestamp": 5})
    (batch,) = world.cluster.topics["t"].partitions[0].log.batches(0, 2)
    assert int.from_bytes(batch[27:35], "big") == START_MS


@pytest.mark.parametrize(
    ("line", "problem"),
    [
        ({"topic": "a/b", "value": 1}, "file:1: invalid topic name: 'a/b'"),
        ({"partitions": 10_001}, "file:1: topic t: partitions must be at most 10000, as in one request to Kafka, not 10001"),
        ({"partitions": 1, "replication_factor": 3}, "file:1: topic t: replication factor 3 exceeds the number of nodes (2)"),
        ({"partitions": 1, "configs": {"cleanup.polcy": "x"}}, "file:1: topic t: unknown config cleanup.polcy"),
        ({"value": 1, "partition": 7}, "file:1: partition: t has the partitions 0 to 0, not 7"),
        ({"value": "x" * 2_000_000}, "file:1: t-0 refused the records"),
    ],
)
def test_refused_entry_is_named_with_its_place(line: dict[str, object], problem: str) -> None:
    with pytest.raises(InvalidConfig) as refused:
        loaded(line)
    assert str(refused.value).startswith(problem)


@pytest.mark.sockets
def test_cluster_starts_with_seed_data_and_keeps_it_in_resets(tmp_path: Path) -> None:
    (tmp_path / "orders.jsonl").write_text('{"partitions": 2}\n{"key": "a", "value": {"id": 1}, "partition": 0}\n')
    (tmp_path / "users.csv").write_text("key,value\nalice,admin\n")
    with Cluster(nodes=1, data=tmp_path) as cluster:
        assert [(each.key, each.value) for each in cluster.records("orders")] == [(b"a", b'{"id":1}')]
        cluster.delete_topic("orders")
        cluster.reset()
        assert len(cluster.records("orders")) == len(cluster.records("users")) == 1


@pytest.mark.sockets
def test_cluster_with_invalid_seed_data_does_not_start(tmp_path: Path) -> None:
    (tmp_path / "t.jsonl").write_text("nonsense\n")
    with pytest.raises(ValueError, match=r"t\.jsonl: after line 0"), Cluster(nodes=1, data=tmp_path):
        pass
