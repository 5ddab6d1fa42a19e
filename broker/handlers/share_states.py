"""The requests that brokers send to the share coordinator (KIP-932): the stored states of share partitions.

A client may send them too, if it has the permission CLUSTER_ACTION. The coordinator of a share partition is the leader of the partition of
`__share_group_state` that the hash of its key selects.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Sequence
from typing import Any, Protocol, TypeVar

from ...protocol.errors import ErrorCode, KafkaError
from ...protocol.messages import (
    delete_share_group_state,
    initialize_share_group_state,
    read_share_group_state,
    read_share_group_state_summary,
    write_share_group_state,
)
from ...protocol.messages.delete_share_group_state import (
    DELETE_SHARE_GROUP_STATE,
    DeleteShareGroupStateRequest,
    DeleteShareGroupStateResponse,
    DeleteStateResult,
)
from ...protocol.messages.initialize_share_group_state import (
    INITIALIZE_SHARE_GROUP_STATE,
    InitializeShareGroupStateRequest,
    InitializeShareGroupStateResponse,
    InitializeStateResult,
)
from ...protocol.messages.read_share_group_state import (
    READ_SHARE_GROUP_STATE,
    ReadShareGroupStateRequest,
    ReadShareGroupStateResponse,
    ReadStateResult,
    StateBatch,
)
from ...protocol.messages.read_share_group_state_summary import (
    READ_SHARE_GROUP_STATE_SUMMARY,
    ReadShareGroupStateSummaryRequest,
    ReadShareGroupStateSummaryResponse,
    ReadStateSummaryResult,
)
from ...protocol.messages.write_share_group_state import (
    WRITE_SHARE_GROUP_STATE,
    WriteShareGroupStateRequest,
    WriteShareGroupStateResponse,
    WriteStateResult,
)
from ..api.context import Context
from ..api.registry import handles
from ..groups.cluster_view import UNINITIALIZED_START_OFFSET, ShareStateSummary
from ..scheduling.slices import Slices
from ..scheduling.waiting import NEXT_TURN, Wait
from ..security.acls import Operation, ResourceType
from ..share_partitions.records import SharePartitionKey
from ..share_partitions.stored_state import StateBatch as StoredBatch
from ..topics.names import SHARE_GROUP_STATE

UNINITIALIZED = ShareStateSummary(state_epoch=0, leader_epoch=0, start_offset=UNINITIALIZED_START_OFFSET, delivery_complete_count=-1)
R = TypeVar("R")


class _HasPartition(Protocol):
    partition: int


class _HasTopic(Protocol):
    topic_id: bytes

    @property
    def partitions(self) -> Sequence[Any]: ...


class _StatesRequest(Protocol):
    group_id: str

    @property
    def topics(self) -> Sequence[_HasTopic]: ...


@handles(INITIALIZE_SHARE_GROUP_STATE)
def initialize_state(
    request: InitializeShareGroupStateRequest, context: Context
) -> Generator[Wait, None, InitializeShareGroupStateResponse]:
    """Stores new states."""

    def serve(key: SharePartitionKey, wanted: initialize_share_group_state.PartitionData) -> dict[str, Any]:
        context.cluster.share_states.initialize(*key, wanted.start_offset, wanted.state_epoch)
        return {}

    return InitializeShareGroupStateResponse(
        results=(yield from _serve(request, context, serve, initialize_share_group_state.PartitionResult, InitializeStateResult))
    )


@handles(READ_SHARE_GROUP_STATE)
def read_state(request: ReadShareGroupStateRequest, context: Context) -> Generator[Wait, None, ReadShareGroupStateResponse]:
    """Returns states, and raises their leader epochs to that of the request."""

    def serve(key: SharePartitionKey, wanted: read_share_group_state.PartitionData) -> dict[str, Any]:
        state = context.cluster.share_states.read(key, wanted.leader_epoch)
        batches = [StateBatch(first_offset=a, last_offset=b, delivery_state=c, delivery_count=d) for a, b, c, d in state.batches]
        return {"state_epoch": state.state_epoch, "start_offset": state.start_offset, "state_batches": batches}

    return ReadShareGroupStateResponse(
        results=(yield from _serve(request, context, serve, read_share_group_state.PartitionResult, ReadStateResult, {"state_batches": []}))
    )


@handles(WRITE_SHARE_GROUP_STATE)
def write_state(request: WriteShareGroupStateRequest, context: Context) -> Generator[Wait, None, WriteShareGroupStateResponse]:
    """Stores changes of states."""

    def serve(key: SharePartitionKey, wanted: write_share_group_state.PartitionData) -> dict[str, Any]:
        batches = [
            StoredBatch(each.first_offset, each.last_offset, each.delivery_state, each.delivery_count) for each in wanted.state_batches
        ]
        values = wanted.state_epoch, wanted.leader_epoch, wanted.start_offset, wanted.delivery_complete_count, batches
        context.cluster.share_states.write(key, *values)
        return {}

    return WriteShareGroupStateResponse(
        results=(yield from _serve(request, context, serve, write_share_group_state.PartitionResult, WriteStateResult))
    )


@handles(DELETE_SHARE_GROUP_STATE)
def delete_state(request: DeleteShareGroupStateRequest, context: Context) -> Generator[Wait, None, DeleteShareGroupStateResponse]:
    """Removes states."""

    def serve(key: SharePartitionKey, _wanted: delete_share_group_state.PartitionData) -> dict[str, Any]:
        context.cluster.share_states.delete(*key)
        return {}

    return DeleteShareGroupStateResponse(
        results=(yield from _serve(request, context, serve, delete_share_group_state.PartitionResult, DeleteStateResult))
    )


@handles(READ_SHARE_GROUP_STATE_SUMMARY)
def read_state_summary(
    request: ReadShareGroupStateSummaryRequest, context: Context
) -> Generator[Wait, None, ReadShareGroupStateSummaryResponse]:
    """Returns the epochs and offsets of states."""

    def serve(key: SharePartitionKey, _wanted: read_share_group_state.PartitionData) -> dict[str, Any]:
        return (context.cluster.share_states.summary(*key) or UNINITIALIZED)._asdict()

    return ReadShareGroupStateSummaryResponse(
        results=(yield from _serve(request, context, serve, read_share_group_state_summary.PartitionResult, ReadStateSummaryResult))
    )


P = TypeVar("P", bound=_HasPartition)


def _serve(
    request: _StatesRequest,
    context: Context,
    serve: Callable[[SharePartitionKey, P], dict[str, Any]],
    result: Callable[..., Any],
    topic_result: Callable[..., R],
    without: dict[str, Any] | None = None,
) -> Generator[Wait, None, list[R]]:
    """Returns the results of each topic. A partition that is named twice has one result, the last.

    `without` are the fields of a result with an error that have no default. There are no results if the group id is empty or a topic has
    no partitions.
    """
    allowed = context.may(Operation.CLUSTER_ACTION, ResourceType.CLUSTER)
    if allowed and (not request.group_id or not all(topic.partitions for topic in request.topics)):
        return []
    results: dict[bytes, dict[int, Any]] = {}
    slices = Slices()
    for topic in request.topics:
        for wanted in topic.partitions:
            key = SharePartitionKey(request.group_id, topic.topic_id, wanted.partition)
            try:
                _check(key, context, allowed)
                values = serve(key, wanted)
            except KafkaError as error:
                values = {"error_code": error.code, "error_message": error.message or error.code.name, **(without or {})}
            results.setdefault(topic.topic_id, {})[wanted.partition] = result(partition=wanted.partition, **values)
            if slices.full(4):
                yield NEXT_TURN
    return [topic_result(topic_id=topic_id, partitions=list(partitions.values())) for topic_id, partitions in results.items()]


def _check(key: SharePartitionKey, context: Context, allowed: bool) -> None:
    if not allowed:
        raise KafkaError(ErrorCode.CLUSTER_AUTHORIZATION_FAILED)
    if not context.is_coordinator(key.text, SHARE_GROUP_STATE):
        raise KafkaError(ErrorCode.NOT_COORDINATOR)
