"""The wait of a Produce request with acks=all for the replicas of its batches (Kafka's DelayedProduce).

Usually there is no wait, because in-sync replicas are at the end of the log (`ReplicatedLog.held_offset` is None). If one of them lags, or
if fewer than min.insync.replicas are left, a batch is acknowledged when the high watermark has passed it. The request fails with
REQUEST_TIMED_OUT after its `timeout_ms`, but its batches stay in the log, so that a producer without idempotence may write them twice.
"""

from __future__ import annotations

from collections.abc import Generator
from typing import NamedTuple

from ...protocol.errors import ErrorCode
from ...protocol.messages.produce import PartitionProduceResponse
from ..api.context import Context, current_leader
from ..scheduling.waiting import Wait
from ..topics.partition import Partition


class Unreplicated(NamedTuple):
    """A batch that the high watermark has not passed when it was appended. It ends before `end_offset`."""

    partition: Partition
    end_offset: int
    response: PartitionProduceResponse


def wait_for_replicas(waiting: list[Unreplicated], timeout_ms: int, context: Context) -> Generator[Wait, None, None]:
    """Waits until every batch is replicated or has failed, for at most `timeout_ms`, and sets the error codes of the responses."""
    deadline_ms = context.now_ms + timeout_ms
    while waiting := [each for each in waiting if not _is_decided(each, context)]:
        if context.now_ms >= deadline_ms:
            break
        partitions = [each.partition for each in waiting]
        yield Wait(partitions, deadline_ms, what=f"replicas of {partitions[0]}{' and others' if len(partitions) > 1 else ''}")
    for each in waiting:
        each.response.error_code = ErrorCode.REQUEST_TIMED_OUT


def _is_decided(batch: Unreplicated, context: Context) -> bool:
    """Returns whether the outcome of a batch is known, and sets its error code (Kafka's Partition.checkEnoughReplicasReachOffset)."""
    partition, response = batch.partition, batch.response
    if partition.leader != context.broker.node_id or partition.log.end_offset < batch.end_offset:
        response.error_code, response.current_leader = ErrorCode.NOT_LEADER_OR_FOLLOWER, current_leader(partition)
    elif partition.high_watermark < batch.end_offset:
        return False
    elif len(partition.isr) < partition.min_isr:
        response.error_code = ErrorCode.NOT_ENOUGH_REPLICAS_AFTER_APPEND
    return True
