"""Nodes that fail without a controlled shutdown: they are killed or paused, and the controller notices it when their session expires."""

from __future__ import annotations

from collections.abc import Iterator

from odradek.protocol.messages.describe_cluster import DESCRIBE_CLUSTER

from ..case import Case, KillNode, Pause, PauseNode, ResumeNode, Send, StartNode, Step, StopNode, Topic
from ..requests import request_of
from .lag import end, end_of_epoch, read, write
from .replicas import CAUGHT_UP, PREFERRED, SETTLED, TWO, UNCLEAN, described, elected, metadata

SESSION_MS = 4000
SETTINGS = {
    "auto.leader.rebalance.enable": "false",
    "broker.heartbeat.interval.ms": "200",
    "broker.session.timeout.ms": str(SESSION_MS),
}
ALIVE, EXPIRED = Pause(500), Pause(2 * SESSION_MS)
UNCLEAN_TOPIC = {"unclean.leader.election.enable": "true"}


def cases() -> Iterator[Case]:
    yield _failed("topology.killed", KillNode(2), StartNode(2))
    yield _failed("topology.paused", PauseNode(2), ResumeNode(2))
    yield _paused_shortly()
    yield _below_min_isr()
    yield _elected_uncleanly()


def cluster(version: int = 2) -> Send:
    fields = {"include_cluster_authorized_operations": False, "endpoint_type": 1, "include_fenced_brokers": True}
    return Send(DESCRIBE_CLUSTER, version, request_of(DESCRIBE_CLUSTER, fields))


def _failed(name: str, fail: Step, recover: Step) -> Case:
    """Node 2 fails: its partitions keep their leader until its session has expired."""
    replicas = {"leader": (2, 3, 1), "follower": (3, 2), "alone": (2,)}
    topics = [Topic(f"{name}.{word}", {}, (nodes,)) for word, nodes in replicas.items()]
    led, followed, alone = names = [topic.name for topic in topics]
    steps: tuple[Step, ...] = (
        fail,
        ALIVE,
        described(*names),
        metadata(12, *names),
        cluster(),
        write(led, 3, 1),
        write(followed, 3, 1),
        end(followed, 3),
        EXPIRED,
        described(*names),
        metadata(12, *names),
        cluster(),
        write(led, 3),
        write(followed, 3),
        end(followed, 3),
        elected(PREFERRED, led),
        recover,
        CAUGHT_UP,
        described(*names),
        metadata(12, *names),
        write(led, 2),
        read(led, 2, 0, version=17),
        write(alone, 2),
        elected(PREFERRED, led),
        SETTLED,
        write(led, 2),
        end(led, 2),
    )
    return Case(name, tuple(topics), steps, (elected(PREFERRED, *names), write(led, 2), write(followed, 3), write(alone, 2), SETTLED))


def _paused_shortly() -> Case:
    """A node that resumes before its session expires still leads."""
    name = "topology.paused-shortly"
    steps: tuple[Step, ...] = (
        PauseNode(2),
        Pause(1000),
        ResumeNode(2),
        CAUGHT_UP,
        described(name),
        write(name, 2),
        end(name, 2),
    )
    return Case(name, (Topic(name, {}, ((2, 3),)),), steps, (elected(PREFERRED, name), write(name, 2), SETTLED))


def _below_min_isr() -> Case:
    """A follower fails, and too few replicas are in sync when its session has expired."""
    name = "topology.min-isr"
    steps: tuple[Step, ...] = (
        PauseNode(3),
        write(name, 2, timeout_ms=300),
        EXPIRED,
        described(name),
        write(name, 2),
        end(name, 2),
        ResumeNode(3),
        CAUGHT_UP,
        described(name),
        end(name, 2),
        write(name, 2),
    )
    return Case(name, (Topic(name, TWO, ((2, 3),)),), steps, (elected(PREFERRED, name), write(name, 2), SETTLED))


def _elected_uncleanly() -> Case:
    """Node 2 fails with records that node 3 lacks. An unclean election truncates them, by request or by the configuration."""
    name = "topology.unclean"
    asked, configured = names = [f"{name}.asked", f"{name}.configured"]
    topics = (Topic(asked, {}, ((2, 3),)), Topic(configured, UNCLEAN_TOPIC, ((2, 3),)))
    steps: list[Step] = [StopNode(3), SETTLED, *(write(each, 2, acks) for each in names for acks in (-1, 1)), KillNode(2), EXPIRED]
    steps += [described(*names), elected(UNCLEAN, asked), StartNode(3), CAUGHT_UP, described(*names), elected(PREFERRED, asked)]
    steps += [elected(UNCLEAN, *names), SETTLED, described(*names)]
    for each in names:
        steps += [end(each, 3), read(each, 3, 3), read(each, 3, 3, last_fetched_epoch=1), read(each, 3, 2, last_fetched_epoch=1)]
        steps += [end_of_epoch(each, 3, epoch) for epoch in (0, 1, 2)]
        steps += [write(each, 3), read(each, 3, 2, last_fetched_epoch=1), end_of_epoch(each, 3, 1)]
    steps += [StartNode(2), CAUGHT_UP, described(*names), *(end(each, 3) for each in names), elected(UNCLEAN, asked)]
    return Case(name, topics, tuple(steps), (elected(PREFERRED, *names), *(write(each, 2) for each in names)))
