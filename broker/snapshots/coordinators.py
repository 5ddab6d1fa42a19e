"""The state that refers to partitions and groups: moves of coordinators, markers that may still be lost, and timers.

The keys of timers of the state are texts, or tuples that begin with a text. Other timers belong to connections or to faults and are not
part of the state. The action of a timer follows from its key, so that a snapshot stores keys and remaining times.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Mapping
from typing import Any

from ..cluster.coordinator_log import CoordinatorMoves
from ..cluster.state import ClusterState
from ..cluster.transaction_log import TransactionLog
from ..topics.partition import Partition
from .forms import Plain, Record

# Written by the functions below, because a partition is written as its topic and index.
_PARTS = ("_topics", "_coordinator_log", "_groups")
COORDINATOR_MOVES = Record(CoordinatorMoves, {}, apart=(*_PARTS, "_brokers", "_background", "epochs", "untreated", "failed"))
TRANSACTION_LOG = Record(TransactionLog, {}, apart=(*_PARTS, "_timers", "_features", "_producer_ids", "_wake", "uncommitted"))


def write_coordinators(cluster: ClusterState) -> Plain:
    """Returns the state of the coordinators of a cluster."""
    moves = cluster.coordinator_moves
    return {
        "epochs": [[*_place(partition), epoch] for partition, epoch in moves.epochs.items()],
        "untreated": [[*_place(partition), moved] for partition, moved in moves.untreated.items()],
        "failed": sorted(map(_place, moves.failed)),
        "uncommitted": [
            [*partition, *producer, end_offset] for (partition, producer), end_offset in cluster.transaction_log.uncommitted.items()
        ],
    }


def _place(partition: Partition) -> Plain:
    return [partition.topic.name, partition.index]


def fill_coordinators(cluster: ClusterState, plain: Mapping[str, Plain]) -> None:
    """Replaces the state of the coordinators of a new cluster, whose topics exist already."""
    from ..transactions.transaction import Producer, TopicPartition

    moves, topics = cluster.coordinator_moves, cluster.topics
    moves.epochs = {topics[name].partitions[index]: epoch for name, index, epoch in plain["epochs"]}
    moves.untreated = {topics[name].partitions[index]: moved for name, index, moved in plain["untreated"]}
    moves.failed = {topics[name].partitions[index] for name, index in plain["failed"]}
    if moves.untreated:
        cluster.background(moves.treat_groups())
    cluster.transaction_log.uncommitted = {
        (TopicPartition(name, index), Producer(producer_id, epoch)): end_offset
        for name, index, producer_id, epoch, end_offset in plain["uncommitted"]
    }


_GROUP_TIMERS = ("session", "rebalance", "sync", "revocation", "join", "assignment delay")
_TRANSACTION_TIMERS = ("transaction", "transactional id", "markers")


_CLUSTER_TIMERS: Mapping[str, Callable[[ClusterState], Callable[[], None]]] = {
    "log retention": lambda cluster: cluster.log_retention.check,
    "log cleaner": lambda cluster: cluster.log_cleaner.check,
    "producer expiration": lambda cluster: cluster.producer_ids.check,
    "offsets retention": lambda cluster: cluster.groups.offset_expiry,
    "delegation tokens": lambda cluster: cluster.accounts.tokens.check,
    "cold share snapshots": lambda cluster: cluster.share_states.cold_snapshots,
    "share state pruning": lambda cluster: cluster.share_states.pruning,
    "leader rebalance": lambda cluster: cluster.replica_control.rebalance_leaders,
    "unclean elections": lambda cluster: cluster.replica_control.elect_uncleanly,
}
"""The timers that a cluster has once, with what they do."""


def write_timers(cluster: ClusterState) -> Plain:
    """Returns [key, remaining ms] for each timer of the state, in the order in which they will fire."""
    return [[_plain_key(key), left_ms] for key, left_ms in cluster.timers.remaining() if is_of_state(key)]


def is_of_state(key: Any) -> bool:
    """Returns whether the timer with this key is part of the state of a cluster."""
    return isinstance(key[0] if isinstance(key, tuple) else key, str)


def _plain_key(key: Any) -> Plain:
    if isinstance(key, tuple):
        return [[part.topic.name, part.index] if isinstance(part, Partition) else part for part in key]
    return key


def set_timers(cluster: ClusterState, written: Iterable[tuple[Plain, int]]) -> None:
    """Replaces the timers of a new cluster by written ones. Raises LookupError or ValueError for a timer that cannot exist."""
    for key, _ in cluster.timers.remaining():
        cluster.timers.cancel(key)
    for plain, left_ms in written:
        key, action = _timer(cluster, plain)
        cluster.timers.set(key, left_ms, action)


def _timer(cluster: ClusterState, plain: Plain) -> tuple[Hashable, Callable[[], None]]:
    match plain:
        case str() if plain in _CLUSTER_TIMERS:
            return plain, _CLUSTER_TIMERS[plain](cluster)
        case ["reassignment", [topic, index]]:
            partition = cluster.topics[topic].partitions[index]
            return ("reassignment", partition), lambda: cluster.replica_control.catch_up(partition)
        case ["replica lag", [topic, index], node_id]:
            partition = cluster.topics[topic].partitions[index]
            return ("replica lag", partition, node_id), cluster.replica_control.follower_check(partition, node_id)
        case ["broker session", node_id] if node_id in cluster.brokers:
            return tuple(plain), lambda: cluster.nodes.fence(node_id)
        case [kind, group_id, *member_id] if kind in _GROUP_TIMERS:
            group = cluster.groups.get(group_id)
            if group is not None:
                return tuple(plain), group.timer_action(kind, *member_id)
        case [kind, transactional_id] if kind in _TRANSACTION_TIMERS:
            transaction = cluster.transactions.get(transactional_id)
            if transaction is not None:
                return tuple(plain), cluster.transactions.timer_action(kind, transaction)
    raise ValueError(f"there is no timer {plain!r}")
