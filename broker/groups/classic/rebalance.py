"""The state machine of a classic group: how it moves from one generation to the next.

A generation is a set of members with one assignment. Members join by JoinGroup, the leader computes the assignment, and all members receive
their part of it in response to SyncGroup::

                      first JoinGroup
          EMPTY ─────────────────────────▶ PREPARING_REBALANCE ◀──────────────┐
            ▲                                │     │                          │ a member joins, leaves, expires,
            └────────────────────────────────┘     │ _complete_rebalance()    │ or does not send SyncGroup in time
              no member has joined in time         ▼                          │
                                           COMPLETING_REBALANCE ──────────────┤
                                                   │ _assign()                │
                                                   ▼                          │
                                                STABLE ───────────────────────┘

* PREPARING_REBALANCE begins in `rebalance`. JoinGroup requests wait (`join_reply`) until all known members have joined
  (`_complete_if_all_joined`) or the timer ("rebalance", group) fires after the longest rebalance timeout of the members. Then dynamic
  members that have not joined are removed. Static members stay until their session ends (KIP-345).
  The first rebalance of an empty group waits at least group.initial.rebalance.delay.ms for more members. The wait is repeated if members
  joined meanwhile, but in total it does not exceed the rebalance timeout (`_await_more_members`, Kafka's DelayedRebalance).
* COMPLETING_REBALANCE begins in `_start_generation`, which answers all JoinGroup requests. SyncGroup requests wait (`sync_reply`)
  until the leader's request provides the assignment (`_assign`). Members that have not sent SyncGroup when the timer ("sync", group) fires
  are removed, also when the group is already STABLE.
* The timer ("session", group, member) removes a member that sends no requests. It does nothing while a request of the member waits, because
  the client does not send heartbeats then; the session is renewed when the request is answered. A new member that waits in JoinGroup is
  removed after NEW_MEMBER_JOIN_TIMEOUT_MS. The timer also removes ids that were returned with MEMBER_ID_REQUIRED and never used.

`write` is called whenever the state must be written to `__consumer_offsets`: when the group becomes empty or stable. It may raise, so
requests that may cause a write run within a savepoint (see `requests`). `tell` is called with each change that is logged, for the
record of exchanges.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping
from functools import partial
from typing import Literal

from ....protocol.errors import ErrorCode
from ...plurals import counted
from ...scheduling.timers import Timers
from .. import log
from ..settings import GroupSettings
from ..states import GroupState
from .members import ClassicMember, Members, subscriptions
from .messages import CONSUMER_PROTOCOL_TYPE, JoinedMember, JoinResult, SyncResult

NEW_MEMBER_JOIN_TIMEOUT_MS = 300_000
"""Session timeout of a member that waits for its first generation (Kafka's CLASSIC_GROUP_NEW_MEMBER_JOIN_TIMEOUT_MS)."""


class RebalancingGroup:
    """The states, generations and timers of a classic group. `ClassicGroup` adds the requests."""

    type: Literal["classic"] = "classic"

    def __init__(
        self,
        group_id: str,
        timers: Timers,
        randomness: random.Random,
        settings: GroupSettings,
        write: Callable[[], None],
        tell: Callable[..., None],
    ) -> None:
        self.group_id = group_id
        self.state = GroupState.EMPTY
        self.empty_since_ms = timers.now_ms
        self.generation_id = 0
        self.protocol_type: str | None = None
        """The protocol type of the members; None until the first member joins, for a group that only stores offsets."""
        self.protocol_name: str | None = None
        self.leader: str | None = None
        self.members = Members()
        self.pending: set[str] = set()
        """Member ids that were returned with MEMBER_ID_REQUIRED and have not joined yet."""
        self.unsynced: set[str] = set()
        """Members that have not sent SyncGroup in the current generation."""
        self._subscribed: frozenset[str] | None = None
        self._initial_rebalance = False
        self._arrived_in_delay = False
        self._delay_ms = self._remaining_ms = 0
        """During the initial rebalance: the current delay, and how much longer further delays may take."""
        self._timers, self._random, self.settings, self._write, self._tell = timers, randomness, settings, write, tell

    def _announce(self, text: str) -> None:
        """Logs a change, and tells the record of it."""
        log.info("%s", text)
        self._tell(text, group=self.group_id, generation=self.generation_id)

    @property
    def is_empty(self) -> bool:
        return self.state is GroupState.EMPTY

    def subscribes_to(self, topic: str) -> bool:
        """Returns whether members of the current generation subscribe to a topic; True if their subscriptions are malformed."""
        return self.protocol_type == CONSUMER_PROTOCOL_TYPE if self._subscribed is None else topic in self._subscribed

    @property
    def subscribed_topics(self) -> frozenset[str]:
        """The topics to which members of the current generation subscribe; none if their subscriptions are malformed."""
        return self._subscribed or frozenset()

    def check_member(self, member_id: str, group_instance_id: str | None) -> ErrorCode:
        """Returns UNKNOWN_MEMBER_ID, or FENCED_INSTANCE_ID if the instance id belongs to another member id now."""
        known_id = member_id if group_instance_id is None else self.members.static_id(group_instance_id)
        if known_id is not None and known_id != member_id:
            return ErrorCode.FENCED_INSTANCE_ID
        return ErrorCode.NONE if known_id in self.members else ErrorCode.UNKNOWN_MEMBER_ID

    def _check_generation(self, member_id: str, group_instance_id: str | None, generation_id: int) -> ErrorCode:
        if error := self.check_member(member_id, group_instance_id):
            return error
        return ErrorCode.NONE if generation_id == self.generation_id else ErrorCode.ILLEGAL_GENERATION

    # PREPARING_REBALANCE: members join.

    def rebalance(self, reason: str) -> None:
        """Starts a rebalance, in which all members have to join again. `reason` is logged."""
        before, self.state = self.state, GroupState.PREPARING_REBALANCE
        self._announce(f"Group {self.group_id} prepares to rebalance from generation {self.generation_id}: {reason}")
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

    def _start_or_continue_rebalance(self, reason: str) -> None:
        if self.state is GroupState.PREPARING_REBALANCE:
            self._complete_if_all_joined()
        else:
            self.rebalance(reason)

    def _reset_assignments(self) -> None:
        for member in self.members.values():
            member.assignment = b""
            if member.answer_sync(SyncResult(ErrorCode.REBALANCE_IN_PROGRESS)):
                self._renew_session(member)

    def _await_more_members(self, delay_ms: int, remaining_ms: int) -> None:
        self._delay_ms, self._remaining_ms = delay_ms, remaining_ms
        self._set_timer("rebalance", delay_ms)

    def _end_initial_delay(self) -> None:
        if self._arrived_in_delay and self._remaining_ms:
            self._arrived_in_delay = False
            next_ms = min(self.settings.group_initial_rebalance_delay_ms, self._remaining_ms)
            self._await_more_members(next_ms, max(self._remaining_ms - self._delay_ms, 0))
        else:
            self._complete_rebalance()

    def _complete_if_all_joined(self) -> bool:
        if self._initial_rebalance or self.pending or self.members.joined < len(self.members):
            return False
        self._complete_rebalance()
        return True

    def _complete_rebalance(self) -> None:
        self._timers.cancel(("rebalance", self.group_id))
        self._initial_rebalance = False
        for member in list(self.members.values()):
            if member.join_reply is None and not member.is_static:
                self._announce(f"Group {self.group_id}: member {member.member_id} has not joined in time and is removed")
                self._remove(member.member_id)
        if not self.members:
            self._become_empty()
        elif self._elect_leader():
            self._start_generation()
        else:
            self._set_rebalance_timer()

    def _elect_leader(self) -> bool:
        """Keeps the leader if it has joined, else takes the first member that has; returns False if no member has joined."""
        joined = [member.member_id for member in self.members.values() if member.join_reply is not None]
        if joined and self.leader not in joined:
            self.leader = joined[0]
        return bool(joined)

    def _become_empty(self) -> None:
        self.generation_id += 1
        self.protocol_name, self._subscribed = None, frozenset()
        self.state, self.empty_since_ms = GroupState.EMPTY, self._timers.now_ms
        self._announce(f"Group {self.group_id} is empty in generation {self.generation_id}")
        self._write()

    # COMPLETING_REBALANCE: members have the new generation and wait for the leader's assignment.

    def _start_generation(self) -> None:
        self.generation_id += 1
        self.protocol_name = self.members.elect_protocol()
        self._subscribed = subscriptions(self.protocol_type, self.protocol_name, self.members.values())
        self.state = GroupState.COMPLETING_REBALANCE
        self.unsynced = set(self.members)
        self._set_timer("sync", self._rebalance_timeout_ms())
        self._announce(f"Group {self.group_id} starts generation {self.generation_id} with {counted(len(self.members), 'member')}")
        for member in self.members.values():
            member.is_new = False
            self._renew_session(member)
            self.members.answer_join(member, self._join_result(member))

    def _join_result(self, member: ClassicMember) -> JoinResult:
        members: tuple[JoinedMember, ...] = ()
        if member.member_id == self.leader:
            members = tuple(
                JoinedMember(each.member_id, each.group_instance_id, each.metadata(self.protocol_name)) for each in self.members.values()
            )
        return JoinResult(
            ErrorCode.NONE, member.member_id, self.generation_id, self.protocol_type, self.protocol_name, self.leader or "", members
        )

    def _has_synced(self, member_id: str) -> None:
        self.unsynced.discard(member_id)
        if not self.unsynced:
            self._timers.cancel(("sync", self.group_id))

    def _expire_unsynced(self) -> None:
        late = sorted(self.unsynced)
        for member_id in late:
            self._announce(f"Group {self.group_id}: member {member_id} has not synced in time and is removed")
            self._remove(member_id)
        self.rebalance("members did not sync in time")

    # STABLE: the group has an assignment.

    def _assign(self, assignments: Mapping[str, bytes]) -> None:
        self.state = GroupState.STABLE
        self._announce(f"Group {self.group_id}: leader {self.leader} has assigned generation {self.generation_id}")
        for member in self.members.values():
            member.assignment = assignments.get(member.member_id, b"")
            if member.answer_sync(self._sync_result(member)):
                self._renew_session(member)
        self._write()

    def _sync_result(self, member: ClassicMember) -> SyncResult:
        return SyncResult(ErrorCode.NONE, self.protocol_type, self.protocol_name, member.assignment)

    # Removal of members, and timers.

    def _remove(self, member_id: str) -> None:
        """Removes a member or a pending id with its timer, and answers its waiting requests with UNKNOWN_MEMBER_ID.

        Kafka leaves a waiting SyncGroup of a removed member without an answer.
        """
        self._timers.cancel(("session", self.group_id, member_id))
        self.pending.discard(member_id)
        self.unsynced.discard(member_id)
        member = self.members.get(member_id)
        if member is None:
            return
        self.members.answer_join(member, JoinResult(ErrorCode.UNKNOWN_MEMBER_ID))
        member.answer_sync(SyncResult(ErrorCode.UNKNOWN_MEMBER_ID))
        self.members.remove(member)
        if self.leader == member_id:
            self.leader = next(iter(self.members), None)

    def _expire_session(self, member_id: str) -> None:
        member = self.members.get(member_id)
        if member is not None and member.is_waiting and not member.is_new:
            return
        self._announce(f"Group {self.group_id}: member {member_id} has been silent for too long and is removed")
        self._remove(member_id)
        if member is not None or self.state is GroupState.PREPARING_REBALANCE:
            self._start_or_continue_rebalance(f"the session of member {member_id} has ended")

    def suspend_sessions(self) -> None:
        """Ends the session timers of all members, because the coordinator has failed."""
        for member_id in self.members:
            self._timers.cancel(("session", self.group_id, member_id))

    def coordinator_moved(self) -> None:
        """Answers waiting requests with NOT_COORDINATOR and starts all sessions anew, because another coordinator has loaded the group."""
        for member in self.members.values():
            self.members.answer_join(member, JoinResult(ErrorCode.NOT_COORDINATOR))
            member.answer_sync(SyncResult(ErrorCode.NOT_COORDINATOR))
        self.renew_sessions()

    def renew_sessions(self) -> None:
        """Starts the sessions of all members anew."""
        for member in self.members.values():
            self._renew_session(member)

    def _renew_session(self, member: ClassicMember) -> None:
        self._set_session_timer(member.member_id, member.session_timeout_ms)

    def _set_session_timer(self, member_id: str, delay_ms: int) -> None:
        self._set_timer("session", delay_ms, member_id)

    def _rebalance_timeout_ms(self) -> int:
        """Returns the longest rebalance timeout of the members, at least 1, because with 0 the timer would fire again at the same time."""
        return max([1, *(member.rebalance_timeout_ms for member in self.members.values())])

    def _set_rebalance_timer(self) -> None:
        self._set_timer("rebalance", self._rebalance_timeout_ms())

    def _set_timer(self, kind: str, delay_ms: int, *member_id: str) -> None:
        self._timers.set((kind, self.group_id, *member_id), delay_ms, self.timer_action(kind, *member_id))

    def timer_action(self, kind: str, *member_id: str) -> Callable[[], None]:
        """Returns the action of the timer (kind, group, ...), which depends only on its key and the state of the group."""
        if kind == "session":
            return partial(self._expire_session, *member_id)
        if kind == "sync":
            return self._expire_unsynced
        return self._end_initial_delay if self._initial_rebalance else self._complete_rebalance
