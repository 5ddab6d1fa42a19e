"""JoinGroup, SyncGroup, Heartbeat and LeaveGroup, for all groups.

Requests to a classic group go to `classic.group`, requests of classic members to a consumer group go to `consumer.classic_members`. Only
requests that may write a record run in a savepoint.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import nullcontext

from ....protocol.errors import ErrorCode, KafkaError
from ...scheduling.waiting import Reply
from ..consumer import classic_members
from ..consumer.group import ConsumerGroup
from ..conversion import may_downgrade
from ..table import Group, GroupTable
from .group import ClassicGroup
from .members import fits_generated_id
from .messages import Join, JoinResult, Leave, Sync, SyncResult


class ClassicRequests:
    """The requests of members that use the classic protocol.

    The group id "" is refused, because a group with this id can only store offsets.
    """

    def __init__(self, table: GroupTable) -> None:
        self._table = table

    def join(self, group_id: str, join: Join, reply: Reply[JoinResult]) -> None:
        """Sets the reply at once or when the rebalance is complete.

        A request without a member id creates the group if it does not exist.
        """
        table = self._table
        group = table.get(group_id)
        if error := self._check_join(group_id, join, group):
            reply.set(error)
        elif group is not None and group.type == "share":
            reply.set(JoinResult(ErrorCode.INCONSISTENT_GROUP_PROTOCOL))
        elif isinstance(group, ConsumerGroup) and not group.is_empty:
            reply.set(self._join_consumer_group(group, join))
        elif group is not None and group.type == "streams" and not group.is_empty:
            reply.set(JoinResult(ErrorCode.INCONSISTENT_GROUP_PROTOCOL))
        else:
            classic = group if isinstance(group, ClassicGroup) else table.create_classic_group(group_id, group)
            replaced = classic.members.static_id(join.group_instance_id or "")
            # Of all joins, only one that replaces a static member can write a record.
            with table.classic_step(classic, [replaced]) if replaced else nullcontext():
                classic.join(join, reply)

    def _check_join(self, group_id: str, join: Join, group: Group | None) -> JoinResult | None:
        settings = self._table.settings
        if not group_id:
            return JoinResult(ErrorCode.INVALID_GROUP_ID, join.member_id)
        if not settings.group_min_session_timeout_ms <= join.session_timeout_ms <= settings.group_max_session_timeout_ms:
            return JoinResult(ErrorCode.INVALID_SESSION_TIMEOUT, join.member_id)
        if not fits_generated_id(join):
            return JoinResult(ErrorCode.UNKNOWN_SERVER_ERROR)
        if join.member_id and (group is None or (group.type in ("consumer", "streams") and group.is_empty)):
            return JoinResult(ErrorCode.UNKNOWN_MEMBER_ID, join.member_id)
        return None

    def _join_consumer_group(self, group: ConsumerGroup, join: Join) -> JoinResult:
        table = self._table
        try:
            if table.settings.group_consumer_migration_policy.lower() == "disabled":
                raise KafkaError(ErrorCode.INCONSISTENT_GROUP_PROTOCOL)
            with table.consumer_step(group, join.member_id):
                result = classic_members.join(group, join, table.cluster.topics)
                # A static member that was the last one of the consumer protocol may have come back with the classic protocol.
                if not result.error and join.group_instance_id is not None and may_downgrade(group, (), table.settings):
                    classic = table.downgrade(group, ())
                    if result.generation_id != classic.generation_id:
                        classic.rebalance("the group was a consumer group, and its members are in several epochs")
                else:
                    table.write(group)
            return result
        except KafkaError as error:
            return JoinResult(error.code)

    def sync(self, group_id: str, sync: Sync, reply: Reply[SyncResult]) -> None:
        """Sets the reply at once or when the leader has sent the assignment."""
        group = self._find(group_id)
        if isinstance(group, ClassicGroup):
            with self._table.classic_step(group, group.members) if sync.member_id == group.leader else nullcontext():
                group.sync(sync, reply)
        elif group is None:
            reply.set(SyncResult(_missing_group_error(group_id)))
        else:
            try:
                reply.set(classic_members.sync(group, sync, self._table.cluster.topics_by_id))
            except KafkaError as error:
                reply.set(SyncResult(error.code))

    def heartbeat(self, group_id: str, member_id: str, group_instance_id: str | None, generation_id: int) -> ErrorCode:
        """Renews a session; returns REBALANCE_IN_PROGRESS if the member has to join again."""
        group = self._find(group_id)
        if isinstance(group, ClassicGroup):
            return group.heartbeat(member_id, group_instance_id, generation_id)
        if group is None:
            return _missing_group_error(group_id)
        try:
            return classic_members.heartbeat(group, member_id, group_instance_id, generation_id)
        except KafkaError as error:
            return error.code

    def leave(self, group_id: str, leaves: Sequence[Leave]) -> list[ErrorCode]:
        """Removes members; returns an error for each of `leaves`."""
        group = self._find(group_id)
        if isinstance(group, ClassicGroup):
            named = [leave.member_id or group.members.static_id(leave.group_instance_id or "") or "" for leave in leaves]
            with self._table.classic_step(group, named):
                return group.leave(leaves)
        if group is None:
            return [_missing_group_error(group_id)] * len(leaves)
        errors, members = classic_members.leaving(group, leaves)
        if members:
            with self._table.consumer_step(group, ""):
                self._table.remove_members(group, members)
        return errors

    def _find(self, group_id: str) -> ClassicGroup | ConsumerGroup | None:
        """Returns a group that can have members of the classic protocol."""
        group = self._table.get(group_id) if group_id else None
        return group if isinstance(group, ClassicGroup | ConsumerGroup) else None


def _missing_group_error(group_id: str) -> ErrorCode:
    return ErrorCode.UNKNOWN_MEMBER_ID if group_id else ErrorCode.INVALID_GROUP_ID
