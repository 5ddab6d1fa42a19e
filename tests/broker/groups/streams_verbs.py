"""The transcript commands for streams groups. A member's id is its name, and `0-1` is task 1 of subtopology 0."""

from __future__ import annotations

import re
from collections.abc import Iterable

from odradek.broker.groups.coordinator import Groups
from odradek.broker.groups.streams.configuration import NewTopic
from odradek.broker.groups.streams.group import StreamsGroup
from odradek.broker.groups.streams.heartbeat import OwnedTasks, StreamsHeartbeat, StreamsHeartbeatResult
from odradek.broker.groups.streams.member import Endpoint, MemberState, StreamsMember
from odradek.broker.groups.streams.tasks import CurrentTasks, Task, by_subtopology
from odradek.broker.groups.streams.topology import InternalTopicInfo, Subtopology, Topology
from odradek.protocol.errors import KafkaError
from tests.broker.groups.scene import FakeCluster

STATES = {MemberState.STABLE: "", MemberState.UNREVOKED_TASKS: " revokes", MemberState.UNRELEASED_TASKS: " waits"}
PART = re.compile(r"(?P<name>\w+):(?P<sources>[\w+]*)(?:>(?P<sinks>[\w+]+))?(?:<(?P<repartitions>[\w+]+))?(?:\*(?P<changelogs>[\w+]+))?")


def shape(text: str, epoch: int = 0) -> Topology:
    """Returns the topology `id:sources>sinks<repartitions*changelogs`; parts are separated by a comma, topics by a plus sign."""
    parts = {}
    for each in filter(None, text.split(",")):
        found = PART.fullmatch(each)
        assert found is not None, each
        topics = {role: tuple(filter(None, (found[role] or "").split("+"))) for role in ("sources", "sinks", "repartitions", "changelogs")}
        repartitions, changelogs = (
            tuple(InternalTopicInfo(name, 0, 0, ()) for name in topics[role]) for role in ("repartitions", "changelogs")
        )
        parts[found["name"]] = Subtopology(found["name"], topics["sources"], changelogs, topics["sinks"], repartitions, ())
    return Topology(epoch, parts)


def owned(text: str) -> OwnedTasks:
    tasks = [(name, int(index)) for name, index in (word.split("-") for word in text.split(",") if word != "none")]
    return tuple((name, tuple(indexes)) for name, indexes in by_subtopology(tasks).items())


def tasks(found: Iterable[Task]) -> str:
    return " ".join(f"{name}-{index}" for name, index in sorted(found)) or "nothing"


def roles(found: CurrentTasks) -> str:
    parts = [tasks(found.active)]
    parts += [f"standby {tasks(found.standby)}"] if found.standby else []
    return ", ".join(parts)


class StreamsVerbs:
    groups: Groups
    cluster: FakeCluster
    shown: list[str]
    epochs: dict[str, int]
    missing: tuple[NewTopic, ...] = ()

    def do_run(self, words: list[str], options: dict[str, str]) -> None:
        """run NAME [shutdown] [epoch=N] [shape=S] [topology=N] [owned=TASKS] [standby=TASKS] [process=P] [endpoint=P] [rebalance=MS]"""
        name, *flags = words
        epoch = int(options.get("epoch", self.epochs.get(name, 0)))
        active = options.get("owned", None if epoch else "none")
        port = options.get("endpoint")
        beat = StreamsHeartbeat(
            member_id=name,
            epoch=epoch,
            rebalance_timeout_ms=-1 if epoch else int(options.get("rebalance", 30_000)),
            topology=shape(options.get("shape", "0:u"), int(options.get("topology", 0))) if epoch == 0 else None,
            active=None if active is None else owned(active),
            standby=None if active is None else owned(options.get("standby", "none")),
            warmup=None if active is None else (),
            process_id=options.get("process", None if epoch else name),
            endpoint=None if port is None else Endpoint("host", int(port)),
            shutdown_application="shutdown" in flags,
        )
        try:
            result = self.groups.streams.heartbeat("g", beat)
        except KafkaError as error:
            self.shown.append(f"{name} run {error.code.name}")
            self.epochs[name] = 0
            return
        self.epochs[name] = max(result.epoch, 0)
        self.missing = result.missing_topics
        self.shown.append(f"{name} run {self.result(result)}")

    def result(self, result: StreamsHeartbeatResult) -> str:
        parts = [f"epoch {result.epoch}"]
        parts += [f"has {roles(result.tasks)}"] if result.tasks is not None else []
        parts += [status.code.name for status in result.statuses]
        for each in result.endpoints or ():
            active = " ".join(f"{topic}{index}" for topic, indexes in each.active for index in indexes)
            parts.append(f"port {each.endpoint.port} answers for {active or 'nothing'}")
        return ", ".join(parts)

    def do_quit(self, words: list[str], options: dict[str, str]) -> None:
        name, *flags = words
        self.do_run([name, *flags], {"epoch": "-1"})

    def do_make(self, words: list[str], options: dict[str, str]) -> None:
        """Creates the topics that were missing at the last heartbeat."""
        for topic in self.missing:
            self.cluster.create(topic.name, topic.partitions)
            self.shown.append(f"created {topic.name} with {topic.partitions} partitions")

    def do_standbys(self, words: list[str], options: dict[str, str]) -> None:
        self.cluster.configure_group("g", {"streams.num.standby.replicas": words[0], "streams.assignment.interval.ms": "0"})

    def do_move(self, words: list[str], options: dict[str, str]) -> None:
        """Lets another node coordinate the group."""
        group = self.groups.get("g")
        assert group is not None
        group.coordinator_moved()

    def streams_state(self, group: StreamsGroup) -> str:
        members = "".join(f"\n    {self.streams_member(member)}" for member in group.members.values())
        return f"= {group.state.value} epoch {group.epoch}, assigned {group.assignment_epoch}{members}"

    def streams_member(self, member: StreamsMember) -> str:
        parts = [f"{member.member_id} {member.epoch}{STATES[member.state]}", roles(member.assigned)]
        return ", ".join([*parts, *([f"gives up {roles(member.revoking)}"] if member.revoking else [])])
