"""The part that ConsumerGroupDescribe, ShareGroupDescribe and StreamsGroupDescribe have in common (Kafka's GroupCoordinatorService)."""

from __future__ import annotations

from collections.abc import Callable, Generator, Sequence
from typing import Any, TypeVar

from ...protocol.errors import ErrorCode
from ..api.context import Context
from ..groups.listing_order import response_order
from ..scheduling.slices import Slices, weight_of
from ..scheduling.waiting import NEXT_TURN, Wait
from ..security.acls import Operation, ResourceType
from ..topics.names import CONSUMER_OFFSETS

_ERROR_ORDER: dict[int, int] = {ErrorCode.GROUP_AUTHORIZATION_FAILED: 0, ErrorCode.INVALID_GROUP_ID: 1}
"""Kafka returns groups with these errors before all others."""
G = TypeVar("G", bound=Any)
"""The description of a group in the response of one API."""


def describe_groups(
    group_ids: Sequence[str], describe: Callable[[str, Context], G], context: Context, *, with_operations: bool
) -> Generator[Wait, None, list[G]]:
    """Returns the descriptions of groups in Kafka's order, in slices; with the client's permissions if it has asked for them."""
    described, slices = [], Slices()
    for group_id in (yield from response_order(group_ids, context.cluster.topics.get(CONSUMER_OFFSETS), slices)):
        group = describe(group_id, context)
        if with_operations and not group.error_code:
            group.authorized_operations = context.allowed(ResourceType.GROUP, group_id)
        described.append(group)
        if slices.full(1 + 4 * len(group.members) + weight_of(group_id)):
            yield NEXT_TURN
    described.sort(key=lambda group: _ERROR_ORDER.get(group.error_code, len(_ERROR_ORDER)))
    return described


def refusal(group_id: str, context: Context) -> ErrorCode:
    """Returns the error for a group that this client or this broker may not describe, otherwise NONE."""
    if not context.may(Operation.DESCRIBE, ResourceType.GROUP, group_id):
        return ErrorCode.GROUP_AUTHORIZATION_FAILED
    if not group_id:
        return ErrorCode.INVALID_GROUP_ID
    return ErrorCode.NONE if context.broker.is_coordinator(group_id) else ErrorCode.NOT_COORDINATOR
