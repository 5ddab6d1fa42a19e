"""A group of the classic protocol, and how JoinGroup, SyncGroup, Heartbeat, LeaveGroup and offset commits change it.

The rules are those of Kafka's `ClassicGroup` and `GroupMetadataManager` (KIP-62, KIP-345, KIP-394, KIP-814), including oddities that
clients can observe; they were compared with Apache Kafka 4.3. The states and timers are in `rebalance`.
"""

from __future__ import annotations

import uuid
from collections.abc import Iterable

from ....protocol.errors import ErrorCode
from ....protocol.stored.coordinator_records import (
    CoordinatorRecord,
    GroupKey,
    GroupMetadataValue,
    MemberMetadata,
    RecordType,
    write_key,
    write_value,
)
from ...scheduling.waiting import Reply
from ..states import GroupState
from .members import ClassicMember, Members, member_id_prefix, subscriptions
from .messages import CONSUMER_PROTOCOL_TYPE, Join, JoinResult, Leave, Sync, SyncResult
from .rebalance import NEW_MEMBER_JOIN_TIMEOUT_MS, RebalancingGroup


class ClassicGroup(RebalancingGroup):
    """One group of the classic protocol."""

    # JoinGroup

    def join(self, join: Join, reply: Reply[JoinResult]) -> None:
        """Adds or updates a member. The reply is set at once or when the rebalance is complete."""
        member_id = join.member_id
        if not self._has_room_for(member_id):
            self._remove(member_id)
            reply.set(JoinResult(ErrorCode.GROUP_MAX_SIZE_REACHED))
        elif not self._supports(join):
            reply.set(JoinResult(ErrorCode.INCONSISTENT_GROUP_PROTOCOL, member_id))
        elif not member_id:
            self._join_new(join, reply)
        elif member_id in self.pending and join.group_instance_id is None:
            self._add(member_id, join, reply)
        elif error := self.check_member(member_id, join.group_instance_id):
            reply.set(JoinResult(error, member_id))
        else:
            self._rejoin(self.members[member_id], join, reply)

    @property
    def epoch(self) -> int:
        """The generation, which is the epoch of a classic group."""
        return self.generation_id

    def begin_epoch_for_all(self, epoch: int) -> None:
        """Moves the group to a higher generation, which its members do not know until they join again."""
        self.generation_id = epoch

    def _has_room_for(self, member_id: str) -> bool:
        member = self.members.get(member_id)
        if self.state is GroupState.EMPTY:
            return True
        if self.state is GroupState.PREPARING_REBALANCE:
            # Only members that have rejoined count, so that the last ones to rejoin a group that is too large are refused
            # (Kafka's GroupMetadataManager.acceptJoiningMember).
            return self.members.joined < self.settings.group_max_size or (member is not None and member.join_reply is not None)
        return member is not None or len(self.members) < self.settings.group_max_size

    def _supports(self, join: Join) -> bool:
        """Returns whether all members support one of the protocols. The old protocols of the joining member count as well."""
        if self.state is GroupState.EMPTY:
            return bool(join.protocol_type and join.protocols)
        return join.protocol_type == self.protocol_type and any(self.members.all_support(protocol.name) for protocol in join.protocols)

    def _join_new(self, join: Join, reply: Reply[JoinResult]) -> None:
        instance_id = join.group_instance_id
        new_id = f"{member_id_prefix(join)}-{uuid.UUID(int=self._random.getrandbits(128), version=4)}"
        if instance_id is not None and (old_id := self.members.static_id(instance_id)):
            self._replace_static(self.members[old_id], new_id, join, reply)
        elif instance_id is None and join.requires_known_member_id:
            self.pending.add(new_id)
            self._set_session_timer(new_id, join.session_timeout_ms)
            reply.set(JoinResult(ErrorCode.MEMBER_ID_REQUIRED, new_id))
        else:
            self._add(new_id, join, reply)

    def _add(self, member_id: str, join: Join, reply: Reply[JoinResult]) -> None:
        self._arrived_in_delay = self._initial_rebalance
        if not self.members:
            self.protocol_type = join.protocol_type
        self.members.add(ClassicMember(member_id, join, reply))
        self.leader = self.leader or member_id
        self.pending.discard(member_id)
        self._set_session_timer(member_id, NEW_MEMBER_JOIN_TIMEOUT_MS)
        self._announce(f"Group {self.group_id}: member {member_id} joins")
        self._start_or_continue_rebalance(f"member {member_id} joins, client reason: {join.reason}")

    def _rejoin(self, member: ClassicMember, join: Join, reply: Reply[JoinResult]) -> None:
        is_stable_follower = self.state is GroupState.STABLE and member.member_id != self.leader
        if member.protocols == join.protocols and (is_stable_follower or self.state is GroupState.COMPLETING_REBALANCE):
            # The member repeats its JoinGroup because it has not received the answer. A leader joins a stable group again in order to
            # compute a new assignment, so its JoinGroup starts a rebalance.
            reply.set(self._join_result(member))
        else:
            self.members.rejoin(member, join, reply)
            self._start_or_continue_rebalance(f"member {member.member_id} joins again, client reason: {join.reason}")

    # JoinGroup of a static member that has lost its member id, for example by a restart (KIP-345)

    def _replace_static(self, member: ClassicMember, new_id: str, join: Join, reply: Reply[JoinResult]) -> None:
        """Gives the member a new id and fences the old one. Its assignment stays, so a stable group need not rebalance."""
        old_id, old_leader = member.member_id, self.leader
        self.members.answer_join(member, JoinResult(ErrorCode.FENCED_INSTANCE_ID, old_id))
        member.answer_sync(SyncResult(ErrorCode.FENCED_INSTANCE_ID))
        self._rename(member, new_id)
        self.members.rejoin(member, join, reply)
        self._renew_session(member)
        self._announce(f"Group {self.group_id}: member id of static member {join.group_instance_id} changes from {old_id} to {new_id}")
        if self.state is not GroupState.STABLE or self.members.elect_protocol() != self.protocol_name:
            self._start_or_continue_rebalance(f"static member {join.group_instance_id} joins as {new_id}, client reason: {join.reason}")
            return
        self._write()
        if join.supports_skip_assignment:
            self.members.answer_join(member, self._join_result(member)._replace(skip_assignment=new_id == self.leader))
        else:
            # A client that receives its own id as the leader would compute an assignment. Before KIP-814 (JoinGroup v9) the only way to
            # prevent that is to return the old member id as the leader.
            self.members.answer_join(member, self._join_result(member)._replace(leader=old_leader or "", members=()))

    def _rename(self, member: ClassicMember, new_id: str) -> None:
        old_id, member.is_new = member.member_id, False
        self.members.rename(member, new_id)
        self._timers.cancel(("session", self.group_id, old_id))
        if self.leader == old_id:
            self.leader = new_id
        if old_id in self.unsynced:
            self.unsynced.remove(old_id)
            self.unsynced.add(new_id)

    # SyncGroup

    def sync(self, sync: Sync, reply: Reply[SyncResult]) -> None:
        """Sets the reply to the member's assignment, at once or when the leader has sent it."""
        if error := self._check_sync(sync):
            reply.set(SyncResult(error))
        elif self.state is GroupState.PREPARING_REBALANCE:
            reply.set(SyncResult(ErrorCode.REBALANCE_IN_PROGRESS))
        else:
            member = self.members[sync.member_id]
            self._has_synced(sync.member_id)
            member.sync_reply = reply
            if self.state is GroupState.STABLE:
                member.answer_sync(self._sync_result(member))
            elif sync.member_id == self.leader:
                self._assign(sync.assignments)

    def _check_sync(self, sync: Sync) -> ErrorCode:
        if error := self._check_generation(sync.member_id, sync.group_instance_id, sync.generation_id):
            return error
        same_type = sync.protocol_type in (None, self.protocol_type)
        same_name = self.protocol_name is None or sync.protocol_name in (None, self.protocol_name)
        return ErrorCode.NONE if same_type and same_name else ErrorCode.INCONSISTENT_GROUP_PROTOCOL

    # Heartbeat

    def heartbeat(self, member_id: str, group_instance_id: str | None, generation_id: int) -> ErrorCode:
        """Renews the session of a member; returns REBALANCE_IN_PROGRESS if the member has to join again."""
        if error := self._check_generation(member_id, group_instance_id, generation_id):
            return error
        self._renew_session(self.members[member_id])
        return ErrorCode.REBALANCE_IN_PROGRESS if self.state is GroupState.PREPARING_REBALANCE else ErrorCode.NONE

    # LeaveGroup

    def leave(self, leaves: Iterable[Leave]) -> list[ErrorCode]:
        """Removes members and returns an error for each; all removals share one rebalance."""
        errors = [self._leave(leave) for leave in leaves]
        if ErrorCode.NONE in errors and self.state is not GroupState.EMPTY:
            # Kafka also rebalances if only a pending member id has left, although no other member has received that id.
            self._start_or_continue_rebalance("members left")
        return errors

    def _leave(self, leave: Leave) -> ErrorCode:
        member_id: str | None = leave.member_id
        if not member_id and leave.group_instance_id is not None:
            member_id = self.members.static_id(leave.group_instance_id)
        elif member_id not in self.pending and (error := self.check_member(leave.member_id, leave.group_instance_id)):
            return error
        if not member_id:
            return ErrorCode.UNKNOWN_MEMBER_ID
        self._announce(f"Group {self.group_id}: member {member_id} leaves, client reason: {leave.reason}")
        self._remove(member_id)
        return ErrorCode.NONE

    # OffsetCommit and TxnOffsetCommit

    def check_commit(self, member_id: str, group_instance_id: str | None, generation_id: int) -> ErrorCode:
        """Returns NONE, and renews the member's session, if the member may commit offsets; otherwise an error.

        A group without members accepts commits with generation -1.
        """
        if generation_id < 0 and self.state is GroupState.EMPTY:
            return ErrorCode.NONE
        if error := self._check_generation(member_id, group_instance_id, generation_id):
            return error
        if self.state is GroupState.COMPLETING_REBALANCE:
            return ErrorCode.REBALANCE_IN_PROGRESS
        self._renew_session(self.members[member_id])
        return ErrorCode.NONE

    def check_transactional_commit(self, member_id: str, group_instance_id: str | None, generation_id: int) -> ErrorCode:
        """Returns NONE for a commit by a member of this generation, or by a request that names no member; otherwise an error."""
        if generation_id < 0 and (self.state is GroupState.EMPTY or not (member_id or group_instance_id)):
            return ErrorCode.NONE
        return self._check_generation(member_id, group_instance_id, generation_id)

    # The record in `__consumer_offsets`

    @property
    def record(self) -> CoordinatorRecord:
        """The record of the group with its members at this time (Kafka's newGroupMetadataRecord)."""
        value = GroupMetadataValue(
            protocol_type=self.protocol_type or "",
            generation=self.generation_id,
            protocol=self.protocol_name,
            leader=self.leader,
            current_state_timestamp=self._timers.now_ms,
            members=[
                MemberMetadata(
                    member_id=member.member_id,
                    group_instance_id=member.group_instance_id,
                    client_id=member.client_id,
                    client_host=member.client_host,
                    rebalance_timeout=member.rebalance_timeout_ms,
                    session_timeout=member.session_timeout_ms,
                    subscription=member.metadata(self.protocol_name),
                    assignment=member.assignment,
                )
                for member in self.members.values()
            ],
        )
        return CoordinatorRecord(_record_key(self.group_id), write_value(3, value))

    # Deletion and conversion

    def check_delete(self) -> ErrorCode:
        """Returns NON_EMPTY_GROUP if the group has members or a rebalance is in progress."""
        return ErrorCode.NONE if self.is_empty else ErrorCode.NON_EMPTY_GROUP

    def delete(self) -> None:
        """Ends the group, after `check_delete`."""
        for member_id in list(self.pending):
            self._remove(member_id)
        self.state = GroupState.DEAD

    def dissolve(self) -> None:
        """Ends the group because a consumer group takes over its members. Waiting requests get REBALANCE_IN_PROGRESS."""
        for member_id, member in list(self.members.items()):
            self.members.answer_join(member, JoinResult(ErrorCode.REBALANCE_IN_PROGRESS, member_id))
            member.answer_sync(SyncResult(ErrorCode.REBALANCE_IN_PROGRESS))
            self._remove(member_id)
        for member_id in list(self.pending):
            self._remove(member_id)
        for kind in ("rebalance", "sync"):
            self._timers.cancel((kind, self.group_id))
        self.state = GroupState.DEAD

    def restore(self, generation_id: int, members: Iterable[ClassicMember]) -> None:
        """Takes over the members of a consumer group, in the state STABLE."""
        self.generation_id, self.members = generation_id, Members(members)
        self.protocol_type = CONSUMER_PROTOCOL_TYPE
        self.protocol_name = self.members.elect_protocol()
        self.leader = next(iter(self.members))
        self._subscribed = subscriptions(self.protocol_type, self.protocol_name, self.members.values())
        self.state = GroupState.STABLE
        for member in self.members.values():
            self._renew_session(member)
        self._write()


def classic_tombstone(group_id: str) -> CoordinatorRecord:
    """Returns the tombstone of a group."""
    return CoordinatorRecord(_record_key(group_id), None)


def _record_key(group_id: str) -> bytes:
    return write_key(RecordType.GROUP_METADATA, GroupKey(group=group_id))
