"""Unclean elections that are permitted at run time, and nodes that are unregistered while they are stopped.

Node 1 always runs, and every case leaves all nodes running.
"""

from __future__ import annotations

from collections.abc import Iterator

from odradek.protocol.messages.unregister_broker import UNREGISTER_BROKER

from ..case import Case, KillNode, Pause, Send, StartNode, Step, StopNode, Topic
from ..requests import request_of
from .configs import BROKER, DELETE, SET, TOPIC, altered
from .replicas import SETTINGS as NODES
from .replicas import described, metadata, produced
from .topology import cluster

INTERVAL_MS = 3000
SETTINGS = {**NODES, "unclean.leader.election.interval.ms": str(INTERVAL_MS)}
SETTLED = Pause(1500)
CHECKED = Pause(INTERVAL_MS + 1500)
"""Time after which the controller has looked for partitions that may be elected uncleanly."""
UNCLEAN = "unclean.leader.election.enable"


def cases() -> Iterator[Case]:
    yield from _permitted()
    yield from _unregistered()


def allow(name: str, kind: int, value: str | None) -> Send:
    return altered(kind, name, [(UNCLEAN, value, DELETE if value is None else SET)], validate_only=False, version=1)


def _leaderless(topic: Topic) -> tuple[Step, ...]:
    """Returns the steps after which only a replica without the last record is running."""
    name = topic.name
    return (produced(name, 2), StopNode(3), SETTLED, produced(name, 2, acks=1), StopNode(2), SETTLED, StartNode(3), SETTLED)


def _permitted() -> Iterator[Case]:
    for word, kind, value in (("topic", TOPIC, "true"), ("topic.off", TOPIC, "false"), ("cluster", BROKER, "true")):
        topic = Topic(f"elections.permitted.{word}", replicas=((2, 3),))
        name = topic.name
        resource = "" if kind == BROKER else name
        steps = (described(name), allow(resource, kind, value), CHECKED, described(name), StartNode(2), SETTLED, described(name))
        yield Case(name, (topic,), (*steps, allow(resource, kind, None)), before=_leaderless(topic))


def _unregistered() -> Iterator[Case]:
    for word, stop in (("stopped", StopNode(3)), ("killed", KillNode(3))):
        topic = Topic(f"elections.unregistered.{word}", replicas=((2, 3), (3, 1)))
        name = topic.name
        steps: tuple[Step, ...] = (
            described(name),
            unregister(3),
            SETTLED,
            cluster(),
            metadata(12, name),
            described(name),
            unregister(3),
            produced(name, 2),
            StartNode(3),
            Pause(3000),
            cluster(),
            described(name),
        )
        yield Case(name, (topic,), steps, before=(stop, Pause(3000)))


def unregister(node: int) -> Send:
    return Send(UNREGISTER_BROKER, 0, request_of(UNREGISTER_BROKER, {"broker_id": node}), settles=True)
