"""Appends the records that a user writes by a control. The control imports this module when it is first used."""

from __future__ import annotations

from collections.abc import Sequence

from ...protocol.batches.record_builder import build_batch
from ...protocol.batches.records import Record
from ...protocol.messages.produce import PRODUCE
from ..api.context import Client, Context
from ..appending.append import append
from ..appending.error_codes import APPEND_REFUSALS, partition_error_of
from ..cluster.state import ClusterState
from ..control_errors import ControlRefused
from ..topics.partition import Partition
from .new_records import CheckedRecord


def append_records(partition: Partition, records: Sequence[CheckedRecord], cluster: ClusterState) -> int:
    """Appends one batch and returns its base offset. Raises ControlRefused."""
    leader = cluster.brokers.get(partition.leader)
    if leader is None:
        raise ControlRefused("LEADER_NOT_AVAILABLE", f"partition {partition} has no leader; start one of the nodes {partition.replicas}")
    now_ms = cluster.timers.now_ms
    batch = build_batch(
        Record(number, now_ms if record.timestamp is None else record.timestamp, record.key, record.value, record.headers)
        for number, record in enumerate(records)
    )
    context = Context(max(PRODUCE.versions), Client("", "cluster", 0), cluster, leader, memoryview(batch), True, None)
    try:
        return append(partition, memoryview(batch), 1, None, context).base_offset
    except APPEND_REFUSALS as error:
        refusal = partition_error_of(error)
        raise ControlRefused(refusal.code.name, f"partition {partition} refused the records: {refusal.message or error}") from None
