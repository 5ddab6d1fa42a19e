"""Replays transcripts, which consist of commands, `----`, and the responses and the state of the group after the commands.

    join NAME [old] [skip] [new] [instance=I] [protocols=range:meta,sticky:meta] [session=MS] [rebalance=MS] [type=T]
    sync NAME [assign=NAME:bytes,...] [generation=N] [protocol=P] [type=T]
    heartbeat | commit NAME [generation=N] [id=NAME]      leave NAME... @INSTANCE...
    topics NAME=PARTITIONS...      drop TOPIC
    beat NAME [epoch=N] [topics=T,...] [regex=R] [owned=T0,...|none] [instance=I] [assignor=A] [rebalance=MS] [full]
    check NAME epoch=N T0...  (a commit, both of consumer groups)
    share, alter, forget, offsets, persister  (of share groups: `share_verbs`)
    run NAME [epoch=N] [shape=S] [owned=0-1,...|none] ...      quit NAME      make      standbys N      move  (of streams groups)
    advance MS      alive NAME MS (with a heartbeat every second)      crash NAME      delete      settings name=value...      # comment

A NAME is a client, which keeps its member id; `new` discards the id, `old` is a client before JoinGroup v4 (no MEMBER_ID_REQUIRED),
`id=NAME` uses the id of another client. Ids are shown as client.number. A line `NAME join ...` or `NAME sync ...` is a response, shown when
it arrives.
"""

from __future__ import annotations

import random
import re
from collections.abc import Callable
from typing import Any

from odradek.broker.groups.classic.messages import Join, JoinResult, Leave, Protocol, Sync, SyncResult
from odradek.broker.groups.consumer.assignors import by_topic
from odradek.broker.groups.consumer.group import ConsumerGroup
from odradek.broker.groups.coordinator import Groups, GroupSettings
from odradek.broker.groups.share.group import ShareGroup
from odradek.broker.groups.streams.group import StreamsGroup
from odradek.broker.scheduling.timers import Timers
from odradek.broker.scheduling.waiting import Reply
from odradek.protocol.schema import Message, ProtocolError
from odradek.protocol.stored.consumer_protocol import ConsumerProtocolAssignment, ConsumerProtocolSubscription, TopicPartitions, read, write
from tests.broker.groups.consumer_verbs import ConsumerVerbs
from tests.broker.groups.scene import FakeCluster
from tests.broker.groups.share_verbs import ShareVerbs
from tests.broker.groups.streams_verbs import StreamsVerbs

GROUP = "g"
UUID = re.compile(r"-([0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12})")


class Player(ConsumerVerbs, ShareVerbs, StreamsVerbs):
    def __init__(self) -> None:
        self.timers = Timers(1_000_000)
        self.cluster = FakeCluster({"t": 4})
        self.groups = Groups(self.timers, random.Random(1), GroupSettings(), self.cluster)
        self.ids: dict[str, str] = {}
        self.instances: dict[str, str] = {}
        self.epochs: dict[str, int] = {}
        self.generations: dict[str, int] = {}
        self.numbers: dict[str, int] = {}
        self.waiting: list[tuple[str, str, Reply[Any]]] = []
        self.shown: list[str] = []

    def play(self, commands: list[str]) -> str:
        self.shown = []
        for command in commands:
            verb, *words = command.split()
            options = dict(word.split("=", 1) for word in words if "=" in word)
            action: Callable[[list[str], dict[str, str]], None] = getattr(self, f"do_{verb}")
            action([word for word in words if "=" not in word], options)
            self.collect()
        return "\n".join([*self.shown, self.state()])

    def collect(self) -> None:
        for name, verb, reply in self.waiting:
            if reply.done:
                self.shown.append(f"{name} {verb} {getattr(self, f'show_{verb}')(name, reply.value)}")
        self.waiting = [each for each in self.waiting if not each[2].done]

    def short(self, text: str) -> str:
        return UUID.sub(lambda match: f".{self.numbers.setdefault(match[1], len(self.numbers) + 1)}", text)

    def state(self) -> str:
        group = self.groups.get(GROUP)
        if group is None:
            return "= no group"
        if isinstance(group, ConsumerGroup):
            return self.consumer_state(group)
        if isinstance(group, ShareGroup):
            return self.share_state(group)
        if isinstance(group, StreamsGroup):
            return self.streams_state(group)
        members = [f"{self.short(each)}{'*' if each == group.leader else ''}" for each in group.members]
        pending = [f"{self.short(each)}?" for each in sorted(group.pending, key=self.short)]
        waits = [f"{name} waits in {verb}" for name, verb, _ in self.waiting]
        return ", ".join([f"= {group.state.value} {group.generation_id} [{' '.join(members + pending)}]", *waits])

    def do_settings(self, words: list[str], options: dict[str, str]) -> None:
        values: dict[str, Any] = {name: int(value) if value.isdecimal() else value for name, value in options.items()}
        self.groups = Groups(self.timers, random.Random(1), GroupSettings(**values), self.cluster)

    def do_join(self, words: list[str], options: dict[str, str]) -> None:
        name, *flags = words
        if "new" in flags:
            self.ids.pop(name, None)
        self.instances[name] = options.get("instance", self.instances.get(name, ""))
        protocols = [protocol.partition(":") for protocol in options.get("protocols", "range").split(",") if protocol]
        join = Join(
            member_id=self.ids.get(options.get("id", name), ""),
            group_instance_id=self.instances[name] or None,
            client_id=name,
            client_host="/127.0.0.1",
            protocol_type=options.get("type", "consumer"),
            protocols=tuple(Protocol(protocol, self.encoded(metadata)) for protocol, _, metadata in protocols),
            session_timeout_ms=int(options.get("session", 10_000)),
            rebalance_timeout_ms=int(options.get("rebalance", 30_000)),
            requires_known_member_id="old" not in flags,
            supports_skip_assignment="skip" in flags,
        )
        self.groups.classic.join(GROUP, join, self.reply(name, "join"))

    def do_sync(self, words: list[str], options: dict[str, str]) -> None:
        (name,) = words
        assigned = [entry.partition(":") for entry in options.get("assign", "").split(",") if entry]
        sync = Sync(
            member_id=self.ids.get(name, "unknown"),
            generation_id=int(options.get("generation", self.generations.get(name, -1))),
            group_instance_id=self.instances.get(name) or None,
            protocol_type=options.get("type"),
            protocol_name=options.get("protocol"),
            assignments={
                self.ids.get(member, member): self.encoded(assignment, ConsumerProtocolAssignment) for member, _, assignment in assigned
            },
        )
        self.groups.classic.sync(GROUP, sync, self.reply(name, "sync"))

    def encoded(self, text: str, kind: type[Message] = ConsumerProtocolSubscription) -> bytes:
        """Returns text as bytes, `!t/t0+t1` as a subscription to t that owns two partitions, and `!t0+t1` as an assignment."""
        if not text.startswith("!"):
            return text.encode()
        named, _, owned = text[1:].partition("/")
        if kind is ConsumerProtocolAssignment:
            return write(ConsumerProtocolAssignment(assigned_partitions=self.partitions(named)), 1)
        return write(ConsumerProtocolSubscription(topics=named.split("+"), owned_partitions=self.partitions(owned)), 1)

    def partitions(self, text: str) -> list[TopicPartitions]:
        found = sorted(self.slots(text.replace("+", ",")))
        topics = self.cluster.topics_by_id
        return [TopicPartitions(topic=topics[topic].name, partitions=indexes) for topic, indexes in by_topic(found).items()]

    def decoded(self, data: bytes) -> str:
        if not data.startswith(b"\0"):
            return data.decode()
        try:
            assigned = read(ConsumerProtocolAssignment, data).assigned_partitions
            return "+".join(f"{each.topic}{index}" for each in assigned for index in each.partitions)
        except ProtocolError:
            return "+".join(read(ConsumerProtocolSubscription, data).topics)

    def reply(self, name: str, verb: str) -> Reply[Any]:
        reply: Reply[Any] = Reply()
        self.waiting.append((name, verb, reply))
        return reply

    def do_heartbeat(self, words: list[str], options: dict[str, str]) -> None:
        error = self.groups.classic.heartbeat(GROUP, *self.identity(words[0], options))
        self.shown.append(f"{words[0]} heartbeat {error.name}")

    def do_commit(self, words: list[str], options: dict[str, str]) -> None:
        error = self.groups.offsets.check_commit(GROUP, *self.identity(words[0], options))
        self.shown.append(f"{words[0]} commit {error.name}")

    def identity(self, name: str, options: dict[str, str]) -> tuple[str, str | None, int]:
        member_id = self.ids.get(options.get("id", name), "")
        return member_id, self.instances.get(name) or None, int(options.get("generation", self.generations.get(name, -1)))

    def do_leave(self, words: list[str], options: dict[str, str]) -> None:
        errors = self.groups.classic.leave(GROUP, [self.leaving(word) for word in words])
        self.shown.append("leave " + " ".join(error.name for error in errors))

    def leaving(self, word: str) -> Leave:
        if word.startswith("@"):
            return Leave(member_id="", group_instance_id=word[1:])
        return Leave(member_id=self.ids.get(word, "unknown"), group_instance_id=self.instances.get(word) or None)

    def do_advance(self, words: list[str], options: dict[str, str]) -> None:
        self.timers.advance(self.timers.now_ms + int(words[0]))

    def do_alive(self, words: list[str], options: dict[str, str]) -> None:
        name, total_ms = words
        end_ms = self.timers.now_ms + int(total_ms)
        while self.timers.now_ms < end_ms:
            error = self.groups.classic.heartbeat(GROUP, *self.identity(name, options))
            self.timers.advance(min(self.timers.now_ms + 1000, end_ms))
        self.shown.append(f"{name} heartbeat {error.name}")

    def do_crash(self, words: list[str], options: dict[str, str]) -> None:
        self.waiting = [each for each in self.waiting if each[0] not in words]

    def do_delete(self, words: list[str], options: dict[str, str]) -> None:
        self.shown.append(f"delete {self.groups.delete(GROUP).name}")

    def show_join(self, name: str, result: JoinResult) -> str:
        if result.member_id:
            self.ids[name] = result.member_id
        if result.error:
            return f"{result.error.name} {self.short(result.member_id)}".rstrip()
        self.generations[name] = result.generation_id
        me, leader = self.short(result.member_id), self.short(result.leader)
        skips = " skips assignment" if result.skip_assignment else ""
        members = " ".join(f"{self.short(each.member_id)}={self.decoded(each.metadata)}" for each in result.members)
        return f"generation {result.generation_id} {result.protocol_name} as {me}, leader {leader}{skips}{members and ' of '}{members}"

    def show_sync(self, name: str, result: SyncResult) -> str:
        return result.error.name if result.error else f"{result.protocol_name} {self.decoded(result.assignment) or '(nothing)'}"
