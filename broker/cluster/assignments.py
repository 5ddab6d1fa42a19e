"""Checks of manual replica assignments: pure functions over lists of node ids (Kafka's ReplicationControlManager)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Sequence

from ...protocol.errors import ErrorCode, KafkaError


def check_assignments(assignments: Sequence[Sequence[int]], nodes: Iterable[int]) -> None:
    """Raises KafkaError with INVALID_REPLICA_ASSIGNMENT if a topic cannot have these lists of replicas.

    No list may be empty or contain a node twice, all nodes must be in `nodes`, and all lists must have the same length.
    """
    registered = set(nodes)
    for replicas in assignments:
        distinct = set(replicas)
        if not replicas:
            problem = "The manual partition assignment includes an empty replica list."
        elif len(distinct) != len(replicas):
            problem = f"The manual partition assignment includes the broker {_repeated(replicas)} more than once."
        elif not distinct <= registered:
            unknown = next(node for node in replicas if node not in registered)
            problem = f"The manual partition assignment includes broker {unknown}, but no such broker is registered."
        elif len(replicas) != len(assignments[0]):
            problem = (
                f"The manual partition assignment includes a partition with {len(replicas)} replica(s), "
                f"but this is not consistent with previous partitions, which have {len(assignments[0])} replica(s)."
            )
        else:
            continue
        raise KafkaError(ErrorCode.INVALID_REPLICA_ASSIGNMENT, problem)


def check_leadable(assignments: Iterable[Sequence[int]], running: Collection[int], first: int = 0) -> None:
    """Raises KafkaError with INVALID_REPLICA_ASSIGNMENT if a partition has no running replica; `first` is the first partition's index."""
    for index, replicas in enumerate(assignments, first):
        if not any(node in running for node in replicas):
            raise KafkaError(
                ErrorCode.INVALID_REPLICA_ASSIGNMENT,
                f"All brokers specified in the manual partition assignment for partition {index} are fenced or in controlled shutdown.",
            )


def _repeated(nodes: Sequence[int]) -> int:
    counts = Counter(nodes)
    return next(node for node in nodes if counts[node] > 1)


def check_increase(topic_name: str, present: int, count: int) -> None:
    """Raises KafkaError with INVALID_PARTITIONS unless `count`, the requested number of partitions, exceeds `present`."""
    if count == present:
        raise KafkaError(ErrorCode.INVALID_PARTITIONS, f"Topic already has {present} partition(s).")
    if count < present:
        raise KafkaError(
            ErrorCode.INVALID_PARTITIONS, f"The topic {topic_name} currently has {present} partition(s); {count} would not be an increase."
        )


def check_count(assignments: Sequence[Sequence[int]], added: int) -> None:
    """Raises KafkaError with INVALID_REPLICA_ASSIGNMENT unless there is one list of replicas for each added partition."""
    if len(assignments) != added:
        raise KafkaError(
            ErrorCode.INVALID_REPLICA_ASSIGNMENT,
            f"Attempted to add {added} additional partition(s), but only {len(assignments)} assignment(s) were specified.",
        )
