"""Every request to a group in every state of the group, followed by a description of the group."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import NamedTuple

from ..case import Case, Receive, Step
from ..group_requests import (
    BOTH_OF_ONE,
    LONG_MS,
    ONE,
    READS_ONE,
    THREE,
    TOPICS,
    TWO,
    ClassicMember,
    ConsumerMember,
    assignment,
    commit,
    delete_groups,
    delete_offsets,
    describe,
    describe_consumers,
    fetch_offsets,
    leave,
    subscription,
)

# Members with random ids read separate topics, because the assignment of a common topic would depend on the order of Kafka's hash tables.
READS_TWO = {"range": subscription(TWO.name)}


def cases() -> Iterator[Case]:
    for state, reach in STATES.items():
        group = f"group_states.{state}"
        yield Case(group, TOPICS, reach(group).steps)
        for name, send in PROBES.items():
            group = f"group_states.{state}.{name}"
            reached = reach(group)
            probe = send(group, reached.generation)
            yield Case(group, TOPICS, (*probe, describe(group), describe_consumers(group)), reached.steps)


class Reached(NamedTuple):
    """The steps that lead to a state, and the generation or epoch of the group in it."""

    generation: int
    steps: tuple[Step, ...]


def missing(group: str) -> Reached:
    return Reached(0, ())


def simple(group: str) -> Reached:
    return Reached(0, (commit(group),))


def pending(group: str) -> Reached:
    return Reached(0, (ClassicMember(group, "a").join(""),))


def completing(group: str) -> Reached:
    return Reached(1, ClassicMember(group, "a").enter())


def stable(group: str) -> Reached:
    a = ClassicMember(group, "a")
    return Reached(1, (*a.enter(), a.sync(1, {"$a": BOTH_OF_ONE})))


def connect(group: str) -> Reached:
    a = ClassicMember(group, "a")
    protocols = {"sessioned": b"w", "compatible": b"x"}
    return Reached(1, (*a.enter(kind="connect", protocols=protocols), a.sync(1, {"$a": b"y"}, kind="connect", protocol="sessioned")))


def preparing(group: str) -> Reached:
    return Reached(1, (*stable(group).steps, *ClassicMember(group, "b").enter(protocols=READS_TWO, waits=True)))


def half_synced(group: str) -> Reached:
    a, b = ClassicMember(group, "a"), ClassicMember(group, "b")
    return Reached(2, (*preparing(group).steps, a.join(), Receive("b"), b.sync(2, waits=True)))


def followed(group: str) -> Reached:
    assignments = {"$a": BOTH_OF_ONE, "$b": assignment({TWO.name: [0, 1]})}
    return Reached(2, (*half_synced(group).steps, ClassicMember(group, "a").sync(2, assignments), Receive("b")))


def emptied(group: str) -> Reached:
    return Reached(2, (*stable(group).steps, ClassicMember(group, "a").leave()))


def deleted(group: str) -> Reached:
    return Reached(2, (*emptied(group).steps, delete_groups(group)))


def static(group: str) -> Reached:
    s = ClassicMember(group, "s", "i")
    return Reached(1, (*s.enter(), s.sync(1, {"$s": BOTH_OF_ONE})))


def consumer(group: str) -> Reached:
    return Reached(2, (ConsumerMember(group, "m").join(),))


def consumer_emptied(group: str) -> Reached:
    return Reached(3, (*consumer(group).steps, ConsumerMember(group, "m").leave()))


def mixed(group: str) -> Reached:
    m, a = ConsumerMember(group, "m"), ClassicMember(group, "a")
    return Reached(3, (*consumer(group).steps, *a.enter(), m.beat(2), m.beat(2, owned={ONE.name: [0]}), a.heartbeat(3), a.sync(3)))


STATES: dict[str, Callable[[str], Reached]] = {
    "missing": missing,
    "simple": simple,
    "pending": pending,
    "completing": completing,
    "stable": stable,
    "connect": connect,
    "preparing": preparing,
    "half-synced": half_synced,
    "followed": followed,
    "emptied": emptied,
    "deleted": deleted,
    "static": static,
    "consumer": consumer,
    "consumer-emptied": consumer_emptied,
    "mixed": mixed,
}

Probe = Callable[[str, int], tuple[Step, ...]]
OTHER = {"sticky": READS_ONE}

JOINS: dict[str, Probe] = {
    "join.new.v3": lambda group, _: ClassicMember(group, "n").enter(3, waits=True),
    "join.new.v9": lambda group, _: ClassicMember(group, "n").enter(9, waits=True),
    "join.again": lambda group, _: (ClassicMember(group, "a").join(waits=True),),
    "join.follower-again": lambda group, _: (ClassicMember(group, "b").join(protocols=READS_TWO, waits=True),),
    "join.again-changed": lambda group, _: (ClassicMember(group, "a").join(protocols={"range": subscription(THREE.name)}, waits=True),),
    "join.unknown": lambda group, _: (ClassicMember(group, "x").join("unknown", waits=True),),
    "join.other-protocol": lambda group, _: (ClassicMember(group, "n").join("", version=3, protocols=OTHER, waits=True),),
    "join.again-other-protocol": lambda group, _: (ClassicMember(group, "a").join(protocols=OTHER, waits=True),),
    "join.other-type": lambda group, _: (ClassicMember(group, "n").join("", version=3, kind="other", waits=True),),
    "join.no-protocol": lambda group, _: (ClassicMember(group, "n").join("", version=3, protocols={}, waits=True),),
    "join.no-type": lambda group, _: (ClassicMember(group, "n").join("", version=3, kind="", waits=True),),
    "join.not-a-subscription": lambda group, _: (ClassicMember(group, "n").join("", version=3, protocols={"range": b"?"}, waits=True),),
    "join.static": lambda group, _: ClassicMember(group, "t", "j").enter(waits=True),
    "join.static-replaces": lambda group, _: ClassicMember(group, "t", "i").enter(waits=True),
    "join.static-replaces.v8": lambda group, _: ClassicMember(group, "t", "i").enter(8, waits=True),
    "join.static-again": lambda group, _: (ClassicMember(group, "s", "i").join(waits=True),),
    "join.static-unknown": lambda group, _: (ClassicMember(group, "t", "i").join("unknown", waits=True),),
    "join.dynamic-as-static": lambda group, _: (ClassicMember(group, "a", "j").join(waits=True),),
    "join.short-session": lambda group, _: (ClassicMember(group, "n").join("", version=3, session_ms=99, waits=True),),
}
SYNCS: dict[str, Probe] = {
    "sync": lambda group, at: (ClassicMember(group, "a").sync(at, {"$a": BOTH_OF_ONE}, waits=True),),
    "sync.follower": lambda group, at: (ClassicMember(group, "b").sync(at, {"$b": BOTH_OF_ONE}, waits=True),),
    "sync.too-late": lambda group, at: (ClassicMember(group, "a").sync(at - 1, waits=True),),
    "sync.too-early": lambda group, at: (ClassicMember(group, "a").sync(at + 1, waits=True),),
    "sync.unknown": lambda group, at: (ClassicMember(group, "x").sync(at, waits=True),),
    "sync.other-type": lambda group, at: (ClassicMember(group, "a").sync(at, kind="other", waits=True),),
    "sync.other-protocol": lambda group, at: (ClassicMember(group, "a").sync(at, protocol="other", waits=True),),
    "sync.no-protocol": lambda group, at: (ClassicMember(group, "a").sync(at, protocol=None, waits=True),),
    "sync.v3": lambda group, at: (ClassicMember(group, "a").sync(at, {"$a": BOTH_OF_ONE}, version=3, waits=True),),
    "sync.for-strangers": lambda group, at: (ClassicMember(group, "a").sync(at, {"unknown": BOTH_OF_ONE}, waits=True),),
    "sync.dynamic-as-static": lambda group, at: (ClassicMember(group, "a", "i").sync(at, waits=True),),
}
BEATS: dict[str, Probe] = {
    "beat": lambda group, at: (ClassicMember(group, "a").heartbeat(at),),
    "beat.follower": lambda group, at: (ClassicMember(group, "b").heartbeat(at),),
    "beat.too-late": lambda group, at: (ClassicMember(group, "a").heartbeat(at - 1),),
    "beat.too-early": lambda group, at: (ClassicMember(group, "a").heartbeat(at + 1),),
    "beat.unknown": lambda group, at: (ClassicMember(group, "x").heartbeat(at),),
    "beat.static": lambda group, at: (ClassicMember(group, "s", "i").heartbeat(at),),
    "beat.static-wrong-id": lambda group, at: (ClassicMember(group, "x", "i").heartbeat(at),),
    "beat.modern": lambda group, at: (ClassicMember(group, "m").heartbeat(at, member_id="m"),),
}
LEAVES: dict[str, Probe] = {
    "leave": lambda group, _: (leave(group, ("$a", None)),),
    "leave.v2": lambda group, _: (leave(group, ("$a", None), version=2),),
    "leave.follower": lambda group, _: (leave(group, ("$b", None)),),
    "leave.unknown": lambda group, _: (leave(group, ("unknown", None)),),
    "leave.instance": lambda group, _: (leave(group, ("", "i")),),
    "leave.instance-and-id": lambda group, _: (leave(group, ("$s", "i")),),
    "leave.instance-wrong-id": lambda group, _: (leave(group, ("unknown", "i")),),
    "leave.instance-unknown": lambda group, _: (leave(group, ("", "j")),),
    "leave.nobody": lambda group, _: (leave(group, ("", None)),),
    "leave.several": lambda group, _: (leave(group, ("$a", None), ("unknown", None), ("$b", None), ("", "i"), ("$a", None)),),
    "leave.none": lambda group, _: (leave(group),),
    "leave.modern": lambda group, _: (leave(group, ("m", None)),),
}
OFFSETS: dict[str, Probe] = {
    "commit": lambda group, at: (ClassicMember(group, "a").commit(at), fetch_offsets(group)),
    "commit.follower": lambda group, at: (ClassicMember(group, "b").commit(at), fetch_offsets(group)),
    "commit.v8": lambda group, at: (ClassicMember(group, "a").commit(at, version=8), fetch_offsets(group)),
    "commit.simple": lambda group, _: (commit(group, {ONE.name: {0: 5}}), fetch_offsets(group)),
    "commit.unnamed": lambda group, at: (commit(group, epoch=at), fetch_offsets(group)),
    "commit.no-generation": lambda group, _: (ClassicMember(group, "a").commit(-1), fetch_offsets(group)),
    "commit.too-late": lambda group, at: (ClassicMember(group, "a").commit(at - 1), fetch_offsets(group)),
    "commit.too-early": lambda group, at: (ClassicMember(group, "a").commit(at + 1), fetch_offsets(group)),
    "commit.too-early.v8": lambda group, at: (ClassicMember(group, "a").commit(at + 1, version=8),),
    "commit.unknown": lambda group, at: (ClassicMember(group, "x").commit(at), fetch_offsets(group)),
    "commit.static": lambda group, at: (ClassicMember(group, "s", "i").commit(at), fetch_offsets(group)),
    "commit.static-wrong-id": lambda group, at: (ClassicMember(group, "x", "i").commit(at), fetch_offsets(group)),
    "commit.modern": lambda group, at: (ConsumerMember(group, "m").commit(at), fetch_offsets(group)),
    "commit.modern.v8": lambda group, at: (ConsumerMember(group, "m").commit(at, version=8), fetch_offsets(group)),
    "fetch.member": lambda group, at: (commit(group), fetch_offsets(group, member="$a", epoch=at)),
    "fetch.modern": lambda group, at: (fetch_offsets(group, member="m", epoch=at),),
    "fetch.stale": lambda group, at: (fetch_offsets(group, member="m", epoch=at - 1),),
    "fetch.unnamed": lambda group, at: (fetch_offsets(group, epoch=at),),
    "delete": lambda group, _: (delete_groups(group),),
    "delete-offsets": lambda group, _: (delete_offsets(group, {ONE.name: [0, 1, 2], TWO.name: [0], "unknown": [0]}),),
}
MODERN: dict[str, Probe] = {
    "modern.join": lambda group, _: (ConsumerMember(group, "n").join(THREE.name), ConsumerMember(group, "n").beat(3)),
    "modern.join.v0": lambda group, _: (ConsumerMember(group, "n").join(THREE.name, version=0, member_id=""),),
    "modern.join.regex": lambda group, _: (ConsumerMember(group, "n").join(subscribed_topic_names=None, subscribed_topic_regex="("),),
    "modern.beat": lambda group, at: (ConsumerMember(group, "m").beat(at),),
    "modern.beat.full": lambda group, at: (
        ConsumerMember(group, "m").beat(at, rebalance_timeout_ms=LONG_MS, subscribed_topic_names=[ONE.name], owned={ONE.name: [0, 1]}),
    ),
    "modern.beat.too-late": lambda group, at: (ConsumerMember(group, "m").beat(at - 1),),
    "modern.beat.too-early": lambda group, at: (ConsumerMember(group, "m").beat(at + 1),),
    "modern.beat.unknown": lambda group, at: (ConsumerMember(group, "x").beat(at),),
    "modern.beat.classic": lambda group, at: (ConsumerMember(group, "$a").beat(at),),
    "modern.leave": lambda group, _: (ConsumerMember(group, "m").leave(), ClassicMember(group, "a").join(waits=True)),
    "modern.leave.unknown": lambda group, _: (ConsumerMember(group, "x").leave(),),
    "modern.leave.static": lambda group, _: (ConsumerMember(group, "x", "i").beat(-2),),
    "modern.join.static": lambda group, _: (ConsumerMember(group, "n", "i").join(THREE.name),),
}
PROBES = JOINS | SYNCS | BEATS | LEAVES | OFFSETS | MODERN
