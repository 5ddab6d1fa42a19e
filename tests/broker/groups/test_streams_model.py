"""A model of streams groups: members of several processes join, report what they own, leave and expire, and topics come and go.

After each heartbeat, an active task has one owner at most, no process has two copies of a task, and a member has only tasks of its target
or of a former one. When all members have reported what they were told to own, the group becomes stable with all tasks assigned.
"""

from __future__ import annotations

import random
from collections import Counter
from dataclasses import dataclass, field

from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from odradek.broker.groups.coordinator import Groups, GroupSettings
from odradek.broker.groups.states import StreamsGroupState
from odradek.broker.groups.streams.group import StreamsGroup
from odradek.broker.groups.streams.heartbeat import StreamsHeartbeat, StreamsHeartbeatResult
from odradek.broker.groups.streams.tasks import NOTHING, CurrentTasks
from odradek.broker.scheduling.timers import Timers
from odradek.protocol.errors import ErrorCode, KafkaError
from tests.broker.groups.scene import FakeCluster
from tests.broker.groups.streams_verbs import owned, shape, tasks

SHAPE = "0:t>r,1:<r*c"
NAMES = st.sampled_from("mnop")
PROCESSES = {"m": "a", "n": "a", "o": "b", "p": "c"}


@dataclass
class Client:
    """The state of a member: its epoch, the tasks that it was given, and those that it has."""

    name: str
    epoch: int = 0
    given: CurrentTasks = NOTHING
    has: CurrentTasks = field(default=NOTHING)


class StreamsModel(RuleBasedStateMachine):
    @initialize(standbys=st.integers(0, 1), interval_ms=st.sampled_from([0, 1000]))
    def begin(self, standbys: int, interval_ms: int) -> None:
        self.timers, self.cluster = Timers(1_000_000), FakeCluster({"t": 3})
        settings = GroupSettings(group_streams_num_standby_replicas=standbys, group_streams_assignment_interval_ms=interval_ms)
        self.groups = Groups(self.timers, random.Random(0), settings, self.cluster)
        self.clients: dict[str, Client] = {}

    @property
    def group(self) -> StreamsGroup | None:
        group = self.groups.get("g")
        assert group is None or isinstance(group, StreamsGroup)
        return group

    def beat(self, client: Client, *, report: bool, epoch: int | None = None) -> None:
        joins = client.epoch == 0
        told = owned(tasks(client.has.active).replace(" ", ",").replace("nothing", "none"))
        copies = owned(tasks(client.has.standby).replace(" ", ",").replace("nothing", "none"))
        beat = StreamsHeartbeat(
            member_id=client.name,
            epoch=client.epoch if epoch is None else epoch,
            rebalance_timeout_ms=10_000 if joins else -1,
            topology=shape(SHAPE) if joins else None,
            active=() if joins else told if report else None,
            standby=() if joins else copies if report else None,
            warmup=() if joins or report else None,
            process_id=PROCESSES[client.name],
        )
        try:
            self.hear(client, self.groups.streams.heartbeat("g", beat))
        except KafkaError as error:
            assert error.code in (ErrorCode.FENCED_MEMBER_EPOCH, ErrorCode.UNKNOWN_MEMBER_ID, ErrorCode.INVALID_REQUEST)
            client.epoch, client.given, client.has = 0, NOTHING, NOTHING

    def hear(self, client: Client, result: StreamsHeartbeatResult) -> None:
        assert result.epoch >= client.epoch
        client.epoch = result.epoch
        if result.tasks is not None:
            client.given = result.tasks
            gained = result.tasks
            client.has = CurrentTasks({**client.has.active, **gained.active}, client.has.standby | gained.standby)

    @rule(name=NAMES)
    def join(self, name: str) -> None:
        client = self.clients[name] = Client(name)
        self.beat(client, report=True)

    @precondition(lambda self: self.clients)
    @rule(data=st.data(), report=st.booleans(), revoke=st.booleans())
    def heartbeat(self, data: st.DataObject, report: bool, revoke: bool) -> None:
        client = self.clients[data.draw(st.sampled_from(sorted(self.clients)))]
        if revoke:
            client.has = client.given
        self.beat(client, report=report)

    @precondition(lambda self: self.clients)
    @rule(data=st.data(), epoch=st.integers(0, 9))
    def heartbeat_in_any_epoch(self, data: st.DataObject, epoch: int) -> None:
        client = self.clients[data.draw(st.sampled_from(sorted(self.clients)))]
        if client.epoch and epoch > 0:
            before = client.epoch
            client.epoch = min(before, epoch)
            self.beat(client, report=True, epoch=epoch)

    @precondition(lambda self: self.clients)
    @rule(data=st.data())
    def leave(self, data: st.DataObject) -> None:
        name = data.draw(st.sampled_from(sorted(self.clients)))
        del self.clients[name]
        if self.group is not None and name in self.group.members:
            self.groups.streams.heartbeat("g", StreamsHeartbeat(name, -1))
            assert name not in self.group.members

    @rule()
    def create_topics(self) -> None:
        for name in ("t", "r", "c"):
            if name not in self.cluster.topics:
                self.cluster.create(name, 3)

    @rule(name=st.sampled_from(["t", "r", "c"]))
    def delete_topic(self, name: str) -> None:
        if name in self.cluster.topics:
            self.cluster.delete(name)

    @rule(delay_ms=st.sampled_from([500, 5_000, 20_000, 50_000]))
    def pass_time(self, delay_ms: int) -> None:
        self.timers.advance(self.timers.now_ms + delay_ms)

    @rule()
    def move_coordinator(self) -> None:
        if self.group is not None:
            self.group.coordinator_moved()

    @rule()
    def settle(self) -> None:
        """All topics exist, and all members do what they are told."""
        self.create_topics()
        for _ in range(8):
            self.timers.advance(self.timers.now_ms + 1000)
            for client in self.clients.values():
                client.has = client.given
                self.beat(client, report=True)
        if self.clients:
            assert self.group is not None
            assert self.group.state is StreamsGroupState.STABLE
            active = Counter(task for client in self.clients.values() for task in client.given.active)
            assert active == Counter({(name, index): 1 for name in "01" for index in range(3)})

    @invariant()
    def tasks_have_one_owner(self) -> None:
        group = getattr(self, "groups", None) and self.group
        if not group:
            return
        active: Counter[tuple[str, int]] = Counter()
        copies: Counter[tuple[str, tuple[str, int]]] = Counter()
        for member in group.members.values():
            active.update(member.assigned.active.keys() | member.revoking.active.keys())
            copies.update((member.process_id, task) for task in (*member.assigned.active, *member.assigned.standby))
        assert not active or max(active.values()) == 1
        assert not copies or max(copies.values()) == 1


TestStreamsModel = StreamsModel.TestCase
