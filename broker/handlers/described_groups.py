"""The order of groups in Kafka's responses, and what the requests that describe groups have in common (Kafka's GroupCoordinatorService).

Kafka keeps the groups of each partition of `__consumer_offsets` in a hash table of its own (a coordinator shard), and the shards in another
hash table by topic partition. ListGroups, DeleteGroups and the requests that describe groups return groups in the order of these tables.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

from ...protocol.errors import ErrorCode, KafkaError, shorten_message
from ..api.context import Context
from ..groups.consumer.group import ConsumerGroup
from ..groups.table import Group
from ..kafka_quirks.java_hash import abs_java_hash, partitions_order, timeline_order
from ..scheduling.slices import Slices, weight_of
from ..scheduling.waiting import NEXT_TURN, Wait
from ..security.acls import Operation, ResourceType
from ..topics.names import CONSUMER_OFFSETS
from ..topics.partition import Topic

if TYPE_CHECKING:
    from ..groups.share.group import ShareGroup

_ERROR_ORDER: dict[int, int] = {ErrorCode.GROUP_AUTHORIZATION_FAILED: 0, ErrorCode.INVALID_GROUP_ID: 1}
"""Kafka returns groups with these errors before all others."""
G = TypeVar("G", bound=Any)
"""The description of a group in the response of one API."""


class _DescribeRequest(Protocol):
    group_ids: list[str]
    include_authorized_operations: bool


def is_enabled(protocol: str, feature: str, context: Context) -> bool:
    """Returns whether a kind of groups is enabled, by level 1 of its feature (KIP-1022) and by group.coordinator.rebalance.protocols."""
    protocols = context.broker.config.lists["group.coordinator.rebalance.protocols"]
    return protocol in protocols and context.cluster.features.level(feature) > 0


def describe_groups(
    request: _DescribeRequest,
    describe: Callable[[str, Context], G],
    refuse: Callable[[str, ErrorCode, str | None], G],
    context: Context,
    *,
    enabled: bool,
) -> Generator[Wait, None, list[G]]:
    """Returns the descriptions of groups in Kafka's order, in slices; with the client's permissions if it has asked for them.

    `describe` raises KafkaError for a group that it cannot describe. `refuse` returns the description of a group with an error, which all
    groups get unless their kind is `enabled`.
    """

    def describe_or_refuse(group_id: str, context: Context) -> G:
        try:
            _demand_describable(group_id, context)
            return describe(group_id, context)
        except KafkaError as error:
            return refuse(group_id, error.code, error.message)

    if not enabled:
        return [refuse(group_id, ErrorCode.UNSUPPORTED_VERSION, None) for group_id in request.group_ids]
    operations = request.include_authorized_operations
    return (yield from describe_in_order(request.group_ids, describe_or_refuse, context, with_operations=operations))


def _demand_describable(group_id: str, context: Context) -> None:
    """Raises KafkaError for a group that this client or this broker may not describe."""
    if not context.may(Operation.DESCRIBE, ResourceType.GROUP, group_id):
        raise KafkaError(ErrorCode.GROUP_AUTHORIZATION_FAILED)
    if not group_id:
        raise KafkaError(ErrorCode.INVALID_GROUP_ID)
    if not context.is_coordinator(group_id):
        raise KafkaError(ErrorCode.NOT_COORDINATOR)


def demand_topics(names: Iterable[str], context: Context, message: str) -> None:
    """Raises KafkaError with TOPIC_AUTHORIZATION_FAILED if the client may not describe one of the topics of a group."""
    if not all(context.may(Operation.DESCRIBE, ResourceType.TOPIC, name) for name in names):
        raise KafkaError(ErrorCode.TOPIC_AUTHORIZATION_FAILED, message)


def describe_in_order(
    group_ids: Iterable[str], describe: Callable[[str, Context], G], context: Context, *, with_operations: bool
) -> Generator[Wait, None, list[G]]:
    """Returns the descriptions of groups in Kafka's order, in slices. A group is described once, however often it is named."""
    described, found, slices = [], dict[str, G](), Slices()
    for group_id in (yield from response_order(group_ids, context.cluster.topics.get(CONSUMER_OFFSETS), slices)):
        group = found.get(group_id)
        if group is None:
            group = found[group_id] = describe(group_id, context)
            if with_operations and not group.error_code:
                group.authorized_operations = context.permissions(ResourceType.GROUP, group_id)
        described.append(group)
        if slices.full(1 + 4 * len(group.members) + weight_of(group_id)):
            yield NEXT_TURN
    described.sort(key=lambda group: _ERROR_ORDER.get(group.error_code, len(_ERROR_ORDER)))
    return described


def describe_group(make: Callable[..., G], group: ConsumerGroup | ShareGroup, describe_member: Callable[[Any], Any]) -> G:
    """Returns the description of a consumer group or a share group. `make` is the class of the description."""
    return make(
        group_id=group.group_id,
        group_state=group.state.value,
        group_epoch=group.epoch,
        assignment_epoch=group.assignment_epoch,
        assignor_name=group.assignor,
        members=[describe_member(group.members[member_id]) for member_id in timeline_order(group.members)],
    )


def refuse_group(make: Callable[..., G], group_id: str, error: ErrorCode, message: str | None) -> G:
    """Returns the description of a consumer group or a share group with an error. `make` is the class of the description."""
    return make(
        error_code=error,
        error_message=message,
        group_id=group_id,
        group_state="",
        group_epoch=0,
        assignment_epoch=0,
        assignor_name="",
        members=[],
    )


def missing_group_text(group_id: str, group: Group | None, kind: str) -> str:
    """Returns the explanation of GROUP_ID_NOT_FOUND for a group that does not exist, or that is not of this kind."""
    reason = "not found" if group is None else f"is not a {kind} group"
    return shorten_message(f"Group {group_id} {reason}.")


def coordinated_groups(groups: Iterable[Group], offsets: Topic | None, node_id: int, slices: Slices) -> Generator[Wait, None, list[Group]]:
    """Returns the groups that a node coordinates, in the order of ListGroups. `offsets` is `__consumer_offsets`, if it exists."""
    if offsets is None:
        return []
    led = [partition.index for partition in offsets.partitions if partition.leader == node_id]
    shards: dict[int, dict[str, Group]] = {index: {} for index in led}
    for group in list(groups):
        index = _partition_of(group.group_id, offsets)
        if index in shards:
            shards[index][group.group_id] = group
        if slices.full():
            yield NEXT_TURN
    found: list[Group] = []
    for index in partitions_order(CONSUMER_OFFSETS, led, concurrent=True):
        found += [shards[index][group_id] for group_id in timeline_order(shards[index])]
        if slices.full(len(shards[index])):
            yield NEXT_TURN
    return found


def response_order(group_ids: Iterable[str], offsets: Topic | None, slices: Slices) -> Generator[Wait, None, list[str]]:
    """Returns group ids, which may repeat, in the order in which Kafka's response to a request for all of them lists them."""
    shards: dict[int, list[str]] = {}
    for group_id in group_ids:
        shards.setdefault(_partition_of(group_id, offsets) if offsets else 0, []).append(group_id)
        if slices.full(1 + weight_of(group_id)):
            yield NEXT_TURN
    # Of partitions in the same bucket of Kafka's table, the one that was inserted last comes first.
    return [group_id for index in partitions_order(CONSUMER_OFFSETS, list(reversed(shards))) for group_id in shards[index]]


def _partition_of(group_id: str, offsets: Topic) -> int:
    return abs_java_hash(group_id) % len(offsets.partitions)
