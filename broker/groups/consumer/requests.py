"""ConsumerGroupHeartbeat, for all groups."""

from __future__ import annotations

from ....protocol.errors import ErrorCode, KafkaError
from ..classic.group import ClassicGroup, classic_tombstone
from ..conversion import check_upgrade, upgrade
from ..table import GroupTable
from .group import ConsumerGroup
from .heartbeat import ConsumerHeartbeat, ConsumerHeartbeatResult
from .records import consumer_records


class ConsumerRequests:
    """The requests of members that use the consumer protocol."""

    def __init__(self, table: GroupTable) -> None:
        self._table = table

    def heartbeat(self, group_id: str, heartbeat: ConsumerHeartbeat) -> ConsumerHeartbeatResult:
        """Handles the heartbeat of a member that joins, continues or leaves.

        The first member creates the group, or converts a classic group to a consumer group. Raises KafkaError.
        """
        group = self._table.get(group_id)
        if isinstance(group, ConsumerGroup):
            if group.only_renews_session(heartbeat):
                return group.renew_by_heartbeat(heartbeat)
            with self._table.consumer_step(group, heartbeat.member_id):
                result = group.heartbeat(heartbeat)
                self._table.write(group)
            return result
        if heartbeat.epoch != 0 or not (group is None or isinstance(group, ClassicGroup)):
            if heartbeat.epoch != 0:
                self._table.check_former(group_id, heartbeat.member_id)
            kind = "Group" if heartbeat.epoch < 0 or group is not None else "Consumer group"
            reason = "not found" if group is None else "is not a consumer group"
            raise KafkaError(ErrorCode.GROUP_ID_NOT_FOUND, f"{kind} {group_id} {reason}.")
        return self._create_group(group_id, group, heartbeat)

    def _create_group(self, group_id: str, classic: ClassicGroup | None, heartbeat: ConsumerHeartbeat) -> ConsumerHeartbeatResult:
        """Serves the first heartbeat. The new group replaces a classic one only after all records have been written."""
        table = self._table
        group, now_ms = table.new_consumer_group(group_id), table.timers.now_ms
        with table.timers.reverted_on_failure():
            records = [] if classic is None else [classic_tombstone(group_id)]
            if classic is not None and not classic.is_empty:
                check_upgrade(classic, table.settings)
                upgrade(classic, group, table.cluster)
                records += consumer_records(group, now_ms)
            result = group.heartbeat(heartbeat)
            table.cluster.write(group_id, [*records, *consumer_records(group, now_ms)])
        if classic is not None:
            classic.dissolve()
            for member in group.members.values():
                group.renew_session(member)  # The timer has the same name in both groups, so `dissolve` has just cancelled it.
        table.store(group)
        return result
