"""A cluster without sockets whose data directory is written by `sync`, and which may end at any moment."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from random import Random
from typing import Any

from odradek.broker.cluster.state import ClusterState
from odradek.broker.durability.data_directory import DataDirectory
from odradek.broker.durability.disk_room import DiskRoom
from odradek.broker.durability.recovery import recover
from odradek.broker.durability.shadow import Shadow
from odradek.broker.scheduling.timers import Timers
from odradek.broker.scheduling.turns import Turns
from odradek.broker.settings.cluster_config import cluster_of
from odradek.broker.topics.partition import Partition
from odradek.protocol.batches.record_builder import build_batch
from odradek.protocol.batches.records import Record, RecordBatch

NOW_MS = 1_800_000_000_000


class KeptCluster:
    """A cluster and its data directory, from the state in the directory on."""

    def __init__(
        self, path: Path, nodes: int = 1, settings: Mapping[str, str] | None = None, memory_limit_bytes: int | None = None
    ) -> None:
        self.directory = DataDirectory(path).open()
        listeners = {"listeners": "PLAINTEXT://127.0.0.1:0"}
        config = cluster_of([{**listeners, **(settings or {})}], nodes=nodes, cluster_id="c")
        self.turns = Turns[Any](Timers(NOW_MS), lambda: 0.0)
        self.memory = DiskRoom(path, None, memory_limit_bytes)
        self.cluster = ClusterState(replace(config, keeps_data=True), self.turns, Random(1), self.memory)
        if self.directory.meta is not None:
            recover(self.cluster, self.directory)
        self.shadow = Shadow(self.directory, self.cluster)
        self.shadow.begin()

    def partition(self, topic: str = "t", index: int = 0) -> Partition:
        return self.cluster.topics[topic].partitions[index]

    def append(self, *values: str, topic: str = "t", timestamp: int = NOW_MS, key: bytes | None = None) -> None:
        """Appends one batch with these values."""
        rows = [Record(number, timestamp, key, value.encode(), []) for number, value in enumerate(values)]
        partition = self.partition(topic)
        partition.log.append(memoryview(build_batch(rows)), partition.leader_epoch, owned=False)

    def kill(self) -> None:
        """Ends without writing anything more."""
        self.shadow._open_files.close_all()
        self.shadow._writer.close()
        self.directory.unlock()

    def stop(self) -> None:
        self.shadow.close()
        self.directory.unlock()

    def work(self) -> None:
        """Does the work that was put off to later turns."""
        while self.turns.has_more:
            self.turns.next_turn()


def values(partition: Partition) -> list[tuple[int, str]]:
    """Returns the offsets and values of a partition."""
    batches = partition.log.batches(partition.log.start_offset, partition.log.end_offset)
    records = [record for batch in batches for record in RecordBatch(batch).records()]
    return [(each.offset, (each.value or b"").decode()) for each in records if each.offset >= partition.log.start_offset]
