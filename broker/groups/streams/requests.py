"""StreamsGroupHeartbeat, for all groups, and the internal topics that could not be created."""

from __future__ import annotations

from collections.abc import Iterable

from ....protocol.errors import ErrorCode, KafkaError
from ...scheduling.timers import Timers
from ..classic.group import ClassicGroup, classic_tombstone
from ..table import GroupTable
from .group import StreamsGroup
from .heartbeat import LEAVE_EPOCH, StreamsHeartbeat, StreamsHeartbeatResult
from .heartbeat_step import HeartbeatStep
from .records import streams_records

MAX_ERRORS = 1000


class CreationErrors:
    """Errors of internal topics that could not be created, which members learn from later heartbeats (Kafka's ExpiringErrorCache).

    While a topic has an error, its creation is not tried again.
    """

    def __init__(self, timers: Timers) -> None:
        self._timers = timers
        self._errors: dict[str, tuple[str, int]] = {}
        """Topic -> (error message, time at which it expires)."""

    def add(self, topic: str, message: str, duration_ms: int) -> None:
        """Adds or replaces an error, which expires after `duration_ms`. The first one to expire is dropped if there are too many."""
        now_ms = self._timers.now_ms
        self._errors[topic] = message, now_ms + duration_ms
        if len(self._errors) > MAX_ERRORS:
            self._errors = {name: error for name, error in self._errors.items() if error[1] > now_ms}
        if len(self._errors) > MAX_ERRORS:
            del self._errors[min(self._errors, key=lambda name: self._errors[name][1])]

    def of(self, topics: Iterable[str]) -> dict[str, str]:
        """Returns the messages of those topics that have an error."""
        now_ms = self._timers.now_ms
        errors = {topic: self._errors[topic] for topic in topics if topic in self._errors}
        return {topic: message for topic, (message, expires_ms) in errors.items() if expires_ms > now_ms}


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
        records = [] if replaced is None else [classic_tombstone(group_id)]
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
