"""Groups of the streams protocol (KIP-1071): validation, topologies, internal topics, assignments, reconciliation and timeouts."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import product
from typing import Any

from odradek.protocol.messages import streams_group_heartbeat as messages
from odradek.protocol.messages.create_partitions import CREATE_PARTITIONS
from odradek.protocol.messages.create_topics import CREATE_TOPICS
from odradek.protocol.messages.delete_topics import DELETE_TOPICS
from odradek.protocol.messages.describe_configs import DESCRIBE_CONFIGS
from odradek.protocol.messages.metadata import METADATA

from ..case import Case, Pause, Send, Step
from ..group_requests import WRONG_IDS, bounds_of_times, delete_groups, fetch_offsets
from ..requests import request_of
from ..streams_requests import (
    CREATED,
    NO_TASKS,
    ONE,
    READS_ONE,
    READS_WIDE,
    SINGLE,
    TOPICS,
    TWO,
    WIDE,
    StreamsMember,
    counting,
    describe_streams,
    endpoint,
    internal,
    part,
    stateful,
    tags,
    topology,
)
from ..streams_shapes import shapes
from .consumer_groups import BROKER, set_configs

SETTINGS = {
    "group.streams.initial.rebalance.delay.ms": "0",
    "group.streams.assignment.interval.ms": "0",
    "group.streams.min.heartbeat.interval.ms": "50",
    "group.streams.min.session.timeout.ms": "100",
    "group.streams.max.size": "6",
}
SETTLED = Pause(200)
Scripts = Iterator[tuple[str, tuple[Step, ...]]]


def cases() -> Iterator[Case]:
    for scripts in (checks, topologies, internal_topics, topic_changes, joins, assignments, standbys, reconciliations, epochs):
        for name, steps in scripts():
            yield Case(f"streams_groups.{name}", TOPICS, steps)
    for scripts in (stale_topologies, endpoints, shutdowns, timeouts, delays, configs, commits):
        for name, steps in scripts():
            yield Case(f"streams_groups.{name}", TOPICS, steps)


def members(case: str, names: str, process: str | None = None) -> list[StreamsMember]:
    return [StreamsMember(f"streams_groups.{case}", name, process) for name in names]


# Checks

DUPLICATE = [messages.TaskIds(subtopology_id="0", partitions=[0]), messages.TaskIds(subtopology_id="0", partitions=[1])]
OFFSETS = [messages.TaskOffset(subtopology_id="0", partition=0, offset=1)]
WRONG: dict[str, tuple[int, dict[str, Any]]] = {
    **WRONG_IDS,
    "instance": (0, {"instance_id": "i"}),
    "empty-instance": (0, {"instance_id": ""}),
    "instance.beat": (2, {"instance_id": "i"}),
    "instance.leave": (-1, {"instance_id": "i"}),
    "instance.away": (-2, {"instance_id": "i"}),
    "empty-rack": (0, {"rack_id": ""}),
    "rack": (0, {"rack_id": "r"}),
    "no-rebalance-timeout": (0, {"rebalance_timeout_ms": -1}),
    "rebalance-timeout-0": (0, {"rebalance_timeout_ms": 0}),
    "rebalance-timeout-minus-2": (0, {"rebalance_timeout_ms": -2}),
    "no-active": (0, {"active": None}),
    "no-standby": (0, {"standby": None}),
    "no-warmup": (0, {"warmup": None}),
    "no-tasks": (0, {"active": None, "standby": None, "warmup": None}),
    "active": (0, {"active": {"0": [0]}}),
    "active-of-none": (0, {"active": {"0": []}}),
    "standby": (0, {"standby": {"0": [0]}}),
    "warmup": (0, {"warmup": {"0": [0]}}),
    "warmup.beat": (1, {"active_tasks": [], "standby_tasks": [], "warmup_tasks": DUPLICATE}),
    "no-topology": (0, {"topology": None}),
    "topology.beat": (1, {"topology": READS_ONE}),
    "topology.leave": (-1, {"topology": READS_ONE}),
    "some-tasks": (1, {"active_tasks": [], "standby_tasks": None, "warmup_tasks": None}),
    "other-tasks": (1, {"active_tasks": None, "standby_tasks": [], "warmup_tasks": None}),
    "warmup-only": (1, {"active_tasks": None, "standby_tasks": None, "warmup_tasks": []}),
    "epoch-minus-2": (-2, {}),
    "epoch-minus-3": (-3, {}),
    "epoch-minimum": (-(1 << 31), {}),
    "unknown": (5, {}),
    "unknown.leave": (-1, {}),
    "unknown.shutdown": (-1, {"shutdown_application": True}),
    "offsets": (0, {"task_offsets": []}),
    "offsets.some": (0, {"task_offsets": OFFSETS}),
    "end-offsets": (0, {"task_end_offsets": OFFSETS}),
    "no-process": (0, {"process_id": None}),
    "empty-process": (0, {"process_id": ""}),
    "tags": (0, {"client_tags": tags(("zone", "a"), ("cluster", "b"), ("", ""))}),
    "no-tags": (0, {"client_tags": None}),
    "tag-twice": (0, {"client_tags": tags(("zone", "a"), ("zone", "b"))}),
    "tag-twice.beat": (1, {"client_tags": tags(("zone", "a"), ("zone", "b"))}),
    "endpoint-epoch": (0, {"endpoint_information_epoch": 5}),
    "endpoint-epoch.negative": (0, {"endpoint_information_epoch": -1}),
}


def checks() -> Scripts:
    for name, (epoch, fields) in WRONG.items():
        (m,) = members(f"check.{name}", "m")
        sent = m.join(**fields) if epoch == 0 else m.beat(epoch, **fields)
        yield f"check.{name}", (sent, describe_streams(m.group))
        (m,) = members(f"check.member.{name}", "m")
        sent = m.join(**fields) if epoch == 0 else m.beat(epoch if epoch < 0 else 2, **fields)
        yield f"check.member.{name}", (m.join(), sent, m.beat(2), describe_streams(m.group))
    (m,) = members("elsewhere", "m")
    yield "elsewhere", tuple(each._replace(node=2) for each in (m.join(), m.beat(1), m.leave(), describe_streams(m.group, "")))
    yield "describe.empty", (describe_streams(""), describe_streams())
    yield "describe.twice", (describe_streams("streams_groups.none", "streams_groups.none", operations=True),)


# Topologies


def topologies() -> Scripts:
    for name in shapes(""):
        (m,) = members(f"topology.{name}", "m")
        wanted = shapes(m.group)[name]
        see = describe_streams(m.group)
        yield f"topology.{name}", (m.join(wanted), see, CREATED, m.beat(2), see, SETTLED, m.beat(3), m.beat(4), see)


# Internal topics


def metadata(*names: str) -> Send:
    return Send(METADATA, 12, request_of(METADATA, {"topics": [{"name": name, "topic_id": bytes(16)} for name in names]}))


def described_configs(name: str) -> Send:
    resources = [{"resource_type": 2, "resource_name": name, "configuration_keys": ["cleanup.policy", "retention.ms"]}]
    return Send(DESCRIBE_CONFIGS, 4, request_of(DESCRIBE_CONFIGS, {"resources": resources, "include_synonyms": True}))


def create_topic(name: str, partitions: int) -> Send:
    assignments = [{"partition_index": index, "broker_ids": [1]} for index in range(partitions)]
    wanted = {"name": name, "num_partitions": -1, "replication_factor": -1, "assignments": assignments, "configs": []}
    return Send(CREATE_TOPICS, 5, request_of(CREATE_TOPICS, {"topics": [wanted], "timeout_ms": 5000}), settles=True)


def delete_topic(name: str) -> Send:
    return Send(DELETE_TOPICS, 5, request_of(DELETE_TOPICS, {"topic_names": [name], "timeout_ms": 5000}), settles=True)


def add_partitions(name: str, count: int) -> Send:
    assignments = None
    fields = {"topics": [{"name": name, "count": count, "assignments": assignments}], "timeout_ms": 5000, "validate_only": False}
    return Send(CREATE_PARTITIONS, 3, request_of(CREATE_PARTITIONS, fields), settles=True)


def internal_topics() -> Scripts:
    (m,) = members("internal.created", "m")
    names = [f"{m.group}-words", f"{m.group}-counts"]
    yield "internal.created", (m.join(counting(m.group)), CREATED, described_configs(names[0]), described_configs(names[1]), m.beat(2))
    for name, partitions in (("right", 2), ("wrong", 3)):
        (m,) = members(f"internal.exists.{name}", "m")
        made = create_topic(f"{m.group}-store", partitions)
        yield f"internal.exists.{name}", (made, SETTLED, m.join(stateful(m.group)), m.beat(2), describe_streams(m.group))
    for name, partitions in (("right", 2), ("wider", 4)):
        (m,) = members(f"internal.repartition.{name}", "m")
        made = create_topic(f"{m.group}-words", partitions)
        yield (
            f"internal.repartition.{name}",
            (made, SETTLED, m.join(counting(m.group)), CREATED, m.beat(2), m.beat(3), describe_streams(m.group)),
        )
    (m,) = members("internal.deleted", "m")
    deleted = (delete_topic(f"{m.group}-store"), SETTLED, m.beat(3), describe_streams(m.group), CREATED, m.beat(4), m.beat(5), m.beat(6))
    yield "internal.deleted", (m.join(stateful(m.group)), CREATED, m.beat(2), m.beat(3), *deleted, describe_streams(m.group))
    for name in ("config.wrong", "config.unknown", "replicas.too-many", "replicas.minus-2", "repartition.huge"):
        (m,) = members(f"internal.failed.{name}", "m")
        again = (m.beat(2), CREATED, m.beat(2), describe_streams(m.group))
        yield f"internal.failed.{name}", (m.join(shapes(m.group)[name]), CREATED, *again)
    (m,) = members("internal.failed.several", "m")
    wrong = topology(part("0", ONE.name, changelogs=[internal(f"{m.group}-{index}", retention_ms="x") for index in range(5)]))
    yield "internal.failed.several", (m.join(wrong), CREATED, m.beat(2), describe_streams(m.group))
    (m,) = members("internal.failed.expired", "m")
    short = set_configs(m.group, **{"streams.heartbeat.interval.ms": "1500"})
    wrong = topology(part("0", ONE.name, changelogs=[internal(f"{m.group}-c", retention_ms="x")]))
    expired = (m.beat(2), Pause(3500), m.beat(2), CREATED, m.beat(2))
    yield "internal.failed.expired", (short, SETTLED, m.join(wrong), CREATED, *expired)


def topic_changes() -> Scripts:
    (m,) = members("topics.appears", "m")
    see = describe_streams(m.group)
    name = f"{m.group}-in"
    appears = (create_topic(name, 2), SETTLED, m.beat(2), m.beat(3), see)
    yield "topics.appears", (m.join(topology(part("0", name))), m.beat(2), see, *appears)
    (m,) = members("topics.grows", "m")
    see = describe_streams(m.group)
    name = f"{m.group}-in"
    grows = (add_partitions(name, 3), SETTLED, m.beat(2), m.beat(3), see)
    yield "topics.grows", (create_topic(name, 2), SETTLED, m.join(topology(part("0", name))), m.beat(2), *grows)
    (m,) = members("topics.grows.stateful", "m")
    see = describe_streams(m.group)
    name = f"{m.group}-in"
    more = (add_partitions(name, 3), SETTLED, m.beat(3), m.beat(3), m.beat(4, active=NO_TASKS), m.beat(5), see)
    yield "topics.grows.stateful", (create_topic(name, 2), SETTLED, m.join(stateful(m.group, name)), CREATED, m.beat(2), m.beat(3), *more)
    (m,) = members("topics.vanishes", "m")
    see = describe_streams(m.group)
    name = f"{m.group}-in"
    gone = (delete_topic(name), SETTLED, m.beat(2), see, m.beat(2, active={"0": [0, 1]}), m.beat(2, active=NO_TASKS), m.beat(3), see)
    back = (create_topic(name, 2), SETTLED, m.beat(3), m.beat(4), see)
    yield "topics.vanishes", (create_topic(name, 2), SETTLED, m.join(topology(part("0", name))), m.beat(2), *gone, *back)
    (m,) = members("topics.unrelated", "m")
    unrelated = (create_topic(f"{m.group}-other", 2), SETTLED, m.beat(2), describe_streams(m.group))
    yield "topics.unrelated", (m.join(), m.beat(2), *unrelated)


# Members


def joins() -> Scripts:
    m, n = members("join.again", "mn")
    yield "join.again", (m.join(), m.join(), m.beat(2), m.join(rack_id="r"), m.beat(3), m.join(process_id="q"), describe_streams(m.group))
    (m,) = members("join.left", "m")
    left = (m.join(), m.leave(), m.beat(2), m.leave(), describe_streams(m.group), m.join(), delete_groups(m.group))
    yield "join.left", (*left, m.leave(), delete_groups(m.group), describe_streams(m.group), m.join())
    (m,) = members("join.changes", "m")
    changes: list[dict[str, Any]] = [
        {"rack_id": "r"}, {"rack_id": "s"}, {"process_id": "q"}, {"rebalance_timeout_ms": 7}, {"client_tags": tags(("a", "b"))},
        {"client_tags": []}, {"user_endpoint": endpoint(1)}, {"user_endpoint": endpoint(2)}, {},
    ]  # fmt: skip
    beats = [m.beat(2 + index, **fields) for index, fields in enumerate(changes)]
    yield "join.changes", (m.join(), *beats, describe_streams(m.group))
    many = members("join.size", "abcdefg")
    yield "join.size", (*(each.join(READS_WIDE) for each in many), many[0].join(READS_WIDE), many[0].leave(), many[6].join(READS_WIDE))
    m, n = members("join.other-topology", "mn")
    yield "join.other-topology", (m.join(), n.join(READS_WIDE), n.join(topology(part("1", ONE.name))), n.join(), describe_streams(m.group))
    m, n = members("join.reordered", "mn")
    parts = (part("0", ONE.name), part("1", TWO.name))
    yield "join.reordered", (m.join(topology(*parts)), n.join(topology(*parts[::-1])), describe_streams(m.group))
    for index, other in enumerate(
        (part("0", ONE.name, ONE.name), part("0", ONE.name, sinks=["x"]), part("0", ONE.name, copartitions=[([0], [])]))
    ):
        m, n = members(f"join.differs.{index}", "mn")
        yield f"join.differs.{index}", (m.join(), n.join(topology(other)))
    (m,) = members("join.after-empty", "m")
    yield "join.after-empty", (m.join(), m.leave(), m.join(READS_WIDE), m.join(), m.beat(4), describe_streams(m.group))


def shared(case: str, names: str, processes: str) -> list[StreamsMember]:
    return [StreamsMember(f"streams_groups.{case}", name, f"p{process}") for name, process in zip(names, processes, strict=True)]


ARRANGEMENTS = (
    ("mn", "mn"),
    ("mno", "mno"),
    ("mno", "mmn"),
    ("mnop", "mmnn"),
    ("mnopq", "mnopq"),
    ("mnopqr", "mmmnno"),
    ("abcde", "ababa"),
)
LAYOUTS: dict[str, Callable[[str], messages.Topology]] = {
    "wide": lambda group: READS_WIDE,
    "two": lambda group: topology(part("0", WIDE.name), part("1", ONE.name)),
    "stateful": lambda group: stateful(group, WIDE.name),
    "counting": counting,
}


def assignments() -> Scripts:
    for (names, processes), (layout, wanted) in product(ARRANGEMENTS, LAYOUTS.items()):
        case = f"assign.{names}.{processes}.{layout}"
        together = shared(case, names, processes)
        group = together[0].group
        see = describe_streams(group)
        joined = [step for each in together for step in (each.join(wanted(group)), see)]
        created: tuple[Step, ...] = (together[0].join(wanted(group)), CREATED, together[0].join(wanted(group)))
        again = [each.join(wanted(group)) for each in together]
        yield case, (*created, *joined, *again, *again, see, together[0].leave(), *again[1:], *again[1:], see)


def standbys() -> Scripts:
    for (names, processes), replicas in product(ARRANGEMENTS, ("1", "2")):
        case = f"standby.{names}.{processes}.{replicas}"
        together = shared(case, names, processes)
        group = together[0].group
        see, wanted = describe_streams(group), stateful(group, WIDE.name)
        more = set_configs(group, **{"streams.num.standby.replicas": replicas})
        again = [each.join(wanted) for each in together]
        reached: tuple[Step, ...] = (more, SETTLED, again[0], CREATED, *again, see, *again, *again, see)
        yield case, (*reached, together[0].leave(), *again[1:], see, *again[1:], *again[1:], see, *again, *again, see)
    m, n = members("standby.changed", "mn")
    see, wanted = describe_streams(m.group), stateful(m.group)
    more, less = (set_configs(m.group, **{"streams.num.standby.replicas": number}) for number in ("1", "0"))
    on = (more, SETTLED, m.beat(4), n.beat(4), see)
    off = (less, SETTLED, m.beat(5), n.beat(5, active={"0": [1]}, standby=NO_TASKS), m.beat(6), n.beat(6), see)
    yield "standby.changed", (m.join(wanted), CREATED, m.join(wanted), n.join(wanted), m.join(wanted), n.join(wanted), see, *on, *off)
    m, n = members("standby.stateless", "mn")
    more = set_configs(m.group, **{"streams.num.standby.replicas": "2"})
    yield "standby.stateless", (more, SETTLED, m.join(), n.join(), m.join(), n.join(), describe_streams(m.group))


def reconciliations() -> Scripts:
    m, n = members("reconcile.two", "mn")
    see = describe_streams(m.group)
    taken = (m.join(), m.beat(2), n.join(), see, m.beat(2), see, n.beat(3), m.beat(2, active={"0": [0, 1]}), n.beat(3))
    yield "reconcile.two", (*taken, m.beat(2, active={"0": [0]}), see, n.beat(3), n.beat(3), m.beat(3), see)
    m, n = members("reconcile.partly", "mn")
    see = describe_streams(m.group)
    partly = (m.beat(2, active={"0": [0, 1, 2]}), n.beat(3), m.beat(2, active={"0": [0, 1]}), n.beat(3), n.beat(3, active={"0": [2, 3]}))
    yield "reconcile.partly", (m.join(READS_WIDE), n.join(READS_WIDE), m.beat(2), *partly, see)
    m, n, o = members("reconcile.three", "mno")
    see = describe_streams(m.group)
    three = (m.join(READS_WIDE), n.join(READS_WIDE), o.join(READS_WIDE), see, m.beat(2), n.beat(3), o.beat(4), see)
    yield "reconcile.three", (*three, m.beat(2, active={"0": [0, 1]}), n.beat(3), n.beat(4), o.beat(4), see)
    m, n = members("reconcile.leaves", "mn")
    see = describe_streams(m.group)
    yield "reconcile.leaves", (m.join(), n.join(), m.beat(2), n.leave(), see, m.beat(2), m.beat(2, active={"0": [0]}), m.beat(4), see)
    m, n = members("reconcile.owner-leaves", "mn")
    see = describe_streams(m.group)
    yield "reconcile.owner-leaves", (m.join(), n.join(), m.beat(2), m.leave(), see, n.beat(3), n.beat(4), see)
    m, n = members("reconcile.rejoins", "mn")
    see = describe_streams(m.group)
    yield "reconcile.rejoins", (m.join(), n.join(), m.beat(2), m.join(), n.beat(3), m.beat(3), n.beat(3), see)
    m, n = members("reconcile.same-process", "mn", "p")
    see = describe_streams(m.group)
    yield "reconcile.same-process", (m.join(), n.join(), m.beat(2), m.beat(2, active={"0": [0]}), n.beat(3), see)
    m, n = members("reconcile.new-process", "mn")
    see = describe_streams(m.group)
    moved = (m.beat(2, process_id="q"), see, m.beat(2, active={"0": [0]}), m.beat(4), n.beat(3), n.beat(4), see)
    yield "reconcile.new-process", (m.join(), n.join(), m.beat(2), *moved)
    for name, owned in OWNED.items():
        m, n = members(f"reconcile.owns.{name}", "mn")
        yield f"reconcile.owns.{name}", (m.join(), m.beat(2, **owned), n.join(), m.beat(2), m.beat(2, **owned), describe_streams(m.group))


OWNED: dict[str, dict[str, Any]] = {
    "nothing": {"active": NO_TASKS},
    "empty": {"active": {"0": []}},
    "unknown": {"active": {"9": [0]}},
    "unknown.empty": {"active": {"9": []}},
    "beyond": {"active": {"0": [2]}},
    "negative": {"active": {"0": [-1]}},
    "twice": {"active_tasks": DUPLICATE, "standby_tasks": [], "warmup_tasks": []},
    "same": {"active": {"0": [0, 0]}},
    "as-standby": {"active": NO_TASKS, "standby": {"0": [0, 1]}},
    "standby-beyond": {"active": NO_TASKS, "standby": {"0": [7]}},
    "both": {"active": {"0": [0]}, "standby": {"0": [0]}},
}


def epochs() -> Scripts:
    m, n = members("epochs", "mn")
    lost = (m.beat(1), m.beat(1, active=NO_TASKS), m.beat(1, active={"0": [0, 1]}), m.beat(0), m.beat(3), m.beat(2))
    yield "epochs", (m.join(), *lost, n.join(), m.beat(3), m.beat(2))
    for name, owned in OWNED.items():
        m, n = members(f"epochs.previous.{name}", "mn")
        moved = (m.join(), n.join(), m.beat(2), m.beat(2, active={"0": [0]}))
        yield f"epochs.previous.{name}", (*moved, m.beat(2, **owned), m.beat(1, **owned), m.beat(2), m.beat(3), describe_streams(m.group))
    m, n = members("epochs.first", "mn")
    yield "epochs.first", (m.join(), m.beat(0, rebalance_timeout_ms=1), m.join(rebalance_timeout_ms=-1), m.beat(2))
    m, n = members("epochs.fenced", "mn")
    yield "epochs.fenced", (m.join(), m.beat(7), m.beat(2), m.beat(1 << 30), m.join(), m.beat(2), n.beat(2), n.beat(1))


def stale_topologies() -> Scripts:
    new, old = topology(part("0", ONE.name), epoch=3), topology(part("0", TWO.name), epoch=2)
    m, n = members("stale", "mn")
    see = describe_streams(m.group)
    yield "stale", (m.join(new), n.join(old), see, m.beat(2), m.beat(2, active={"0": [0]}), n.beat(3), see, n.join(new), n.beat(4))
    m, n = members("stale.newer", "mn")
    yield "stale.newer", (m.join(old), n.join(new), n.join(topology(part("0", TWO.name), epoch=3)), n.join(old), describe_streams(m.group))
    (m,) = members("stale.again", "m")
    yield "stale.again", (m.join(new), m.join(old), m.beat(3), m.join(new), m.beat(4), describe_streams(m.group))
    (m,) = members("stale.after-empty", "m")
    yield "stale.after-empty", (m.join(new), m.leave(), m.join(old), m.beat(4), describe_streams(m.group))
    m, n = members("stale.malformed", "mn")
    twice = topology(part("0", ONE.name), part("0", ONE.name))
    yield (
        "stale.malformed",
        (m.join(new), n.join(twice), n.join(topology(epoch=-1)), n.join(topology(part("0"))), describe_streams(m.group)),
    )


def endpoints() -> Scripts:
    m, n = members("endpoint", "mn")
    see = describe_streams(m.group)
    both = (m.beat(2), n.join(user_endpoint=endpoint(2, "other")), m.beat(2), m.beat(2, active={"0": [0]}), n.beat(3), n.beat(3))
    known = tuple(n.beat(3, endpoint_information_epoch=number) for number in range(6))
    yield "endpoint", (m.join(user_endpoint=endpoint(1)), *both, *known, see, m.leave(), n.beat(3), n.beat(4), see)
    m, n = members("endpoint.one", "mn")
    yield (
        "endpoint.one",
        (m.join(), n.join(user_endpoint=endpoint(65535, "")), m.beat(2), m.beat(2, active={"0": [0]}), n.beat(3), m.beat(3)),
    )
    (m,) = members("endpoint.later", "m")
    yield "endpoint.later", (m.join(), m.beat(2, user_endpoint=endpoint(9)), m.beat(3), m.beat(3, endpoint_information_epoch=1))
    (m,) = members("endpoint.missing-source", "m")
    wanted = topology(part("0", f"{m.group}-none"))
    failing = (m.join(wanted, user_endpoint=endpoint(1)), m.join(wanted), m.beat(2, user_endpoint=endpoint(1)), m.beat(2))
    yield "endpoint.missing-source", (*failing, m.beat(2, endpoint_information_epoch=4), describe_streams(m.group))
    (m,) = members("endpoint.several", "m")
    wanted = topology(part("0", SINGLE.name, WIDE.name), part("1", ONE.name))
    yield "endpoint.several", (m.join(wanted, user_endpoint=endpoint(1)), m.beat(2), m.join(wanted))
    (m,) = members("endpoint.counting", "m")
    wanted = counting(m.group)
    yield "endpoint.counting", (m.join(wanted, user_endpoint=endpoint(1)), CREATED, m.beat(2), m.beat(3), m.beat(3))
    m, n = members("endpoint.standby", "mn")
    wanted, more = stateful(m.group), set_configs(m.group, **{"streams.num.standby.replicas": "1"})
    first = (m.join(wanted, user_endpoint=endpoint(1)), CREATED, m.join(wanted), n.join(wanted, user_endpoint=endpoint(2)))
    yield "endpoint.standby", (more, SETTLED, *first, m.join(wanted), n.join(wanted), m.join(wanted), n.join(wanted))


def shutdowns() -> Scripts:
    m, n = members("shutdown.beat", "mn")
    yield (
        "shutdown.beat",
        (m.join(), n.join(), m.beat(2, shutdown_application=True), n.beat(3), n.beat(3, shutdown_application=True), n.leave()),
    )
    m, n = members("shutdown.join", "mn")
    yield "shutdown.join", (m.join(shutdown_application=True), m.beat(2), n.join(shutdown_application=True), m.beat(2), n.beat(3))
    m, n = members("shutdown.leave", "mn")
    gone = (m.leave(shutdown_application=True), n.beat(3), n.beat(4), n.leave(), n.join(), n.beat(6))
    yield "shutdown.leave", (m.join(), n.join(), m.beat(2), m.beat(2, active={"0": [0]}), *gone)
    m, n = members("shutdown.last", "mn")
    yield "shutdown.last", (m.join(), m.leave(shutdown_application=True), n.join(), n.beat(4))
    m, n = members("shutdown.unknown", "mn")
    yield "shutdown.unknown", (m.join(), n.leave(shutdown_application=True), m.beat(2), describe_streams(m.group))


SHORT_SESSION = {"streams.session.timeout.ms": "200", "streams.heartbeat.interval.ms": "100"}


def timeouts() -> Scripts:
    m, n = members("timeout.session", "mn")
    short = set_configs(m.group, **SHORT_SESSION)
    yield "timeout.session", (short, SETTLED, m.join(), Pause(500), m.beat(2), n.join(), describe_streams(m.group))
    m, n = members("timeout.session.other", "mn")
    short = set_configs(m.group, **{"streams.session.timeout.ms": "400", "streams.heartbeat.interval.ms": "100"})
    kept = (Pause(250), n.beat(3), Pause(250), n.beat(3), n.beat(4), describe_streams(m.group))
    yield "timeout.session.other", (short, SETTLED, m.join(), n.join(), m.beat(2), m.beat(2, active={"0": [0]}), n.beat(3), *kept)
    m, n = members("timeout.rebalance", "mn")
    late = (m.join(rebalance_timeout_ms=200), n.join(), m.beat(2), Pause(500), m.beat(2, active={"0": [0]}), n.beat(3), n.beat(4))
    yield "timeout.rebalance", (*late, describe_streams(m.group))
    m, n = members("timeout.rebalance.kept", "mn")
    intime = (m.join(rebalance_timeout_ms=300), n.join(), m.beat(2), m.beat(2, active={"0": [0]}), Pause(600), m.beat(3), n.beat(3))
    yield "timeout.rebalance.kept", (*intime, describe_streams(m.group))
    (m,) = members("timeout.shutdown", "m")
    short = set_configs(m.group, **SHORT_SESSION)
    yield "timeout.shutdown", (short, SETTLED, m.join(), m.beat(2, shutdown_application=True), Pause(500), m.join(), m.beat(4))
    (m,) = members("interval", "m")
    yield "interval", (set_configs(m.group, **{"streams.heartbeat.interval.ms": "6000"}), SETTLED, m.join(), m.beat(2))


def delays() -> Scripts:
    m, n = members("delay", "mn")
    see, slow = describe_streams(m.group), set_configs(m.group, **{"streams.initial.rebalance.delay.ms": "700"})
    waiting = (slow, SETTLED, m.join(), see, n.join(), m.beat(1), see)
    yield "delay", (*waiting, Pause(900), see, m.beat(1), n.beat(1), see)
    m, n = members("delay.alone", "mn")
    see, slow = describe_streams(m.group), set_configs(m.group, **{"streams.initial.rebalance.delay.ms": "300"})
    yield (
        "delay.alone",
        (slow, SETTLED, m.join(), Pause(600), see, m.beat(1), see, m.leave(), m.join(), m.join(), Pause(600), m.beat(1), see),
    )
    m, n = members("delay.left", "mn")
    see, slow = describe_streams(m.group), set_configs(m.group, **{"streams.initial.rebalance.delay.ms": "500"})
    yield "delay.left", (slow, SETTLED, m.join(), m.beat(1), m.leave(), see, n.join(), Pause(800), see, n.beat(1), see)
    m, n = members("delay.deleted", "mn")
    see, slow = describe_streams(m.group), set_configs(m.group, **{"streams.initial.rebalance.delay.ms": "500"})
    yield "delay.deleted", (slow, SETTLED, m.join(), m.leave(), delete_groups(m.group), Pause(800), see)
    m, n = members("delay.topics", "mn")
    see, slow = describe_streams(m.group), set_configs(m.group, **{"streams.initial.rebalance.delay.ms": "800"})
    wanted = counting(m.group)
    yield "delay.topics", (slow, SETTLED, m.join(wanted), CREATED, m.beat(1), see, Pause(800), see, m.beat(1), see)
    m, n = members("assignment-interval", "mn")
    slow, quick = (set_configs(m.group, **{"streams.assignment.interval.ms": value}) for value in ("15000", "0"))
    see = describe_streams(m.group)
    late = (quick, SETTLED, n.beat(2), see, m.beat(2), n.beat(3), see)
    yield "assignment-interval", (slow, SETTLED, m.join(), n.join(), see, m.beat(2), n.beat(2), m.leave(), n.beat(2), see, *late)
    m, n = members("assignment-interval.over", "mn")
    slow = set_configs(m.group, **{"streams.assignment.interval.ms": "500"})
    yield "assignment-interval.over", (slow, SETTLED, m.join(), n.join(), m.beat(2), Pause(700), m.beat(2), n.beat(2), n.beat(3))


CONFIGS: dict[str, dict[str, str]] = {
    **bounds_of_times("streams"),
    "standby": {"streams.num.standby.replicas": "2"},
    "standby-above-maximum": {"streams.num.standby.replicas": "3"},
    "standby-negative": {"streams.num.standby.replicas": "-1"},
    "delay": {"streams.initial.rebalance.delay.ms": "100000"},
    "delay-negative": {"streams.initial.rebalance.delay.ms": "-1"},
    "unknown": {"streams.unknown": "1"},
    "offload": {"streams.assignor.offload.enable": "true"},
    "no-number": {"streams.session.timeout.ms": "x"},
}


def configs() -> Scripts:
    for name, values in CONFIGS.items():
        group = f"streams_groups.config.{name}"
        resources = [{"resource_type": 32, "resource_name": group, "configuration_keys": list(values)}]
        described = Send(DESCRIBE_CONFIGS, 4, request_of(DESCRIBE_CONFIGS, {"resources": resources, "include_synonyms": True}))
        yield f"config.{name}", (set_configs(group, **values), SETTLED, described)
    m, n = members("config.broker", "mn")
    slow, quick = (set_configs("", BROKER, **{"group.streams.assignment.interval.ms": value}) for value in ("15000", "0"))
    yield "config.broker", (slow, SETTLED, m.join(), n.join(), m.beat(2), quick, SETTLED, m.beat(2), n.beat(3))


def commits() -> Scripts:
    (m,) = members("commit", "m")
    requests = tuple(m.commit(epoch, version=version) for version in (8, 9, 10) for epoch in (-1, 0, 1, 2, 3))
    fetched = tuple(
        fetch_offsets(m.group, member=name, epoch=epoch)
        for name in ("m", "x", "", None)
        for epoch in (-1, 0, 1, 2, 3)
        if name is not None or epoch < 0
    )
    yield "commit", (m.join(), *requests, *fetched, m.leave(), m.commit(2), m.commit(-1), fetch_offsets(m.group))
    m, n = members("commit.moved", "mn")
    moved = (m.join(), n.join(), m.beat(2), m.commit(2, {ONE.name: {0: 1, 1: 1}}), m.beat(2, active={"0": [0]}), n.beat(3))
    late = tuple(m.commit(epoch, {ONE.name: {index: 2}}) for epoch in (1, 2, 3) for index in (0, 1))
    others = (m.commit(2, {TWO.name: {0: 1}}), m.commit(3, {TWO.name: {0: 1}}), m.commit(2, {ONE.name: {0: 4}, TWO.name: {0: 4}}))
    yield "commit.moved", (*moved, *late, *others, n.commit(3, {ONE.name: {0: 3}}), n.commit(2), fetch_offsets(m.group))
    m, n = members("commit.revoking", "mn")
    revoking = (m.join(), m.beat(2), n.join(), m.beat(2), *(m.commit(epoch, {ONE.name: {1: 5}}) for epoch in (1, 2, 3)))
    yield "commit.revoking", (*revoking, fetch_offsets(m.group))
    m, n = members("commit.repartition", "mn")
    wanted = counting(m.group)
    words = f"{m.group}-words"
    reached = (m.join(wanted), CREATED, m.beat(2), m.beat(3), n.join(wanted), m.beat(3))
    yield "commit.repartition", (*reached, *(m.commit(epoch, {words: {0: 5}}) for epoch in (2, 3, 4)), fetch_offsets(m.group))
