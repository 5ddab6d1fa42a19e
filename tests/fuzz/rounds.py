"""Rounds of generated steps. A round depends only on the seed and its number, so that it can be repeated separately.

The order of sets depends on the hash seed as well, so `make fuzz` sets PYTHONHASHSEED.
"""

from __future__ import annotations

import logging
import resource
import tracemalloc
from collections import Counter
from contextlib import suppress
from importlib import import_module
from pkgutil import walk_packages
from random import Random
from typing import NamedTuple

from odradek import broker
from odradek.protocol.messages import APIS
from odradek.protocol.messages.create_topics import CREATE_TOPICS, CreatableTopicConfigs
from odradek.protocol.messages.metadata import METADATA, MetadataResponsePartition, MetadataResponseTopic
from odradek.protocol.schema import Api, Message
from odradek.protocol.stored import consumer_protocol, coordinator_records

from .batches import Batches
from .facts import Facts
from .frames import FrameGenerator
from .player import (
    Advance,
    Disconnect,
    Feed,
    Player,
    Restore,
    Setting,
    Slow,
    StartNode,
    Step,
    StopNode,
    TakeSnapshot,
    Violation,
    captured_errors,
    without_garbage_collection,
)

FRAMES_A_ROUND = 1000
CLIENTS = 6
WARM_UP_FRAMES = 200
ENCODED_PARTS: dict[Api, list[type[Message]]] = {
    METADATA: [MetadataResponseTopic, MetadataResponsePartition],
    CREATE_TOPICS: [CreatableTopicConfigs],
}
"""The parts of responses that handlers encode by themselves."""
NEWEST_VERSION = 5
"""The newest version of coordinator records and of metadata that group members exchange."""
NODES = (1, 2, 1, 3, 1)
MEASURED_EVERY = 50
"""In one of this many rounds the memory of each frame is measured, which makes the round several times slower."""
LOGGED_EVERY = 10
"""In one of this many rounds the broker logs at level INFO."""
LARGEST_PIPELINE_BYTES = 100_000
MAX_REPLAYS = 400
QUICK = {
    "group.initial.rebalance.delay.ms": "0",
    "offsets.topic.num.partitions": "4",
    "transaction.state.log.num.partitions": "4",
    "connections.max.idle.ms": "600000",
}
AUTHORIZER = {"authorizer.class.name": "org.apache.kafka.metadata.authorizer.StandardAuthorizer", "super.users": "User:ANONYMOUS"}
SETTINGS = [
    {},
    {},
    {"auto.create.topics.enable": "false", "max.incremental.fetch.session.cache.slots": "3", "group.max.size": "2"},
    AUTHORIZER,
    AUTHORIZER | {"super.users": "", "allow.everyone.if.no.acl.found": "true"},
    {"message.max.bytes": "300", "log.cleanup.policy": "compact", "min.insync.replicas": "2", "default.replication.factor": "2"},
]


def setting_of(number: int) -> Setting:
    """Returns the cluster of a round. Most rounds have one node, because requests then never reach the wrong node."""
    return Setting(NODES[number % len(NODES)], CLIENTS, QUICK | SETTINGS[number % len(SETTINGS)])


class Found(NamedTuple):
    """A violation and the steps that lead to it."""

    number: int
    signature: str
    details: str
    steps: list[Step]


class Outcome(NamedTuple):
    """The results of a round."""

    frames: int
    answered: Counter[str]
    slowest_ms: float
    largest_bytes_beyond_frame: int
    rss_kib: int
    found: Found | None


class Round:
    """A sequence of generated steps on a new cluster."""

    def __init__(self, seed: int, number: int, batches: Batches, frames: int = FRAMES_A_ROUND) -> None:
        self._seed, self.number, self._frames_left = seed, number, frames
        self._random = Random(f"{seed} {number}")
        self.setting = setting_of(number)
        self._facts = Facts()
        self._batches = batches
        self._generators = [self._generator() for _ in range(CLIENTS)]
        self.steps: list[Step] = []
        self.answered: Counter[str] = Counter()

    def _generator(self) -> FrameGenerator:
        return FrameGenerator(self._random, self._facts, self._batches)

    def run(self) -> Outcome:
        """Runs steps until all frames are used or a rule is violated."""
        frames, memory = self._frames_left, self.number % MEASURED_EVERY == 1
        level = logging.INFO if self.number % LOGGED_EVERY == 2 else logging.WARNING
        with captured_errors(level) as logged_errors, without_garbage_collection():
            if memory:
                tracemalloc.start(1)
            try:
                player = Player(self.setting, logged_errors, memory=memory)
                found = self._play(player)
            finally:
                tracemalloc.stop()
        rss_kib = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        played = frames - max(self._frames_left, 0)
        return Outcome(played, self.answered, player.slowest_ms, player.largest_bytes_beyond_frame, rss_kib, found)

    def _play(self, player: Player) -> Found | None:
        while self._frames_left > 0:
            try:
                self.play(player, self.next_step(player))
            except Slow as slow:
                if self._is_slow():
                    return self._found(slow)
            except Violation as violation:
                return self._found(violation)
        try:
            player.finish()
        except Violation as violation:
            return self._found(violation)
        return None

    def play(self, player: Player, step: Step) -> None:
        """Executes a step and learns from the answers. Raises Violation."""
        self.steps.append(step)
        for index, answered in player.play(step):
            self.answered[answered.api.name] += 1
            known = self._generators[index].sources.pop(answered.correlation_id, None)
            if known is not None:
                self._facts.learn(answered.api, known, answered.answer)

    def _found(self, violation: Violation) -> Found:
        return Found(self.number, violation.signature, str(violation), self.steps)

    def _is_slow(self) -> bool:
        """Returns whether the last step is slow in each of three repetitions; other programs can slow down a single one."""
        return all(signature_of(self.setting, self.steps) == "slow" for _ in range(3))

    def next_step(self, player: Player) -> Step:
        """Returns a random step that the player can execute now."""
        dice = self._random.random()
        if dice < 0.03:
            return Advance(self._random.choice((0, 1, 5, 100, 500, 3000, 10_000, 60_000, 700_000)))
        if dice < 0.031:
            return self._node_step(player)
        if dice < 0.033:
            return TakeSnapshot() if self._random.random() < 0.7 else Restore()
        if dice < 0.036:
            return Disconnect(self._random.randrange(CLIENTS))
        free = [index for index, client in enumerate(player.clients) if not client.connection.busy and client.connection.wants_data]
        if not free:
            return Advance(self._random.choice((500, 3000, 30_000)))
        if dice < 0.08:  # also to clients that already wait for an answer
            free = [index for index, client in enumerate(player.clients) if client.connection.wants_data]
        index = self._random.choice(free)
        return self._feed(index)

    def _node_step(self, player: Player) -> Step:
        stopped = sorted(set(range(1, self.setting.nodes + 1)) - player.running)
        if len(player.running) > 1 and (not stopped or self._random.random() < 0.3):
            return StopNode(self._random.choice(sorted(player.running)))
        return StartNode(self._random.choice(stopped)) if stopped else Advance(0)

    def _feed(self, index: int) -> Feed:
        data, frames = self._generators[index].next_bytes()
        self._frames_left -= frames
        dice = self._random.random()
        if dice < 0.01 and len(data) < 400:
            return Feed(index, data, 1)
        return Feed(index, data, self._random.randint(1, len(data)) if dice < 0.05 and len(data) > 1 else 0)


def warm_up(seed: int) -> Batches:
    """Imports and compiles everything that is imported or compiled on first use, and returns batches.

    Otherwise, the first use would be measured as the cost of a frame.
    """
    for module in walk_packages(broker.__path__, f"{broker.__name__}."):
        import_module(module.name)
    for api in APIS.values():
        for version in range(api.versions.first, api.versions.last + 1):
            for message in (api.request, api.response):
                message.decoders[version], message.encoders[version], message.sliced_decoders[version], message.sliced_encoders[version]
    for api, parts in ENCODED_PARTS.items():
        for version in range(api.versions.first, api.versions.last + 1):
            for part in parts:
                part.encoders[version]
    for message in Message.__subclasses__():
        with suppress(TypeError):  # raised for fields without a default, but after __init__ was compiled
            message()
        if message.__module__ in (coordinator_records.__name__, consumer_protocol.__name__):
            for version in range(NEWEST_VERSION + 1):
                message.decoders[version], message.encoders[version]
    batches = Batches(seed)
    for number in range(len(NODES)):
        Round(seed, -1 - number, batches, WARM_UP_FRAMES).run()
    return batches


def signature_of(setting: Setting, steps: list[Step], *, memory: bool = False) -> str | None:
    """Runs steps on a new cluster and returns the signature of the violation; None if there is none."""
    with captured_errors() as logged_errors, without_garbage_collection():
        if memory:
            tracemalloc.start(1)
        try:
            player = Player(setting, logged_errors, memory=memory)
            for step in steps:
                player.play(step)
            player.finish()
        except Violation as violation:
            return violation.signature
        finally:
            tracemalloc.stop()
    return None


def text_of(steps: list[Step]) -> str:
    """Returns the steps as text, one on each line, with frames in hexadecimal digits."""
    return "\n".join(f"Feed({step.client}, {step.data.hex()}, {step.piece})" if isinstance(step, Feed) else repr(step) for step in steps)


def minimized(setting: Setting, found: Found) -> list[Step]:
    """Returns fewer steps with the same violation, by leaving out smaller and smaller parts while the violation remains."""
    memory = found.signature == "memory"
    steps, size, replays = found.steps, max(1, len(found.steps) // 2), MAX_REPLAYS
    while size and replays > 0:
        at = len(steps)
        while at > 0 and replays > 0:
            fewer = steps[: max(0, at - size)] + steps[at:]
            replays -= 1
            if fewer and signature_of(setting, fewer, memory=memory) == found.signature:
                steps = fewer
            at -= size
        size //= 2
    return steps
