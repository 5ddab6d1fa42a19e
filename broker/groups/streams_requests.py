"""StreamsGroupHeartbeat, for all groups."""

from __future__ import annotations

from ...protocol.errors import ErrorCode, KafkaError
from .classic.group import ClassicGroup
from .records import tombstones
from .streams.creation_errors import CreationErrors
from .streams.group import StreamsGroup
from .streams.heartbeat import LEAVE_EPOCH, StreamsHeartbeat, StreamsHeartbeatResult
from .streams.heartbeat_step import HeartbeatStep
from .streams.records import streams_records
from .table import GroupTable


class StreamsRequests:
    """The requests of members that use the streams protocol."""

    def __init__(self, table: GroupTable) -> None:
        self._table = table
        self.creation_errors = CreationErrors(table.timers)

    def heartbeat(self, group_id: str, heartbeat: StreamsHeartbeat) -> StreamsHeartbeatResult:
        """Handles the heartbeat of a member that joins, continues or leaves.

        The first member creates the group, or replaces an empty classic group. Raises KafkaError.
        """
        group = self._table.get(group_id)
        if isinstance(group, StreamsGroup):
            return self._leave(group, heartbeat) if heartbeat.epoch == LEAVE_EPOCH else self._beat(group, heartbeat)
        if heartbeat.epoch == 0 and (group is None or (isinstance(group, ClassicGroup) and group.is_empty)):
            return self._create_group(group_id, group, heartbeat)
        if heartbeat.epoch != 0:
            self._table.check_former(group_id, heartbeat.member_id)
        kind = "Group" if heartbeat.epoch < 0 or group is not None else "Streams group"
        reason = "not found" if group is None else "is not a streams group"
        raise KafkaError(ErrorCode.GROUP_ID_NOT_FOUND, f"{kind} {group_id} {reason}.")

    def _beat(self, group: StreamsGroup, heartbeat: StreamsHeartbeat) -> StreamsHeartbeatResult:
        step = HeartbeatStep(group, heartbeat, is_new=False)
        self._table.change_streams_group(group, step.changes)
        step.finish()
        return step.result

    def _create_group(self, group_id: str, replaced: ClassicGroup | None, heartbeat: StreamsHeartbeat) -> StreamsHeartbeatResult:
        """Serves the first heartbeat. The new group replaces a classic one only after all records have been written."""
        table = self._table
        group = table.new_streams_group(group_id)
        step = HeartbeatStep(group, heartbeat, is_new=True)
        records = [] if replaced is None else tombstones(replaced)
        table.cluster.write(group_id, [*records, *streams_records(group_id, step.changes)])
        if replaced is not None:
            replaced.delete()
        group.apply(step.changes)
        table.store(group)
        step.finish()
        return step.result

    def _leave(self, group: StreamsGroup, heartbeat: StreamsHeartbeat) -> StreamsHeartbeatResult:
        """Removes a member. Kafka remembers a request for shutdown also if the member is unknown."""
        if heartbeat.shutdown_application and group.unwritten.shutdown_member is None:
            group.unwritten.shutdown_member = heartbeat.member_id
        member = group.find(heartbeat.member_id)
        self._table.change_streams_group(group, group.removal(member.member_id))
        group.announce(f"member {member.member_id} leaves")
        return StreamsHeartbeatResult(member.member_id, heartbeat.epoch)
