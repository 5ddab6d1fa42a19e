"""A group of the classic protocol: its members meet in JoinGroup, its leader assigns, all fetch their share in SyncGroup.

The rules are Kafka's (`ClassicGroup` and `GroupMetadataManager`; KIP-62, 345, 394, 814), down to oddities that clients can see:
they were compared with Apache Kafka 4.3. One difference is meant: a member that is removed while it waits in SyncGroup is told so,
where Kafka leaves it without an answer.
"""

from __future__ import annotations

import logging
import random
import uuid
from collections.abc import Callable, Iterable, Mapping

from ....protocol.errors import ErrorCode
from ...scheduling.timers import Timers
from ...scheduling.waiting import Reply
from ..settings import GroupSettings
from ..states import GroupState
from .member import CONSUMER_PROTOCOL_TYPE, Join, JoinedMember, JoinResult, Leave, Member, Sync, SyncResult, subscriptions
from .members import Members

log = logging.getLogger("kafka.coordinator.group.GroupCoordinator")


NEW_MEMBER_JOIN_TIMEOUT_MS = 300_000
"""A member that waits for its first generation cannot send heartbeats: it has this long instead of its session."""


class ClassicGroup:
    """One group. Its timers are ("session", group, member), ("rebalance", group) and ("sync", group)."""

    type = "classic"

    def __init__(
        self, group_id: str, timers: Timers, randomness: random.Random, settings: GroupSettings, write: Callable[[], None]
    ) -> None:
        self.group_id = group_id
        self.state = GroupState.EMPTY
        self.empty_since_ms = timers.now_ms
        self.generation_id = 0
        self.protocol_type: str | None = None
        """Of the members; None as long as there was none, and offsets were only stored."""
        self.protocol_name: str | None = None
        self.leader: str | None = None
        self.members = Members()
        self.pending: set[str] = set()
        """Ids that were handed out with MEMBER_ID_REQUIRED and have not joined yet."""
        self.unsynced: set[str] = set()
        """Members that have not sent SyncGroup since they were told the current generation."""
        self._subscribed: frozenset[str] | None = None
        self._initial_rebalance = False
        self._arrived_in_delay = False
        self._timers, self._random, self.settings, self._write = timers, randomness, settings, write

    # What members ask for.

    def join(self, join: Join, reply: Reply[JoinResult]) -> None:
        """Answers at once or when the rebalance is complete."""
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

    def sync(self, sync: Sync, reply: Reply[SyncResult]) -> None:
        """Answers at once or when the leader has assigned."""
        if error := self._check_sync(sync):
            reply.set(SyncResult(error))
        elif self.state is GroupState.PREPARING_REBALANCE:
            reply.set(SyncResult(ErrorCode.REBALANCE_IN_PROGRESS))
        else:
            member = self.members[sync.member_id]
            self._has_synced(sync.member_id)
            member.sync_reply = reply
            if self.state is GroupState.STABLE:
                member.answer_sync(self._synced(member))
            elif sync.member_id == self.leader:
                self._assign(sync.assignments)

    def heartbeat(self, member_id: str, group_instance_id: str | None, generation_id: int) -> ErrorCode:
        """Renews a session; REBALANCE_IN_PROGRESS tells the member to join again."""
        if error := self._check_generation(member_id, group_instance_id, generation_id):
            return error
        self._renew_session(self.members[member_id])
        return ErrorCode.REBALANCE_IN_PROGRESS if self.state is GroupState.PREPARING_REBALANCE else ErrorCode.NONE

    def leave(self, leaves: Iterable[Leave]) -> list[ErrorCode]:
        """Removes members, each with its own error, and rebalances once for all of them."""
        errors = [self._leave(leave) for leave in leaves]
        if ErrorCode.NONE in errors and self.state is not GroupState.EMPTY:
            # Kafka rebalances even if only a pending id, of which no member knows, has left.
            self._rebalance("members left")
        return errors

    def check_transactional_commit(self, member_id: str, group_instance_id: str | None, generation_id: int) -> ErrorCode:
        """Whether offsets may be committed in a transaction: by anybody who names no member, else by a member of this generation."""
        if generation_id < 0 and (self.state is GroupState.EMPTY or not (member_id or group_instance_id)):
            return ErrorCode.NONE
        return self._check_generation(member_id, group_instance_id, generation_id)

    def check_commit(self, member_id: str, group_instance_id: str | None, generation_id: int) -> ErrorCode:
        """Whether offsets may be committed by this member, which renews its session. Without members anybody may, with generation -1."""
        if generation_id < 0 and self.state is GroupState.EMPTY:
            return ErrorCode.NONE
        if error := self._check_generation(member_id, group_instance_id, generation_id):
            return error
        if self.state is GroupState.COMPLETING_REBALANCE:
            return ErrorCode.REBALANCE_IN_PROGRESS
        self._renew_session(self.members[member_id])
        return ErrorCode.NONE

    def check_member(self, member_id: str, group_instance_id: str | None) -> ErrorCode:
        """UNKNOWN_MEMBER_ID; FENCED_INSTANCE_ID if the instance has another member id by now."""
        known_id = member_id if group_instance_id is None else self.members.static_id(group_instance_id)
        if known_id is not None and known_id != member_id:
            return ErrorCode.FENCED_INSTANCE_ID
        return ErrorCode.NONE if known_id in self.members else ErrorCode.UNKNOWN_MEMBER_ID

    def check_delete(self) -> ErrorCode:
        """NON_EMPTY_GROUP if it has members or is about to have them."""
        return ErrorCode.NONE if self.is_empty else ErrorCode.NON_EMPTY_GROUP

    def delete(self) -> None:
        """Ends the group, after `check_delete`."""
        for member_id in list(self.pending):
            self._remove(member_id)
        self.state = GroupState.DEAD

    # When the group changes its protocol.

    def dissolve(self) -> None:
        """Ends the group because another takes its members over; those that wait are told to join again."""
        for member_id, member in list(self.members.items()):
            self.members.answer(member, JoinResult(ErrorCode.REBALANCE_IN_PROGRESS, member_id))
            member.answer_sync(SyncResult(ErrorCode.REBALANCE_IN_PROGRESS))
            self._remove(member_id)
        for member_id in list(self.pending):
            self._remove(member_id)
        for kind in ("rebalance", "sync"):
            self._timers.cancel((kind, self.group_id))
        self.state = GroupState.DEAD

    def restore(self, generation_id: int, members: Iterable[Member]) -> None:
        """Takes over the members of a consumer group in a stable generation."""
        self.generation_id, self.members = generation_id, Members(members)
        self.protocol_type = CONSUMER_PROTOCOL_TYPE
        self.protocol_name = self.members.elect()
        self.leader = next(iter(self.members))
        self._subscribed = subscriptions(self.protocol_type, self.protocol_name, self.members.values())
        self.state = GroupState.STABLE
        for member in self.members.values():
            self._renew_session(member)
        self._write()

    def rebalance(self, reason: str) -> None:
        """Has all members join again."""
        self._prepare_rebalance(reason)

    # What is asked about the group.

    @property
    def is_empty(self) -> bool:
        """It has no members."""
        return self.state is GroupState.EMPTY

    def subscribes_to(self, topic: str) -> bool:
        """Whether members of the current generation read `topic`; a subscription that cannot be read may be anything."""
        return self.protocol_type == CONSUMER_PROTOCOL_TYPE if self._subscribed is None else topic in self._subscribed

    # Joining.

    def _has_room_for(self, member_id: str) -> bool:
        member = self.members.get(member_id)
        if self.state is GroupState.EMPTY:
            return True
        if self.state is GroupState.PREPARING_REBALANCE:
            # Who has rejoined counts, so that the last to rejoin an overfull group are turned away.
            return self.members.joined < self.settings.group_max_size or (member is not None and member.join_reply is not None)
        return member is not None or len(self.members) < self.settings.group_max_size

    def _supports(self, join: Join) -> bool:
        """Whether one of the protocols is known to every member, the joining one with its old protocols included."""
        if self.state is GroupState.EMPTY:
            return bool(join.protocol_type and join.protocols)
        return join.protocol_type == self.protocol_type and any(self.members.all_know(protocol.name) for protocol in join.protocols)

    def _join_new(self, join: Join, reply: Reply[JoinResult]) -> None:
        instance_id = join.group_instance_id
        new_id = f"{join.stem}-{uuid.UUID(int=self._random.getrandbits(128), version=4)}"
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
        self.members.add(Member(member_id, join, reply))
        self.leader = self.leader or member_id
        self.pending.discard(member_id)
        self._set_session_timer(member_id, NEW_MEMBER_JOIN_TIMEOUT_MS)
        self._rebalance(f"member {member_id} joins, client reason: {join.reason}")

    def _rejoin(self, member: Member, join: Join, reply: Reply[JoinResult]) -> None:
        is_stable_follower = self.state is GroupState.STABLE and member.member_id != self.leader
        if member.protocols == join.protocols and (is_stable_follower or self.state is GroupState.COMPLETING_REBALANCE):
            # Nothing new: it has missed the answer, and gets it again. A leader that joins in Stable wants to assign anew.
            reply.set(self._joined(member))
        else:
            self.members.rejoin(member, join, reply)
            self._rebalance(f"member {member.member_id} joins again, client reason: {join.reason}")

    def _replace_static(self, member: Member, new_id: str, join: Join, reply: Reply[JoinResult]) -> None:
        """A static member has lost its member id, by a restart say: the old id is fenced, the assignment stays (KIP-345)."""
        old_id, old_leader = member.member_id, self.leader
        self.members.answer(member, JoinResult(ErrorCode.FENCED_INSTANCE_ID, old_id))
        member.answer_sync(SyncResult(ErrorCode.FENCED_INSTANCE_ID))
        self._rename(member, new_id)
        self.members.rejoin(member, join, reply)
        self._renew_session(member)
        log.info("Group %s: static member %s is %s from now on, not %s", self.group_id, join.group_instance_id, new_id, old_id)
        if self.state is not GroupState.STABLE or self.members.elect() != self.protocol_name:
            self._rebalance(f"static member {join.group_instance_id} joins as {new_id}, client reason: {join.reason}")
            return
        self._write()
        if join.supports_skip_assignment:
            self.members.answer(member, self._joined(member)._replace(skip_assignment=new_id == self.leader))
        else:
            # A leader would assign now; an old client is kept from it by hearing of a leader that is no more.
            self.members.answer(member, self._joined(member)._replace(leader=old_leader or "", members=()))

    def _rename(self, member: Member, new_id: str) -> None:
        old_id, member.is_new = member.member_id, False
        self.members.rename(member, new_id)
        self._timers.cancel(("session", self.group_id, old_id))
        if self.leader == old_id:
            self.leader = new_id
        if old_id in self.unsynced:
            self.unsynced.remove(old_id)
            self.unsynced.add(new_id)

    # Rebalancing.

    def _rebalance(self, reason: str) -> None:
        """Begins a rebalance, or finishes the one that is under way if nobody else is missing."""
        if self.state is GroupState.PREPARING_REBALANCE:
            self._complete_if_all_joined()
        else:
            self._prepare_rebalance(reason)

    def _prepare_rebalance(self, reason: str) -> None:
        before, self.state = self.state, GroupState.PREPARING_REBALANCE
        log.info("Group %s prepares to rebalance from generation %d: %s", self.group_id, self.generation_id, reason)
        self.unsynced.clear()
        self._timers.cancel(("sync", self.group_id))
        if before is GroupState.COMPLETING_REBALANCE:
            self._reset_assignments()
        if before is GroupState.EMPTY:
            self._initial_rebalance, self._arrived_in_delay = True, False
            delay_ms = self.settings.group_initial_rebalance_delay_ms
            self._await_more_members(delay_ms, max(self._rebalance_timeout_ms() - delay_ms, 0))
        elif not self._complete_if_all_joined():
            self._set_rebalance_timer()

    def _reset_assignments(self) -> None:
        for member in self.members.values():
            member.assignment = b""
            if member.answer_sync(SyncResult(ErrorCode.REBALANCE_IN_PROGRESS)):
                self._renew_session(member)

    def _await_more_members(self, delay_ms: int, remaining_ms: int) -> None:
        self._timers.set(("rebalance", self.group_id), delay_ms, lambda: self._end_initial_delay(delay_ms, remaining_ms))

    def _end_initial_delay(self, delay_ms: int, remaining_ms: int) -> None:
        """Waits on if members came meanwhile, but in all no longer than their rebalance timeout."""
        if self._arrived_in_delay and remaining_ms:
            self._arrived_in_delay = False
            next_ms = min(self.settings.group_initial_rebalance_delay_ms, remaining_ms)
            self._await_more_members(next_ms, max(remaining_ms - delay_ms, 0))
        else:
            self._complete_rebalance()

    def _complete_if_all_joined(self) -> bool:
        if self._initial_rebalance or self.pending or self.members.joined < len(self.members):
            return False
        self._complete_rebalance()
        return True

    def _complete_rebalance(self) -> None:
        """Goes on with those who have joined. Static members are given until their session ends, or until they should have synced."""
        self._timers.cancel(("rebalance", self.group_id))
        self._initial_rebalance = False
        for member in list(self.members.values()):
            if member.join_reply is None and not member.is_static:
                log.info("Group %s: member %s has not joined in time and is removed", self.group_id, member.member_id)
                self._remove(member.member_id)
        if not self.members:
            self._become_empty()
        elif self._elect_leader():
            self._start_generation()
        else:
            self._set_rebalance_timer()

    def _elect_leader(self) -> bool:
        """The leader stays if it has joined, else the first who has takes over; False if nobody has."""
        joined = [member.member_id for member in self.members.values() if member.join_reply is not None]
        if joined and self.leader not in joined:
            self.leader = joined[0]
        return bool(joined)

    def _become_empty(self) -> None:
        self.generation_id += 1
        self.protocol_name, self._subscribed = None, frozenset()
        self.state, self.empty_since_ms = GroupState.EMPTY, self._timers.now_ms
        log.info("Group %s is empty in generation %d", self.group_id, self.generation_id)
        self._write()

    def _start_generation(self) -> None:
        self.generation_id += 1
        self.protocol_name = self.members.elect()
        self._subscribed = subscriptions(self.protocol_type, self.protocol_name, self.members.values())
        self.state = GroupState.COMPLETING_REBALANCE
        self.unsynced = set(self.members)
        self._timers.set(("sync", self.group_id), self._rebalance_timeout_ms(), self._expire_unsynced)
        log.info("Group %s starts generation %d with %d members", self.group_id, self.generation_id, len(self.members))
        for member in self.members.values():
            member.is_new = False
            self._renew_session(member)
            self.members.answer(member, self._joined(member))

    def _joined(self, member: Member) -> JoinResult:
        members: tuple[JoinedMember, ...] = ()
        if member.member_id == self.leader:
            members = tuple(
                JoinedMember(each.member_id, each.group_instance_id, each.metadata(self.protocol_name)) for each in self.members.values()
            )
        return JoinResult(
            ErrorCode.NONE, member.member_id, self.generation_id, self.protocol_type, self.protocol_name, self.leader or "", members
        )

    # Assignments.

    def _check_sync(self, sync: Sync) -> ErrorCode:
        if error := self._check_generation(sync.member_id, sync.group_instance_id, sync.generation_id):
            return error
        same_type = sync.protocol_type in (None, self.protocol_type)
        same_name = self.protocol_name is None or sync.protocol_name in (None, self.protocol_name)
        return ErrorCode.NONE if same_type and same_name else ErrorCode.INCONSISTENT_GROUP_PROTOCOL

    def _assign(self, assignments: Mapping[str, bytes]) -> None:
        self.state = GroupState.STABLE
        log.info("Group %s: leader %s has assigned generation %d", self.group_id, self.leader, self.generation_id)
        for member in self.members.values():
            member.assignment = assignments.get(member.member_id, b"")
            if member.answer_sync(self._synced(member)):
                self._renew_session(member)
        self._write()

    def _synced(self, member: Member) -> SyncResult:
        return SyncResult(ErrorCode.NONE, self.protocol_type, self.protocol_name, member.assignment)

    def _has_synced(self, member_id: str) -> None:
        self.unsynced.discard(member_id)
        if not self.unsynced:
            self._timers.cancel(("sync", self.group_id))

    def _expire_unsynced(self) -> None:
        late = sorted(self.unsynced)
        for member_id in late:
            log.info("Group %s: member %s has not synced in time and is removed", self.group_id, member_id)
            self._remove(member_id)
        self._prepare_rebalance("members did not sync in time")

    # Going.

    def _leave(self, leave: Leave) -> ErrorCode:
        member_id: str | None = leave.member_id
        if not member_id and leave.group_instance_id is not None:
            member_id = self.members.static_id(leave.group_instance_id)
        elif member_id not in self.pending and (error := self.check_member(leave.member_id, leave.group_instance_id)):
            return error
        if not member_id:
            return ErrorCode.UNKNOWN_MEMBER_ID
        log.info("Group %s: member %s leaves, client reason: %s", self.group_id, member_id, leave.reason)
        self._remove(member_id)
        return ErrorCode.NONE

    def _remove(self, member_id: str) -> None:
        """Forgets a member or a pending id, its timer with it. What it waits in is answered."""
        self._timers.cancel(("session", self.group_id, member_id))
        self.pending.discard(member_id)
        self.unsynced.discard(member_id)
        member = self.members.get(member_id)
        if member is None:
            return
        self.members.answer(member, JoinResult(ErrorCode.UNKNOWN_MEMBER_ID))
        member.answer_sync(SyncResult(ErrorCode.UNKNOWN_MEMBER_ID))
        self.members.remove(member)
        if self.leader == member_id:
            self.leader = next(iter(self.members), None)

    def _expire_session(self, member_id: str) -> None:
        member = self.members.get(member_id)
        if member is not None and member.is_waiting and not member.is_new:
            return  # It cannot send heartbeats now; its session is renewed when it is answered.
        log.info("Group %s: member %s has been silent for too long and is removed", self.group_id, member_id)
        self._remove(member_id)
        if member is not None or self.state is GroupState.PREPARING_REBALANCE:
            self._rebalance(f"the session of member {member_id} has ended")

    # Checks and timers.

    def _check_generation(self, member_id: str, group_instance_id: str | None, generation_id: int) -> ErrorCode:
        if error := self.check_member(member_id, group_instance_id):
            return error
        return ErrorCode.NONE if generation_id == self.generation_id else ErrorCode.ILLEGAL_GENERATION

    def _renew_session(self, member: Member) -> None:
        self._set_session_timer(member.member_id, member.session_timeout_ms)

    def _set_session_timer(self, member_id: str, delay_ms: int) -> None:
        self._timers.set(("session", self.group_id, member_id), delay_ms, lambda: self._expire_session(member_id))

    def _rebalance_timeout_ms(self) -> int:
        """The longest of the members. At least 1: a client that says 0 shall not make a timer that fires again in the same moment."""
        return max([1, *(member.rebalance_timeout_ms for member in self.members.values())])

    def _set_rebalance_timer(self) -> None:
        self._timers.set(("rebalance", self.group_id), self._rebalance_timeout_ms(), self._complete_rebalance)
