"""The transcript commands for share groups. A member's id is its name; `t0` is partition 0 of topic t.

share NAME [epoch=N] [topics=T,...] [rack=R] [client=C]     (a heartbeat; without an epoch, in the epoch of the last response)
alter T=INDEX:OFFSET,...      forget T...  (AlterShareGroupOffsets and DeleteShareGroupOffsets)      offsets
persister [broken]  (states of share partitions cannot be stored or deleted until `persister`)
"""

from __future__ import annotations

from odradek.broker.groups.coordinator import Groups
from odradek.broker.groups.share.assignor import Assignment
from odradek.broker.groups.share.group import ShareGroup
from odradek.broker.groups.share.heartbeat import ShareHeartbeat
from odradek.protocol.errors import KafkaError
from tests.broker.groups.scene import FakeCluster


class ShareVerbs:
    groups: Groups
    cluster: FakeCluster
    shown: list[str]
    epochs: dict[str, int]
    """The epoch that each member received last; 0 after an error."""

    def do_share(self, words: list[str], options: dict[str, str]) -> None:
        (name,) = words
        epoch = int(options.get("epoch", self.epochs.get(name, 0)))
        topics = options.get("topics", "t" if epoch == 0 else None)
        beat = ShareHeartbeat(
            member_id=name,
            epoch=epoch,
            rack_id=options.get("rack"),
            topics=None if topics is None else frozenset(filter(None, topics.split(","))),
            client_id=options.get("client", name),
        )
        try:
            result = self.groups.share.heartbeat("g", beat)
        except KafkaError as error:
            self.shown.append(f"{name} share {error.code.name}")
            self.epochs[name] = 0
            return
        self.epochs[name] = max(result.epoch, 0)
        assignment = "" if result.assignment is None else f": {self.shares(result.assignment) or 'nothing'}"
        self.shown.append(f"{name} share epoch {result.epoch}{assignment}")

    def shares(self, assignment: Assignment) -> str:
        named = {self.cluster.name(topic_id): indexes for topic_id, indexes in assignment.items()}
        return " ".join(f"{name}{index}" for name, indexes in sorted(named.items()) for index in [*map(str, sorted(indexes))] or ["-"])

    def do_alter(self, words: list[str], options: dict[str, str]) -> None:
        offsets = {
            name: {int(index): int(offset) for index, _, offset in (each.partition(":") for each in text.split(",") if each)}
            for name, text in options.items()
        }
        try:
            errors = self.groups.share.alter_offsets("g", offsets)
        except KafkaError as error:
            self.shown.append(f"alter {error.code.name}")
        else:
            refused = [f"{name}{index} {error.code.name}" for (name, index), error in sorted(errors.items())]
            self.shown.append(" ".join(["alter", *refused]))

    def do_forget(self, words: list[str], options: dict[str, str]) -> None:
        try:
            results = self.groups.share.delete_offsets("g", words)
        except KafkaError as error:
            self.shown.append(f"forget {error.code.name}")
        else:
            self.shown.append(" ".join(["forget", *(f"{each.name} {each.error.code.name if each.error else 'NONE'}" for each in results)]))

    def do_offsets(self, words: list[str], options: dict[str, str]) -> None:
        found = []
        for topic_id, indexes in self.groups.share.initialized_partitions("g").items():
            for index in sorted(indexes):
                stored = self.cluster.share_states.summary("g", topic_id, index)
                found.append(f"{self.cluster.name(topic_id)}{index} " + ("unknown" if stored is None else f"at {stored.start_offset}"))
        self.shown.append(f"offsets {', '.join(sorted(found)) or 'none'}")

    def do_persister(self, words: list[str], options: dict[str, str]) -> None:
        self.cluster.share_states.is_broken = words == ["broken"]

    def share_state(self, group: ShareGroup) -> str:
        members = "".join(
            f"\n    {member.member_id} {member.epoch} of {member.previous_epoch}, {self.shares(member.assigned) or 'nothing'}"
            for member in group.members.values()
        )
        partitions = group.initialization
        left = [self.cluster.name(topic_id) for topic_id in (*partitions.initializing, *partitions.deleting)]
        unfinished = f", unfinished {' '.join(left)}" if left else ""
        return f"= {group.state.value} epoch {group.epoch}, assigned {group.assignment_epoch}{unfinished}{members}"
