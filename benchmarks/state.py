"""Measures how long snapshots, resets and an advance of the time take, in milliseconds, on clusters in this process.

The snapshots are of 1 GB of records in 100 partitions; the time is advanced over a week in which the offsets of 1,000 groups expire.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from statistics import median

from odradek import Cluster
from odradek.broker.groups.offsets import CommittedOffset
from odradek.broker.topics.names import CONSUMER_OFFSETS

PARTITIONS = 100
RECORDS, RECORD_BYTES = 20, 500_000
REPETITIONS = 5
GROUPS, DAYS = 1000, 7


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


def advance_ms() -> float:
    """Returns the time that an advance over a week takes in a cluster of 1,000 groups."""
    with Cluster(nodes=2, topics={"bench": 10}) as cluster:
        cluster.clock.freeze()

        async def commit() -> None:
            state = cluster._cluster._server.cluster
            state.topics.ensure_internal(CONSUMER_OFFSETS)
            committed = CommittedOffset(5, -1, "", state.timers.now_ms)
            for number in range(GROUPS):
                state.groups.offsets.commit(f"group-{number}", {("bench", number % 10): committed})

        cluster._run_in_thread(commit())
        return _ms(lambda: cluster.clock.advance(days=DAYS))


def _ms(action: Callable[[], object]) -> float:
    began = time.perf_counter()
    action()
    return (time.perf_counter() - began) * 1000
