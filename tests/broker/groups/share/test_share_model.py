"""A share group with arbitrary members, which join, change their subscriptions, lose responses, leave and crash while topics change."""

from __future__ import annotations

import random

import pytest
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule

from odradek.broker.groups.coordinator import Groups, GroupSettings
from odradek.broker.groups.share.assignor import Assignment
from odradek.broker.groups.share.group import ShareGroup
from odradek.broker.groups.share.heartbeat import ShareHeartbeat
from odradek.broker.groups.states import ShareGroupState
from odradek.broker.scheduling.timers import Timers
from odradek.protocol.errors import ErrorCode, KafkaError
from tests.broker.groups.scene import FakeCluster

# Shrinking a failing example can take longer than the time limit of other tests, which would hide the example.
pytestmark = pytest.mark.timeout(900)

SESSION_MS, PAUSE_MS, RETRY_MS = 45_000, 1_000, 30_000
REJOIN = (ErrorCode.FENCED_MEMBER_EPOCH, ErrorCode.UNKNOWN_MEMBER_ID, ErrorCode.GROUP_ID_NOT_FOUND, ErrorCode.GROUP_MAX_SIZE_REACHED)
numbers = st.integers(0, 7)
subscriptions = st.sampled_from([frozenset("t"), frozenset("u"), frozenset("tu"), frozenset("tuv"), frozenset(["nowhere"])])


class Client:
    """A member, which sends its subscription when it joins or after a lost response."""

    def __init__(self, number: int) -> None:
        self.name = f"member-{number}"
        self.epoch = 0
        self.topics: frozenset[str] = frozenset("t")
        self.assigned: Assignment = {}
        self.in_doubt = False

    def forget(self) -> None:
        self.epoch, self.assigned, self.in_doubt = 0, {}, False


class ShareGroupMachine(RuleBasedStateMachine):
    @initialize(count=st.sampled_from([1, 2, 3, 5, 8]), interval_ms=st.sampled_from([0, 1000]), size=st.sampled_from([2, 200]))
    def begin(self, count: int, interval_ms: int, size: int) -> None:
        self.timers = Timers(0)
        self.world = FakeCluster({"t": 3, "u": 1})
        chosen = GroupSettings(group_share_assignment_interval_ms=interval_ms, group_share_max_size=size)
        self.groups, self.size = Groups(self.timers, random.Random(0), chosen, self.world), size
        self.clients = [Client(number) for number in range(count)]
        self.epochs = (0, 0)
        self.member_epochs: dict[str, int] = {}

    @property
    def group(self) -> ShareGroup | None:
        group = self.groups.get("g")
        assert group is None or isinstance(group, ShareGroup)
        return group

    def client(self, number: int) -> Client:
        return self.clients[number % len(self.clients)]

    def beat(self, client: Client, topics: frozenset[str] | None = None, *, lost: bool = False) -> None:
        client.topics = client.topics if topics is None else topics
        is_full = topics is not None or client.epoch == 0 or client.in_doubt
        try:
            result = self.groups.share.heartbeat("g", ShareHeartbeat(client.name, client.epoch, topics=client.topics if is_full else None))
        except KafkaError as error:
            assert error.code in REJOIN, error
            client.forget()
            return
        client.in_doubt = lost
        if not lost:
            client.epoch = result.epoch
            client.assigned = client.assigned if result.assignment is None else result.assignment

    @rule(number=numbers, topics=st.none() | subscriptions, lost=st.booleans())
    def heartbeat(self, number: int, topics: frozenset[str] | None, lost: bool) -> None:
        """Sends a heartbeat, the response to which may be lost."""
        self.beat(self.client(number), topics, lost=lost)

    @rule(number=numbers, epoch=st.integers(0, 9))
    def heartbeat_of_any_epoch(self, number: int, epoch: int) -> None:
        client = self.client(number)
        member = self.group.members.get(client.name) if self.group else None
        accepted = (0, member.epoch, member.previous_epoch) if member else (0,)
        try:
            self.groups.share.heartbeat("g", ShareHeartbeat(client.name, epoch, topics=client.topics))
        except KafkaError as error:
            assert error.code in REJOIN
            assert epoch not in accepted or error.code is ErrorCode.GROUP_MAX_SIZE_REACHED
        else:
            assert epoch in accepted
            client.in_doubt = True  # the response is lost, which may have had a new assignment

    @rule(number=numbers)
    def leave(self, number: int) -> None:
        client = self.client(number)
        known = self.group is not None and client.name in self.group.members
        try:
            self.groups.share.heartbeat("g", ShareHeartbeat(client.name, -1))
        except KafkaError as error:
            assert not known
            assert error.code in REJOIN
        client.forget()

    @rule(delay_ms=st.sampled_from([1, PAUSE_MS, RETRY_MS, SESSION_MS - 1, SESSION_MS + 1]))
    def advance(self, delay_ms: int) -> None:
        self.timers.advance(self.timers.now_ms + delay_ms)

    @rule(name=st.sampled_from("tuv"), count=st.integers(1, 5))
    def create_or_extend_topic(self, name: str, count: int) -> None:
        self.world.create(name, count)

    @rule(name=st.sampled_from("tuv"))
    def delete_topic(self, name: str) -> None:
        if name in self.world.topics:
            topic_id = self.world.topics[name].id
            self.world.delete(name)
            self.groups.share.topic_deleted(topic_id)
            for key in [key for key in self.world.share_states.states if key[1] == topic_id]:
                del self.world.share_states.states[key]

    @rule(broken=st.booleans())
    def break_or_mend_states(self, broken: bool) -> None:
        self.world.share_states.is_broken = broken

    @rule(name=st.sampled_from("tuv"), index=st.integers(0, 5), offset=st.integers(-1, 9))
    def alter_offset(self, name: str, index: int, offset: int) -> None:
        if name not in self.world.topics:
            return
        is_empty = self.group is None or self.group.is_empty
        try:
            errors = self.groups.share.alter_offsets("g", {name: {index: offset}})
        except KafkaError as error:
            assert error.code is ErrorCode.NON_EMPTY_GROUP
            assert not is_empty
        else:
            stored = self.world.share_states.summary("g", self.world.topics[name].id, index)
            assert is_empty
            assert errors or (stored is not None and stored.start_offset == offset)

    @rule(name=st.sampled_from("tuv"))
    def delete_offsets(self, name: str) -> None:
        try:
            results = self.groups.share.delete_offsets("g", [name])
        except KafkaError as error:
            assert error.code is (ErrorCode.GROUP_ID_NOT_FOUND if self.group is None else ErrorCode.NON_EMPTY_GROUP)
        else:
            for result in results:
                assert result.error or (result.topic and result.topic.id not in self.groups.share.initialized_partitions("g"))

    @rule()
    def delete_group(self) -> None:
        group = self.group
        error = self.groups.delete("g")
        if not error:
            assert self.group is None
            assert not [key for key in self.world.share_states.states if key[0] == "g"]
            self.epochs, self.member_epochs = (0, 0), {}
        else:
            assert group is None or not group.is_empty or self.world.share_states.is_broken

    @rule()
    def settle(self) -> None:
        """After a few heartbeats of all members, each subscribed partition is initialized and assigned to a subscriber."""
        self.world.share_states.is_broken = False
        self.advance(RETRY_MS)
        for _ in range(4):
            self.advance(PAUSE_MS)
            for client in self.clients:
                self.beat(client)
        group = self.group
        assert group is not None
        assert group.epoch == group.assignment_epoch
        for client in self.clients:
            if client.name in group.members:
                member = group.members[client.name]
                assert (member.epoch, dict(member.assigned)) == (client.epoch, dict(client.assigned))
                assert member.epoch == group.epoch
        for name in group.subscriptions.names & self.world.topics.keys():
            topic = self.world.topics[name]
            assigned = {index for member in group.members.values() for index in member.assigned.get(topic.id, ())}
            assert assigned == set(range(len(topic.partitions))), name

    @invariant()
    def group_is_consistent(self) -> None:
        group = getattr(self, "groups", None) and self.group
        if not group:
            return
        assert group.state is (ShareGroupState.STABLE if group.members else ShareGroupState.EMPTY)
        assert self.epochs <= (group.epoch, group.assignment_epoch)
        assert group.assignment_epoch <= group.epoch
        self.epochs = group.epoch, group.assignment_epoch
        assert len(group.members) <= self.size
        names = frozenset().union(*(member.topics for member in group.members.values()))
        assert (group.subscriptions.names, sum(group.subscriptions.counts.values())) == (names, len(group.members))
        assert group.targets.keys() <= group.members.keys()
        for member in group.members.values():
            assert ("session", "g", member.member_id) in self.timers
            assert member.previous_epoch <= member.epoch <= group.epoch
        for topic_id, indexes in group.initialization.assignable.items():
            assert topic_id in self.world.topics_by_id
            assert all(self.world.share_states.summary("g", topic_id, index) for index in indexes)

    @invariant()
    def changes_are_written(self) -> None:
        group = getattr(self, "groups", None) and self.group
        assert not group or not group.journal.drain()


TestShareGroupMachine = ShareGroupMachine.TestCase
