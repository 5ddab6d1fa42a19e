"""The state of coordinators that refers to partitions: leaders of `__consumer_offsets` that move, and markers that may still be lost."""

from __future__ import annotations

from collections.abc import Mapping

from ..cluster.coordinator_moves import CoordinatorMoves
from ..cluster.state import ClusterState
from ..cluster.transaction_log import TransactionLog
from ..topics.partition import Partition
from .forms import Plain, Record

# Written by the functions below, because a partition is written as its topic and index.
_PARTS = ("_topics", "_coordinator_log", "_groups")
COORDINATOR_MOVES = Record(CoordinatorMoves, {}, apart=(*_PARTS, "_brokers", "_background", "_epochs", "_untreated", "failed"))
TRANSACTION_LOG = Record(TransactionLog, {}, apart=(*_PARTS, "_timers", "_features", "_producer_ids", "_wake", "uncommitted"))


def write_coordinators(cluster: ClusterState) -> Plain:
    """Returns the state of the coordinators of a cluster."""
    moves = cluster.coordinator_moves
    return {
        "epochs": [[*_written(partition), epoch] for partition, epoch in moves._epochs.items()],
        "untreated": [[*_written(partition), moved] for partition, moved in moves._untreated.items()],
        "failed": sorted(map(_written, moves.failed)),
        "uncommitted": [
            [*partition, *producer, end_offset] for (partition, producer), end_offset in cluster.transaction_log.uncommitted.items()
        ],
    }


def _written(partition: Partition) -> Plain:
    return [partition.topic.name, partition.index]


def fill_coordinators(cluster: ClusterState, plain: Mapping[str, Plain]) -> None:
    """Replaces the state of the coordinators of a new cluster, whose topics exist already."""
    from ..transactions.transaction import Producer, TopicPartition

    moves, topics = cluster.coordinator_moves, cluster.topics
    moves._epochs = {topics[name].partitions[index]: epoch for name, index, epoch in plain["epochs"]}
    moves._untreated = {topics[name].partitions[index]: moved for name, index, moved in plain["untreated"]}
    moves.failed = {topics[name].partitions[index] for name, index in plain["failed"]}
    if moves._untreated:
        cluster.background(moves._treat_groups())
    cluster.transaction_log.uncommitted = {
        (TopicPartition(name, index), Producer(producer_id, epoch)): end_offset
        for name, index, producer_id, epoch, end_offset in plain["uncommitted"]
    }
