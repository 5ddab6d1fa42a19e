"""Groups of the consumer protocol (KIP-848): validation, reconciliation, static members, subscriptions and timeouts."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from odradek.protocol.messages.incremental_alter_configs import (
    INCREMENTAL_ALTER_CONFIGS,
    AlterableConfig,
    AlterConfigsResource,
    IncrementalAlterConfigsRequest,
)

from ..case import Case, Pause, Send, Step
from ..group_requests import (
    FOUR,
    LONG_MS,
    ONE,
    THREE,
    TOPICS,
    TWO,
    WRONG_IDS,
    ClassicMember,
    ConsumerMember,
    bounds_of_times,
    commit,
    delete_groups,
    delete_offsets,
    describe_consumers,
    fetch_offsets,
)

BOTH = {ONE.name: [0, 1]}


def cases() -> Iterator[Case]:
    for name, steps in (
        *checks(),
        *joins(),
        *reconciliations(),
        *epochs(),
        *static_members(),
        *subscriptions(),
        *timeouts(),
        *configs(),
        *commits(),
    ):
        yield Case(f"consumer_groups.{name}", TOPICS, steps)


Scripts = Iterator[tuple[str, tuple[Step, ...]]]
WRONG: dict[str, tuple[int, dict[str, Any]]] = {
    **WRONG_IDS,
    "empty-instance": (0, {"instance_id": ""}),
    "blank-instance": (0, {"instance_id": " "}),
    "empty-rack": (0, {"rack_id": ""}),
    "no-rebalance-timeout": (0, {"rebalance_timeout_ms": -1}),
    "rebalance-timeout-0": (0, {"rebalance_timeout_ms": 0}),
    "rebalance-timeout-minus-2": (0, {"rebalance_timeout_ms": -2}),
    "no-owned": (0, {"owned": None}),
    "owns": (0, {"owned": {ONE.name: [0]}}),
    "owns-nothing-of-one": (0, {"owned": {ONE.name: []}}),
    "no-subscription": (0, {"subscribed_topic_names": None}),
    "empty-subscription": (0, {"subscribed_topic_names": []}),
    "empty-regex": (0, {"subscribed_topic_names": None, "subscribed_topic_regex": ""}),
    "bad-regex": (0, {"subscribed_topic_names": None, "subscribed_topic_regex": "["}),
    "bad-regex.lookahead": (0, {"subscribed_topic_names": None, "subscribed_topic_regex": "(?=x)"}),
    "bad-regex.backreference": (0, {"subscribed_topic_names": None, "subscribed_topic_regex": "(x)\\1"}),
    "bad-regex.beat": (2, {"subscribed_topic_regex": "*"}),
    "assignor": (0, {"server_assignor": "sticky"}),
    "assignor.empty": (0, {"server_assignor": ""}),
    "assignor.beat": (2, {"server_assignor": "sticky"}),
    "epoch-minus-2": (-2, {}),
    "epoch-minus-2.static": (-2, {"instance_id": "i"}),
    "epoch-minus-3": (-3, {}),
    "epoch-minus-3.static": (-3, {"instance_id": "i"}),
    "unknown": (5, {}),
    "unknown.static": (5, {"instance_id": "i"}),
    "leave-unknown": (-1, {}),
    "topic-twice": (0, {"subscribed_topic_names": [ONE.name, ONE.name]}),
    "illegal-topic": (0, {"subscribed_topic_names": ["a b", ""]}),
}


def checks() -> Scripts:
    for version in (0, 1):
        for name, (epoch, fields) in WRONG.items():
            if version or "subscribed_topic_regex" not in fields:
                m = ConsumerMember(f"consumer_groups.v{version}.{name}", "m")
                joined: dict[str, Any] = (
                    {"rebalance_timeout_ms": LONG_MS, "subscribed_topic_names": [ONE.name], "owned": {}} if epoch == 0 else {}
                )
                yield f"v{version}.{name}", (m.beat(epoch, version=version, **joined | fields), describe_consumers(m.group))
    m = ConsumerMember("consumer_groups.elsewhere", "m")
    yield "elsewhere", tuple(request._replace(node=2) for request in (m.join(), m.beat(1), m.leave(), describe_consumers(m.group, "")))
    yield "describe.empty", (describe_consumers(""), describe_consumers("", version=0), describe_consumers())
    yield "describe.twice", (describe_consumers("consumer_groups.none", "consumer_groups.none"),)


def joins() -> Scripts:
    """Yields scripts of a single member."""
    for topics in ((ONE.name,), (ONE.name, TWO.name), ("unknown",), (ONE.name, "unknown"), (ONE.name, TWO.name, THREE.name)):
        for assignor in (None, "uniform", "range"):
            m = ConsumerMember(f"consumer_groups.join.{len(topics)}{topics[-1]}.{assignor}", "m")
            steps = (
                m.join(*topics, server_assignor=assignor),
                m.beat(2),
                describe_consumers(m.group),
                m.leave(),
                describe_consumers(m.group),
            )
            yield m.group.removeprefix("consumer_groups."), steps
    m = ConsumerMember("consumer_groups.join.again", "m")
    yield "join.again", (m.join(), m.join(), m.beat(2), m.join(TWO.name), m.beat(2), describe_consumers(m.group))
    m = ConsumerMember("consumer_groups.join.left", "m")
    yield (
        "join.left",
        (m.join(), m.leave(), m.beat(2), m.leave(), m.join(), delete_groups(m.group), m.leave(), delete_groups(m.group), m.join()),
    )
    m = ConsumerMember("consumer_groups.join.v0", "m")
    chosen = m.join(version=0, member_id="")
    yield "join.v0", (chosen, m.beat(2, member_id="$m", version=0), m.beat(-1, member_id="$m", version=0), m.join(version=0))
    m = ConsumerMember("consumer_groups.join.rack", "m")
    yield "join.rack", (m.join(rack_id="r"), m.beat(2, rack_id="s"), describe_consumers(m.group, version=0), describe_consumers(m.group))
    members = [ConsumerMember("consumer_groups.size", name) for name in "mnop"]
    yield "size", (*(member.join() for member in members), members[0].leave(), members[3].join(), describe_consumers(members[0].group))
    m = ConsumerMember("consumer_groups.full", "m")
    fields: dict[str, Any] = {"rebalance_timeout_ms": LONG_MS, "subscribed_topic_names": [ONE.name]}
    yield (
        "full",
        (
            m.join(),
            m.beat(2, owned=BOTH, **fields),
            m.beat(2, owned=BOTH),
            m.beat(2, owned={}, **fields),
            m.beat(2, owned={THREE.name: [0]}),
            m.beat(2, rebalance_timeout_ms=LONG_MS),
            m.beat(2, rebalance_timeout_ms=5),
            m.beat(2, subscribed_topic_names=[ONE.name]),
            describe_consumers(m.group, operations=True),
        ),
    )


def reconciliations() -> Scripts:
    """Yields scripts in which partitions move between members."""
    for assignor in ("uniform", "range"):
        for topics, kept in (((ONE.name,), {ONE.name: [0]}), ((FOUR.name,), {FOUR.name: [0, 1]})):
            m, n, o = (ConsumerMember(f"consumer_groups.reconcile.{assignor}.{topics[0]}", name) for name in "mno")
            see = describe_consumers(m.group)
            two = (m.join(*topics, server_assignor=assignor), n.join(*topics, server_assignor=assignor), see, m.beat(2), see)
            given_up: tuple[Send, ...] = (n.beat(3), m.beat(2, owned=kept), see, n.beat(3), n.beat(3), m.beat(3), see)
            yield f"reconcile.{assignor}.{topics[0]}", (*two, *given_up, m.leave(), n.beat(3), n.beat(4), see)
            m, n, o = (ConsumerMember(f"consumer_groups.three.{assignor}.{topics[0]}", name) for name in "mno")
            see = describe_consumers(m.group)
            three = (m.join(*topics, server_assignor=assignor), n.join(*topics), o.join(*topics), see, m.beat(2), n.beat(3), o.beat(4))
            given_up = (m.beat(2, owned={}), n.beat(3), n.beat(4), o.beat(4), see, m.beat(4), o.leave(), m.beat(4), n.beat(4), see)
            yield f"three.{assignor}.{topics[0]}", (*three, *given_up)
    m, n = (ConsumerMember("consumer_groups.reconcile.partly", name) for name in "mn")
    see = describe_consumers(m.group)
    partly = (m.beat(2, owned={FOUR.name: [0, 1, 2]}), n.beat(3), m.beat(2, owned={FOUR.name: [0, 1]}), n.beat(3))
    yield "reconcile.partly", (m.join(FOUR.name), n.join(FOUR.name), m.beat(2), *partly, see)
    m, n = (ConsumerMember("consumer_groups.reconcile.leaves", name) for name in "mn")
    see = describe_consumers(m.group)
    yield "reconcile.leaves", (m.join(), n.join(), m.beat(2), n.leave(), see, m.beat(2), m.beat(2, owned={ONE.name: [0]}), m.beat(4), see)
    m, n = (ConsumerMember("consumer_groups.reconcile.owner-leaves", name) for name in "mn")
    see = describe_consumers(m.group)
    yield "reconcile.owner-leaves", (m.join(), n.join(), m.beat(2), m.leave(), see, n.beat(3), n.beat(4), see)
    m, n = (ConsumerMember("consumer_groups.reconcile.different", name) for name in "mn")
    see = describe_consumers(m.group)
    yield "reconcile.different", (m.join(ONE.name, TWO.name), n.join(TWO.name), m.beat(2), m.beat(2, owned=BOTH), n.beat(3), see)
    m, n = (ConsumerMember("consumer_groups.assignors", name) for name in "mn")
    see = describe_consumers(m.group)
    change = (m.beat(2, server_assignor="range"), see, n.beat(3, server_assignor="range"), see, n.beat(4, server_assignor="uniform"), see)
    yield "assignors", (m.join(server_assignor="uniform"), n.join(), *change)


def epochs() -> Scripts:
    """Yields scripts with lost answers and fenced members."""
    m, n = (ConsumerMember("consumer_groups.epochs", name) for name in "mn")
    lost = (m.beat(1), m.beat(1, owned={}), m.beat(1, owned=BOTH), m.beat(0), m.beat(3), m.beat(2))
    yield "epochs", (m.join(), *lost, n.join(), m.beat(3), m.beat(2))
    m, n = (ConsumerMember("consumer_groups.epochs.previous", name) for name in "mn")
    moved = (m.join(), n.join(), m.beat(2), m.beat(2, owned={ONE.name: [0]}))
    requests = tuple(m.beat(2, owned=owned) for owned in ({ONE.name: [0]}, {ONE.name: [1]}, {}, BOTH, None))
    yield "epochs.previous", (*moved, *requests, m.beat(1, owned={}), describe_consumers(m.group))
    m, n = (ConsumerMember("consumer_groups.epochs.rejoin", name) for name in "mn")
    yield "epochs.rejoin", (m.join(), n.join(), m.beat(2), m.join(), n.beat(3), m.beat(3), n.beat(3), describe_consumers(m.group))
    m = ConsumerMember("consumer_groups.epochs.fenced", "m")
    yield "epochs.fenced", (m.join(), m.beat(7), m.beat(2), m.beat(0, rebalance_timeout_ms=1), m.join(), m.beat(2))


def static_members() -> Scripts:
    m, n = ConsumerMember("consumer_groups.static", "m", "i"), ConsumerMember("consumer_groups.static", "n", "i")
    see = describe_consumers(m.group)
    away = (n.join(), m.beat(-2), see, m.beat(2), m.beat(-2), n.join(), see, m.beat(2), n.beat(2), m.leave(), n.leave(), see)
    yield "static", (m.join(), m.beat(2), *away)
    m, n, o = (ConsumerMember("consumer_groups.static.two", name, instance) for name, instance in (("m", "i"), ("n", "j"), ("o", "j")))
    see = describe_consumers(m.group)
    two = (m.join(), n.join(), m.beat(2), m.beat(2, owned={ONE.name: [0]}), n.beat(3), n.beat(-2), see, m.beat(3), o.join(), m.beat(3), see)
    yield "static.two", two
    m, n = (ConsumerMember("consumer_groups.static.changed", name, "i") for name in "mn")
    yield "static.changed", (m.join(), m.beat(-2), n.join(TWO.name), n.beat(3), describe_consumers(m.group))
    m, n = (ConsumerMember("consumer_groups.static.same-id", name, "i") for name in "mn")
    yield "static.same-id", (m.join(), m.join(), m.beat(-2), m.join(), m.beat(2), describe_consumers(m.group))
    m, plain = ConsumerMember("consumer_groups.static.unnamed", "m", "i"), ConsumerMember("consumer_groups.static.unnamed", "m")
    yield "static.unnamed", (m.join(), plain.beat(2), plain.join(), plain.leave(), describe_consumers(m.group))
    m, other = ConsumerMember("consumer_groups.static.renamed", "m", "i"), ConsumerMember("consumer_groups.static.renamed", "m", "j")
    yield "static.renamed", (m.join(), other.beat(2), other.join(), other.leave(), describe_consumers(m.group))
    m, s = ConsumerMember("consumer_groups.static.revoking", "m", "i"), ConsumerMember("consumer_groups.static.revoking", "n")
    yield (
        "static.revoking",
        (m.join(), s.join(), m.beat(2), m.beat(-2), s.beat(3), describe_consumers(m.group), m.join(), s.beat(3), m.beat(3)),
    )


REGEXES: Mapping[str, str] = {
    "one": "groups-one",
    "all": "groups-.*",
    "alternatives": "groups-(one|two)",
    "none": "nothing",
    "part": "one",
    "internal": "__.*",
    "flags": "(?i)GROUPS-ONE",
    "class": "^[[:alpha:]]+-one$",
    "everything": ".*",
    "script": "\\p{Latin}+-\\p{Ll}ne",
    "other-script": "\\p{Greek}+",
}


def subscriptions() -> Scripts:
    m = ConsumerMember("consumer_groups.subscribe", "m")
    see = describe_consumers(m.group)
    requests = [
        m.beat(epoch, subscribed_topic_names=list(names)) for epoch, names in ((2, (ONE.name, TWO.name)), (3, (TWO.name,)), (4, ()))
    ]
    yield "subscribe", (m.join(), *requests, see, m.beat(3, owned={TWO.name: [0, 1]}), m.beat(4), m.beat(5), see)
    m = ConsumerMember("consumer_groups.unsubscribe", "m")
    given_up = (m.beat(2, subscribed_topic_names=[ONE.name]), see, m.beat(2), m.beat(2, owned=BOTH), m.beat(3))
    yield "unsubscribe", (m.join(ONE.name, TWO.name), *given_up, describe_consumers(m.group))
    for name, regex in REGEXES.items():
        m = ConsumerMember(f"consumer_groups.regex.{name}", "m")
        by_regex: dict[str, Any] = {"subscribed_topic_names": None, "subscribed_topic_regex": regex}
        again = (Pause(200), m.join(**by_regex), m.join(**by_regex), describe_consumers(m.group))
        yield f"regex.{name}", (m.join(**by_regex), *again)
    for regex in ("groups-t.*", ""):  # Kafka resolves a third expression only after a delay
        m = ConsumerMember(f"consumer_groups.regex.to-{regex}", "m")
        settled = (Pause(200), m.join(), m.join(), describe_consumers(m.group))
        changed = (m.join(subscribed_topic_regex="groups-t.*"), *settled, m.join(subscribed_topic_regex=regex), *settled)
        yield f"regex.to-{regex}", (m.join(), *changed)
    m, n = (ConsumerMember("consumer_groups.regex.shared", name) for name in "mn")
    by_regex = {"subscribed_topic_names": None, "subscribed_topic_regex": "groups-one"}
    both = (
        m.join(**by_regex),
        Pause(200),
        m.join(**by_regex),
        n.join(**by_regex),
        n.beat(3),
        m.beat(2, owned={}),
        describe_consumers(m.group),
    )
    yield "regex.shared", (*both, m.leave(), n.join(**by_regex), n.leave(), describe_consumers(m.group))


SHORT_SESSION = {"consumer.session.timeout.ms": "200", "consumer.heartbeat.interval.ms": "100"}


def timeouts() -> Scripts:
    m, n = (ConsumerMember("consumer_groups.timeout.session", name) for name in "mn")
    short = set_configs(m.group, **SHORT_SESSION)
    yield "timeout.session", (short, m.join(), Pause(500), m.beat(2), n.join(), describe_consumers(m.group))
    m, n = (ConsumerMember("consumer_groups.timeout.rebalance", name) for name in "mn")
    late = (m.join(rebalance_timeout_ms=200), n.join(), m.beat(2), Pause(500), m.beat(2, owned={ONE.name: [0]}), n.beat(3), n.beat(4))
    yield "timeout.rebalance", (*late, describe_consumers(m.group))
    m, n = ConsumerMember("consumer_groups.timeout.static", "m", "i"), ConsumerMember("consumer_groups.timeout.static", "n", "i")
    short = set_configs(m.group, **SHORT_SESSION)
    yield "timeout.static", (short, m.join(), m.beat(-2), Pause(500), describe_consumers(m.group), n.join())
    m = ConsumerMember("consumer_groups.interval", "m")
    yield "interval", (set_configs(m.group, **{"consumer.heartbeat.interval.ms": "6000"}), m.join(), m.beat(2))
    m, n = (ConsumerMember("consumer_groups.assignment-interval", name) for name in "mn")
    slow, quick = (set_configs(m.group, **{"consumer.assignment.interval.ms": value}) for value in ("15000", "0"))
    see = describe_consumers(m.group)
    yield "assignment-interval", (slow, m.join(), n.join(), see, m.beat(2), n.beat(3), quick, n.beat(2), see, m.beat(2), n.beat(3))
    m, n = (ConsumerMember("consumer_groups.assignment-interval-of-broker", name) for name in "mn")
    see = describe_consumers(m.group)
    name = "group.consumer.assignment.interval.ms"
    slow, quick = (set_configs("", BROKER, **{name: value}) for value in ("15000", "0"))
    yield "assignment-interval-of-broker", (m.join(), slow, Pause(200), n.join(), see, quick, Pause(200), n.beat(2), see)


CONFIGS: dict[str, dict[str, str]] = {
    **bounds_of_times("consumer"),
    "unknown": {"consumer.unknown": "1"},
    "no-number": {"consumer.session.timeout.ms": "x"},
}


def configs() -> Scripts:
    for name, values in CONFIGS.items():
        yield f"config.{name}", (set_configs(f"consumer_groups.config.{name}", **values),)
    yield "config.no-name", (set_configs("", **CONFIGS["both"]),)


BROKER, GROUP = 4, 32


def set_configs(name: str, kind: int = GROUP, /, **values: str) -> Send:
    configs = [AlterableConfig(name=key, config_operation=0, value=value) for key, value in values.items()]
    resource = AlterConfigsResource(resource_type=kind, resource_name=name, configs=configs)
    return Send(INCREMENTAL_ALTER_CONFIGS, 1, IncrementalAlterConfigsRequest(resources=[resource], validate_only=False))


def commits() -> Scripts:
    """Yields scripts that commit offsets of partitions that members own, do not own yet, or own no longer (KIP-1251)."""
    m, n = (ConsumerMember("consumer_groups.commit", name) for name in "mn")
    requests = tuple(m.commit(epoch, version) for version in (8, 9, 10) for epoch in (-1, 0, 1, 2, 3))
    fetched = tuple(
        fetch_offsets(m.group, member=name, epoch=epoch)
        for name in ("m", "x", "", None)
        for epoch in (-1, 0, 1, 2, 3)
        if name is not None or epoch < 0
    )
    others = (commit(m.group), n.commit(2), delete_offsets(m.group, {ONE.name: [0], TWO.name: [0]}), fetch_offsets(m.group))
    yield (
        "commit",
        (m.join(), *requests, *fetched, *others, m.leave(), n.commit(2), commit(m.group), fetch_offsets(m.group), delete_groups(m.group)),
    )
    m, n = (ConsumerMember("consumer_groups.commit.moved", name) for name in "mn")
    moved = (m.join(), n.join(), m.beat(2), m.commit(2, offsets={ONE.name: {0: 1, 1: 1}}), m.beat(2, owned={ONE.name: [0]}), n.beat(3))
    late = tuple(m.commit(epoch, offsets={ONE.name: {index: 2}}) for epoch in (1, 2, 3) for index in (0, 1))
    yield "commit.moved", (*moved, *late, n.commit(3, offsets={ONE.name: {0: 3}, THREE.name: {0: 3}}), n.commit(2), fetch_offsets(m.group))
    m, a = ConsumerMember("consumer_groups.commit.classic", "m"), ClassicMember("consumer_groups.commit.classic", "a")
    mixed = (m.join(), *a.enter(), m.beat(2), m.beat(2, owned={ONE.name: [0]}), a.heartbeat(3), a.join(), a.sync(3))
    yield "commit.classic", (*mixed, *(a.commit(epoch, version) for version in (8, 9) for epoch in (-1, 2, 3, 4)), fetch_offsets(m.group))
