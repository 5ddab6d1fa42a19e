"""A consumer group with arbitrary members of both protocols, which join, revoke, commit, leave and crash while topics change."""

from __future__ import annotations

import random
from collections import Counter

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule

from odradek.broker.groups.classic.messages import Join, JoinResult, Leave, Protocol, Sync, SyncResult
from odradek.broker.groups.consumer.assignors import Slot
from odradek.broker.groups.consumer.group import ConsumerGroup
from odradek.broker.groups.consumer.heartbeat import ConsumerHeartbeat
from odradek.broker.groups.coordinator import Groups, GroupSettings
from odradek.broker.groups.offsets import CommittedOffset
from odradek.broker.groups.states import ConsumerGroupState
from odradek.broker.scheduling.timers import Timers
from odradek.broker.scheduling.waiting import Reply
from odradek.protocol.errors import ErrorCode, KafkaError
from odradek.protocol.stored.consumer_protocol import ConsumerProtocolAssignment, ConsumerProtocolSubscription, TopicPartitions, read, write
from tests.broker.groups.scene import FakeCluster

# Shrinking a failing example can take longer than the time limit of other tests, which would hide the example.
pytestmark = pytest.mark.timeout(900)

SESSION_MS, REBALANCE_MS, PAUSE_MS = 45_000, 20_000, 1_000
numbers = st.integers(0, 7)


class Client:
    """A member of the consumer protocol; those with a number divisible by three are static."""

    def __init__(self, number: int) -> None:
        self.name = f"m{number}"
        self.instance = f"i{number}" if number % 3 == 0 else None
        self.epoch = 0
        self.assigned: frozenset[Slot] = frozenset()
        self.owned: frozenset[Slot] = frozenset()
        self.topics: frozenset[str] = frozenset("t")
        self.in_doubt = False
        """A response was lost: the client sends all fields again and keeps its partitions until it receives a response."""

    def reconcile(self) -> None:
        """Revokes and takes over partitions as the last assignment says, as a client does between two heartbeats."""
        if not self.in_doubt:
            self.owned = self.assigned

    def forget(self) -> None:
        self.epoch, self.owned, self.assigned, self.in_doubt = 0, frozenset(), frozenset(), False


class ConsumerGroupMachine(RuleBasedStateMachine):
    @initialize(
        count=st.sampled_from([1, 2, 2, 3, 3, 4, 8]), assignor=st.sampled_from(["uniform", "range"]), interval_ms=st.sampled_from([0, 1000])
    )
    def begin(self, count: int, assignor: str, interval_ms: int) -> None:
        self.timers = Timers(0)
        self.world = FakeCluster({"t": 3, "u": 2})
        chosen = GroupSettings(group_consumer_assignors=(assignor, "uniform"), group_consumer_assignment_interval_ms=interval_ms)
        self.groups = Groups(self.timers, random.Random(0), chosen, self.world)
        self.clients = [Client(number) for number in range(count)]
        self.epochs = (0, 0)
        self.member_epochs: dict[str, int] = {}
        self.offsets: dict[Slot, int] = {}

    @property
    def group(self) -> ConsumerGroup | None:
        group = self.groups.get("g")
        return group if isinstance(group, ConsumerGroup) else None

    def beat(self, client: Client, topics: frozenset[str] | None = None, regex: str | None = None, *, lost: bool = False) -> None:
        joins = client.epoch == 0
        client.topics = client.topics if topics is None else topics
        says_all = joins or client.in_doubt
        beat = ConsumerHeartbeat(
            member_id=client.name,
            epoch=client.epoch,
            instance_id=client.instance,
            rebalance_timeout_ms=REBALANCE_MS if says_all else -1,
            topics=client.topics if says_all else topics,
            regex=regex,
            owned=frozenset() if joins else client.owned,
        )
        try:
            result = self.groups.consumer.heartbeat("g", beat)
        except KafkaError as error:
            assert error.code in FATAL, error
            client.forget()
            return
        client.in_doubt = lost
        if lost:
            return
        client.epoch = result.epoch
        if result.assignment is not None:
            client.assigned = result.assignment

    @rule(number=numbers, topics=st.sampled_from([None, frozenset("t"), frozenset("tu"), frozenset(["v"])]), lost=st.booleans())
    def heartbeat(self, number: int, topics: frozenset[str] | None, lost: bool) -> None:
        """Sends a heartbeat, the response to which may be lost."""
        self.beat(self.clients[number % len(self.clients)], topics, lost=lost)

    @rule(number=numbers, regex=st.sampled_from(["", "t|u", ".*"]))
    def subscribe_to_pattern(self, number: int, regex: str) -> None:
        self.beat(self.clients[number % len(self.clients)], frozenset(), regex)

    @rule(order=st.permutations(range(8)), deaf=numbers)
    def heartbeats_of_all(self, order: list[int], deaf: int) -> None:
        """All clients send heartbeats, and all but one reconcile."""
        self.advance(PAUSE_MS)
        for number in order:
            if number < len(self.clients):
                self.beat(self.clients[number])
                if number != deaf:
                    self.reconcile(number)

    @rule(number=numbers)
    def reconcile(self, number: int) -> None:
        self.clients[number % len(self.clients)].reconcile()

    @rule(number=numbers, for_a_while=st.booleans())
    def leave(self, number: int, for_a_while: bool) -> None:
        client = self.clients[number % len(self.clients)]
        epoch = -2 if for_a_while and client.instance else -1
        try:
            self.groups.consumer.heartbeat("g", ConsumerHeartbeat(member_id=client.name, epoch=epoch, instance_id=client.instance))
        except KafkaError as error:
            assert error.code in FATAL
        client.forget()

    @rule(number=numbers)
    def crash(self, number: int) -> None:
        """Replaces a client by a new one without leaving the group."""
        client = self.clients[number % len(self.clients)]
        client.forget()
        client.name += "x"

    @rule(number=numbers, advance=st.integers(0, 5))
    def commit(self, number: int, advance: int) -> None:
        client = self.clients[number % len(self.clients)]
        for slot in client.owned:
            error = self.groups.offsets.check_commit("g", client.name, client.instance, client.epoch, [slot])
            if error is ErrorCode.NONE and self.group is not None and self.group.members:
                assert self.group.owners.get(slot) == client.name or self.group.members[client.name].epoch == client.epoch
                self.offsets[slot] = self.offsets.get(slot, 0) + advance
                committed = CommittedOffset(self.offsets[slot], -1, "", self.timers.now_ms)
                self.groups.offsets.commit("g", {(slot[0].hex(), slot[1]): committed})

    @rule(delay_ms=st.sampled_from([0, 1, PAUSE_MS, REBALANCE_MS, SESSION_MS - 1, SESSION_MS]))
    def advance(self, delay_ms: int) -> None:
        self.timers.advance(self.timers.now_ms + delay_ms)

    @rule(name=st.sampled_from("tuv"), partitions=st.integers(1, 5))
    def grow(self, name: str, partitions: int) -> None:
        present = self.world.topics.get(name)
        if present is None or len(present.partitions) < partitions:
            self.world.create(name, partitions)

    @rule()
    def delete_topic(self) -> None:
        if "u" in self.world.topics:
            self.world.delete("u")

    @rule()
    def delete_group(self) -> None:
        if self.groups.delete("g") is ErrorCode.NONE:
            self.offsets.clear()

    @rule()
    def settle(self) -> None:
        """All reachable members follow the protocol for a while; afterwards each partition that is read has an owner."""
        had_silent_members = False
        for _ in range(8):
            self.advance(PAUSE_MS)
            for client in self.clients:
                if self.group is not None and client.name in self.group.members:
                    client.reconcile()
                    self.beat(client)
                    client.reconcile()
            had_silent_members |= self.has_silent_members()
        group = self.group
        if group is None or had_silent_members:
            # A silent member holds its partitions until its session ends, and that begins a new rebalance, perhaps in the last round.
            return
        assert group.state in (ConsumerGroupState.STABLE, ConsumerGroupState.EMPTY)
        names = group.subscriptions.names
        read = {(topic.id, index) for name in names if (topic := self.world.topics.get(name)) for index in range(len(topic.partitions))}
        assert set(group.owners) == read
        for client in self.clients:
            if client.name in group.members:
                assert client.assigned == frozenset(group.members[client.name].assigned)

    def has_silent_members(self) -> bool:
        """Returns whether a member of the group no longer sends heartbeats.

        That is a crashed member, or a static member that has lost the answer to its join: Kafka answers its next join with
        UNRELEASED_INSTANCE_ID until the session of the first one has ended.
        """
        active = {client.name for client in self.clients if client.epoch > 0}
        return self.group is not None and not self.group.members.keys() <= active

    def teardown(self) -> None:
        """Without heartbeats the group becomes empty and only the retention timer remains."""
        if hasattr(self, "timers"):
            self.timers.advance(self.timers.now_ms + SESSION_MS + REBALANCE_MS)
            assert self.group is None or not (self.group.members or self.group.owners or self.group.targets or self.group.static_ids)
            assert len(self.timers) <= 1

    @invariant()
    def a_partition_has_one_owner(self) -> None:
        if self.group is None:
            return
        owners: dict[Slot, str] = {}
        for member in self.group.members.values():
            for slot in (*member.assigned, *member.revoking):
                assert slot not in owners
                owners[slot] = member.member_id
        assert owners == self.group.owners

    @invariant()
    def subscriptions_are_counted(self) -> None:
        if self.group is None:
            return
        subscriptions = self.group.subscriptions
        assert subscriptions.counts == Counter((member.topics, member.regex) for member in self.group.members.values())
        assert subscriptions.names == frozenset().union(*map(subscriptions.names_of, self.group.members.values()))

    @invariant()
    def no_two_clients_use_a_partition(self) -> None:
        """Checks the clients that are in the current epoch of their members."""
        if self.group is None:
            return
        used: dict[Slot, str] = {}
        for client in self.clients:
            member = self.group.members.get(client.name)
            if member is not None and client.epoch == member.epoch:
                for slot in client.owned:
                    assert used.setdefault(slot, client.name) == client.name

    @invariant()
    def epochs_only_grow(self) -> None:
        if self.group is None:
            self.epochs = (0, 0)
            self.member_epochs.clear()
            return
        epochs = (self.group.epoch, self.group.assignment_epoch)
        assert epochs >= self.epochs and epochs[1] <= epochs[0]
        self.epochs = epochs
        for member_id, member in self.group.members.items():
            assert member.epoch <= self.group.epoch
            if member.epoch > 0:
                assert member.epoch >= self.member_epochs.get(member_id, 0)
                self.member_epochs[member_id] = member.epoch

    @invariant()
    def committed_offsets_never_go_back(self) -> None:
        for topic, partitions in self.groups.offsets.of("g"):
            for index, committed in partitions.items():
                assert committed.offset == self.offsets[bytes.fromhex(topic), index]

    @invariant()
    def every_timer_has_a_member(self) -> None:
        members = set(self.group.members) if self.group else set()
        for client in self.clients:
            for kind in ("session", "revocation"):
                assert (kind, "g", client.name) not in self.timers or client.name in members
        assert all(("session", "g", member_id) in self.timers for member_id in members)


FATAL = {
    ErrorCode.FENCED_MEMBER_EPOCH,
    ErrorCode.UNKNOWN_MEMBER_ID,
    ErrorCode.FENCED_INSTANCE_ID,
    ErrorCode.UNRELEASED_INSTANCE_ID,
    ErrorCode.GROUP_ID_NOT_FOUND,
}

TestConsumerGroupMachine = ConsumerGroupMachine.TestCase
TestConsumerGroupMachine.settings = settings(max_examples=150, stateful_step_count=40, deadline=None)


def subscription(owned: frozenset[Slot], world: FakeCluster) -> bytes:
    partitions = [TopicPartitions(topic=world.topics_by_id[topic].name, partitions=[index]) for topic, index in sorted(owned)]
    return write(ConsumerProtocolSubscription(topics=["t"], owned_partitions=partitions), 1)


class ClassicClient:
    """A member of the classic protocol, which joins, syncs, sends heartbeats and joins again when it has to."""

    def __init__(self, groups: Groups, world: FakeCluster) -> None:
        self.groups, self.world = groups, world
        self.member_id, self.generation, self.owned = "", -1, frozenset[Slot]()

    def step(self) -> None:
        if self.generation >= 0 and not self.groups.classic.heartbeat("g", self.member_id, None, self.generation):
            return
        joined: Reply[JoinResult] = Reply()
        protocols = (Protocol("range", subscription(self.owned, self.world)),)
        join = Join(
            member_id=self.member_id, protocol_type="consumer", protocols=protocols, session_timeout_ms=45_000, rebalance_timeout_ms=20_000
        )
        self.groups.classic.join("g", join, joined)
        if not joined.done:
            return
        if joined.value.error:
            self.member_id, self.generation, self.owned = "", -1, frozenset()
            return
        self.member_id, self.generation = joined.value.member_id, joined.value.generation_id
        synced: Reply[SyncResult] = Reply()
        self.groups.classic.sync("g", Sync(member_id=self.member_id, generation_id=self.generation, assignments={}), synced)
        if synced.done and not synced.value.error:
            assigned = read(ConsumerProtocolAssignment, synced.value.assignment).assigned_partitions
            self.owned = frozenset((self.world.topics[each.topic].id, index) for each in assigned for index in each.partitions)


def test_members_of_both_protocols_share_all_partitions() -> None:
    """Each partition has one owner in the end, in whatever order the clients take their steps."""
    for seed in range(60):
        chance = random.Random(seed)
        world = FakeCluster({"t": 6})
        timers = Timers(0)
        groups = Groups(timers, random.Random(0), GroupSettings(), world)
        machine = ConsumerGroupMachine()
        machine.groups, machine.timers, machine.world = groups, timers, world
        modern = [Client(number) for number in (1, 2)]
        classic = [ClassicClient(groups, world) for _ in range(2)]
        machine.beat(modern[0])
        for _ in range(200):
            timers.advance(timers.now_ms + 250)
            if chance.random() < 0.5:
                client = chance.choice(modern)
                client.reconcile()
                machine.beat(client)
                client.reconcile()
            else:
                chance.choice(classic).step()
        group = machine.group
        assert group is not None and group.state is ConsumerGroupState.STABLE, seed
        owned = [slot for each in modern for slot in each.owned] + [slot for each in classic for slot in each.owned]
        assert sorted(owned) == [(world.topics["t"].id, index) for index in range(6)], seed
        groups.classic.leave("g", [Leave(member_id=each.member_id) for each in classic])
        assert len(group.members) == 2
