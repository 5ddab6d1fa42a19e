"""A classic group with arbitrary members, which join, sync, send heartbeats, leave, crash and return in any order."""

from __future__ import annotations

import random
from collections.abc import Callable

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule

from odradek.broker.groups.classic.group import ClassicGroup
from odradek.broker.groups.classic.messages import Join, JoinResult, Leave, Protocol, Sync, SyncResult
from odradek.broker.groups.coordinator import Groups, GroupSettings
from odradek.broker.groups.states import GroupState
from odradek.broker.scheduling.timers import Timers
from odradek.broker.scheduling.waiting import Reply
from odradek.protocol.errors import ErrorCode
from tests.broker.groups.scene import FakeCluster

MAX_WAIT_MS = 300_000 + 30_000 + 30_000
clients = st.integers(0, 5)


class Client:
    """A client of the group. Clients with odd numbers are static members."""

    def __init__(self, number: int) -> None:
        self.instance = f"instance{number}" if number % 2 else None
        self.member_id = ""
        self.generation = -1
        self.leads: tuple[str, ...] = ()
        self.join_reply: Reply[JoinResult] | None = None
        self.sync_reply: Reply[SyncResult] | None = None

    def hear(self) -> None:
        if self.join_reply is not None and self.join_reply.done:
            result, self.join_reply = self.join_reply.value, None
            self.member_id = result.member_id
            if not result.error:
                self.generation = result.generation_id
                self.leads = tuple(member.member_id for member in result.members)
        if self.sync_reply is not None and self.sync_reply.done:
            synced, self.sync_reply = self.sync_reply.value, None
            if synced.error in (ErrorCode.UNKNOWN_MEMBER_ID, ErrorCode.FENCED_INSTANCE_ID):
                self.member_id = ""

    @property
    def waits(self) -> bool:
        return self.join_reply is not None or self.sync_reply is not None


class GroupMachine(RuleBasedStateMachine):
    @initialize(
        delay=st.sampled_from([0, 3000]),
        max_size=st.sampled_from([2, 100]),
        timeouts=st.sampled_from([(10_000, 20_000), (30_000, 10_000)]),
    )
    def begin(self, delay: int, max_size: int, timeouts: tuple[int, int]) -> None:
        self.session_ms, self.rebalance_ms = timeouts
        self.timers = Timers(0)
        chosen = GroupSettings(group_initial_rebalance_delay_ms=delay, group_max_size=max_size)
        self.groups = Groups(self.timers, random.Random(0), chosen, FakeCluster())
        self.clients = [Client(number) for number in range(6)]
        self.ids: set[str] = set()
        self.generation = 0

    @property
    def group(self) -> ClassicGroup | None:
        group = self.groups.get("g")
        assert group is None or isinstance(group, ClassicGroup)
        return group

    def hear(self) -> None:
        for client in self.clients:
            client.hear()
            self.ids.add(client.member_id)

    @rule(
        number=clients,
        protocols=st.sampled_from(["ab", "ba", "b", "a"]),
        metadata=st.sampled_from([b"1", b"2"]),
        known=st.booleans(),
        skip=st.booleans(),
    )
    def join(self, number: int, protocols: str, metadata: bytes, known: bool, skip: bool) -> None:
        client = self.clients[number]
        if client.waits:
            return
        client.join_reply = Reply()
        join = Join(
            member_id=client.member_id,
            group_instance_id=client.instance,
            client_id=f"client{number}",
            protocol_type="consumer",
            protocols=tuple(Protocol(name, metadata) for name in protocols),
            session_timeout_ms=self.session_ms,
            rebalance_timeout_ms=self.rebalance_ms,
            requires_known_member_id=known,
            supports_skip_assignment=skip,
        )
        self.groups.classic.join("g", join, client.join_reply)
        self.hear()

    @rule(number=clients)
    def sync(self, number: int) -> None:
        client = self.clients[number]
        if client.waits:
            return
        client.sync_reply = Reply()
        assignments = {member_id: member_id.encode() for member_id in client.leads}
        sync = Sync(member_id=client.member_id, group_instance_id=client.instance, generation_id=client.generation, assignments=assignments)
        self.groups.classic.sync("g", sync, client.sync_reply)
        self.hear()

    @rule()
    def settle(self) -> None:
        """The members do what clients do in their poll loop; usually this ends in Stable."""
        self.advance(3000)
        for verb in (self.heartbeat, self.rejoin, self.sync):
            for client in self.clients:
                if self.group is not None and client.member_id in self.group.members:
                    verb(self.clients.index(client))

    def rejoin(self, number: int) -> None:
        if self.group is not None and self.group.state is GroupState.PREPARING_REBALANCE:
            self.join(number, "ab", b"1", True, True)

    @rule(number=clients)
    def heartbeat(self, number: int) -> None:
        client = self.clients[number]
        self.groups.classic.heartbeat("g", client.member_id, client.instance, client.generation)
        self.hear()

    @rule(number=clients)
    def commit(self, number: int) -> None:
        client = self.clients[number]
        error = self.groups.offsets.check_commit("g", client.member_id, client.instance, client.generation)
        if error is ErrorCode.NONE and self.group is not None and self.group.members:
            assert client.member_id in self.group.members and client.generation == self.group.generation_id

    @rule(numbers=st.lists(clients, max_size=3))
    def leave(self, numbers: list[int]) -> None:
        leaving = [self.clients[number] for number in numbers]
        self.groups.classic.leave("g", [Leave(member_id=client.member_id, group_instance_id=client.instance) for client in leaving])
        self.hear()

    @rule(number=st.sampled_from([1, 3, 5]))
    def remove_instance(self, number: int) -> None:
        self.groups.classic.leave("g", [Leave(member_id="", group_instance_id=self.clients[number].instance)])
        self.hear()

    @rule(number=clients)
    def lose_connection(self, number: int) -> None:
        self.clients[number].join_reply = self.clients[number].sync_reply = None

    @rule(number=clients, protocols=st.sampled_from(["ab", "ba"]), skip=st.booleans())
    def restart(self, number: int, protocols: str, skip: bool) -> None:
        self.clients[number] = Client(number)
        self.join(number, protocols, b"1", True, skip)

    @rule()
    def delete(self) -> None:
        if self.groups.delete("g") is ErrorCode.NONE:
            self.generation = 0
        self.hear()

    @rule(delay_ms=st.sampled_from([0, 1, 3000, 5000, 9999, 10_000]))
    def advance(self, delay_ms: int) -> None:
        self.timers.advance(self.timers.now_ms + delay_ms)
        self.hear()

    def teardown(self) -> None:
        """Without requests, all waiting requests are answered and the group becomes empty."""
        if not hasattr(self, "timers"):
            return
        for _ in range(2):
            self.timers.advance(self.timers.now_ms + MAX_WAIT_MS)
            self.hear()
            assert not any(client.waits for client in self.clients)
        assert self.group is None or self.group.state is GroupState.EMPTY
        assert len(self.timers) <= 1  # the retention of offsets

    @invariant()
    def generations_only_grow(self) -> None:
        if self.group is None:
            self.generation = 0  # The group was deleted; the next one begins with generation 0.
        else:
            assert self.group.generation_id >= self.generation
            self.generation = self.group.generation_id

    @invariant()
    def every_timer_has_a_member(self) -> None:
        known = set(self.group.members) | self.group.pending if self.group else set()
        for member_id in self.ids - known:
            assert ("session", "g", member_id) not in self.timers

    @invariant()
    def every_member_is_waited_for_or_timed(self) -> None:
        if self.group is not None:
            for member_id, member in self.group.members.items():
                assert member.is_waiting or ("session", "g", member_id) in self.timers
            assert all(("session", "g", member_id) in self.timers for member_id in self.group.pending)

    @invariant()
    def states_mean_what_they_say(self) -> None:
        group = self.group
        if group is None:
            return
        assert (group.leader in group.members) if group.members else group.leader is None
        assert not group.pending & set(group.members)
        assert (("rebalance", "g") in self.timers) == (group.state is GroupState.PREPARING_REBALANCE)
        assert (("sync", "g") in self.timers) == bool(group.unsynced)
        assert group.unsynced <= set(group.members)
        CHECKS[group.state](group)

    @invariant()
    def instances_are_unique(self) -> None:
        instances = [member.group_instance_id for member in self.group.members.values() if member.is_static] if self.group else []
        assert len(instances) == len(set(instances))


def empty(group: ClassicGroup) -> None:
    assert not group.members and not group.unsynced and group.protocol_name is None


def preparing(group: ClassicGroup) -> None:
    assert not group.unsynced
    assert all(member.sync_reply is None for member in group.members.values())


def completing(group: ClassicGroup) -> None:
    assert group.members and group.leader in group.unsynced
    assert all(member.join_reply is None for member in group.members.values())
    assert all((member.sync_reply is None) == (member_id in group.unsynced) for member_id, member in group.members.items())


def stable(group: ClassicGroup) -> None:
    assert not any(member.is_waiting for member in group.members.values())
    assert all(group.protocol_name in [protocol.name for protocol in member.protocols] for member in group.members.values())


CHECKS: dict[GroupState, Callable[[ClassicGroup], None]] = {
    GroupState.EMPTY: empty,
    GroupState.PREPARING_REBALANCE: preparing,
    GroupState.COMPLETING_REBALANCE: completing,
    GroupState.STABLE: stable,
}

TestGroupMachine = GroupMachine.TestCase
TestGroupMachine.settings = settings(max_examples=150, stateful_step_count=30, deadline=None)
