"""The transcript commands for consumer groups. A member's id is its name; `t0` is partition 0 of topic t."""

from __future__ import annotations

import re
from collections.abc import Iterable

from odradek.broker.groups.consumer.assignors import Slot
from odradek.broker.groups.consumer.group import ConsumerGroup
from odradek.broker.groups.consumer.heartbeat import ConsumerHeartbeat
from odradek.broker.groups.consumer.member import ConsumerMember, MemberState
from odradek.broker.groups.coordinator import Groups
from odradek.protocol.errors import KafkaError
from tests.broker.groups.scene import FakeCluster

STATES = {MemberState.STABLE: "", MemberState.UNREVOKED_PARTITIONS: " revokes", MemberState.UNRELEASED_PARTITIONS: " waits"}


class ConsumerVerbs:
    groups: Groups
    cluster: FakeCluster
    shown: list[str]
    ids: dict[str, str]
    instances: dict[str, str]
    epochs: dict[str, int]
    """The epoch that each member received last; 0 after an error."""

    def short(self, text: str) -> str:
        raise NotImplementedError

    def do_topics(self, words: list[str], options: dict[str, str]) -> None:
        for name, partitions in options.items():
            self.cluster.create(name, int(partitions))

    def do_drop(self, words: list[str], options: dict[str, str]) -> None:
        topic = self.cluster.topics[words[0]]
        self.cluster.delete(topic.name)
        self.groups.share.topic_deleted(topic.id)

    def do_beat(self, words: list[str], options: dict[str, str]) -> None:
        name, *flags = words
        epoch = int(options.get("epoch", self.epochs.get(name, 0)))
        joins = epoch == 0 or "full" in flags
        topics = options.get("topics", "t" if joins and "regex" not in options else None)
        owned = options.get("owned", "none" if joins else None)
        self.instances[name] = options.get("instance", self.instances.get(name, ""))
        beat = ConsumerHeartbeat(
            member_id=self.ids.get(name, name),
            epoch=epoch,
            instance_id=self.instances[name] or None,
            rebalance_timeout_ms=int(options.get("rebalance", 30_000 if joins else -1)),
            topics=None if topics is None else frozenset(filter(None, topics.split(","))),
            regex=options.get("regex"),
            assignor=options.get("assignor"),
            owned=None if owned is None else frozenset(self.slots(owned)),
        )
        try:
            result = self.groups.consumer.heartbeat("g", beat)
        except KafkaError as error:
            self.shown.append(f"{name} beat {error.code.name}")
            self.epochs[name] = 0
            return
        self.epochs[name] = max(result.epoch, 0)
        assignment = "" if result.assignment is None else f": {self.names(result.assignment) or 'nothing'}"
        self.shown.append(f"{name} beat epoch {result.epoch}{assignment}")

    def do_check(self, words: list[str], options: dict[str, str]) -> None:
        name, *slots = words
        error = self.groups.offsets.check_commit("g", self.ids.get(name, name), None, int(options["epoch"]), self.slots(",".join(slots)))
        self.shown.append(f"{name} commit {error.name}")

    def slots(self, text: str) -> list[Slot]:
        found = [re.fullmatch(r"(.+?)(\d+)", word) for word in text.split(",") if word != "none"]
        return [(self.cluster.topics[match[1]].id, int(match[2])) for match in found if match]

    def names(self, slots: Iterable[Slot]) -> str:
        topics = self.cluster.topics_by_id
        return " ".join(sorted(f"{topics[topic].name if topic in topics else '?'}{index}" for topic, index in slots))

    def consumer_state(self, group: ConsumerGroup) -> str:
        members = "".join(f"\n    {self.member(member)}" for member in group.members.values())
        return f"= {group.state.value} epoch {group.epoch}, assigned {group.assignment_epoch}{members}"

    def member(self, member: ConsumerMember) -> str:
        parts = [f"{self.short(member.member_id)} {member.epoch}{STATES[member.state]}"]
        parts += [self.names(member.assigned)] if member.assigned else []
        parts += [f"gives up {self.names(member.revoking)}"] if member.revoking else []
        return ", ".join([*parts, *(["classic"] if member.classic else [])])
