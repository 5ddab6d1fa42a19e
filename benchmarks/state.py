"""Measures how long snapshots and resets take, in milliseconds, on a cluster in this process with 1 GB of records in 100 partitions."""

from __future__ import annotations

import time
from collections.abc import Callable
from statistics import median

from odradek import Cluster

PARTITIONS = 100
RECORDS, RECORD_BYTES = 20, 500_000
REPETITIONS = 5


def durations_ms() -> dict[str, float]:
    """Returns the medians of several snapshots, restores and resets."""
    value = bytes(RECORD_BYTES)
    with Cluster(nodes=2, topics={"bench": PARTITIONS}) as cluster:
        for partition in range(PARTITIONS):
            for _ in range(RECORDS):
                cluster.produce("bench", [value], partition=partition)
        full = cluster.snapshot()
        taken, restored, reset = [], [], []
        for _ in range(REPETITIONS):
            taken.append(_ms(lambda: cluster.close_snapshot(cluster.snapshot())))
            reset.append(_ms(cluster.reset))
            restored.append(_ms(lambda: cluster.restore(full)))
    return {"snapshot of 1 GB": median(taken), "restore of 1 GB": median(restored), "reset": median(reset)}


def _ms(action: Callable[[], None]) -> float:
    began = time.perf_counter()
    action()
    return (time.perf_counter() - began) * 1000
