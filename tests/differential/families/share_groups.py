"""Share groups (KIP-932): validation, epochs, subscriptions, the assignor, sizes, sessions, configs, and topics that come and go.

With several members, partitions are assigned in an order that follows from the random topic ids unless members subscribe to different
topics, so that members with the same subscription share a topic of one partition.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations, permutations
from typing import Any

from ..case import Case, Pause, Send, Step, Topic
from ..group_requests import delete_groups
from ..share_group_requests import (
    FOUR,
    ONE,
    SETTINGS,
    SETTLE,
    TOPICS,
    TWO,
    ShareMember,
    add_partitions,
    create_topic,
    delete_topic,
    describe_shares,
    set_configs,
    share_offsets,
)

__all__ = ["SETTINGS", "cases"]

Steps = tuple[Step, ...]
Scripts = Iterator[tuple[str, Steps]]
NAMES = (ONE.name, TWO.name, FOUR.name)
FIRST = Pause(3000)
"""A pause in which Kafka creates `__share_group_state`."""


def cases() -> Iterator[Case]:
    m = ShareMember("share_groups.first")
    yield Case("share_groups.first", TOPICS, (m.join(), FIRST, m.beat(2), m.beat(3), describe_shares(m.group), share_offsets(m.group)))
    for make in (checks, joins, epochs, subscriptions, pairs, threes, sizes, sessions, configs):
        for name, steps in make():
            yield Case(f"share_groups.{name}", TOPICS, steps)
    yield from changing_topics()


WRONG: dict[str, tuple[int, dict[str, Any]]] = {
    "no-group": (0, {"group_id": ""}),
    "blank-group": (0, {"group_id": " "}),
    "no-member": (0, {"member_id": ""}),
    "no-member.beat": (1, {"member_id": ""}),
    "no-member.leave": (-1, {"member_id": ""}),
    "blank-member": (0, {"member_id": "  "}),
    "member-36": (0, {"member_id": "m" * 36}),
    "member-37": (0, {"member_id": "m" * 37}),
    "member-37.leave": (-1, {"member_id": "m" * 37}),
    "member-36-umlauts": (0, {"member_id": "ü" * 36}),
    "member-19-pairs": (0, {"member_id": "\U0001f600" * 19}),
    "empty-rack": (0, {"rack_id": ""}),
    "blank-rack": (0, {"rack_id": " "}),
    "empty-rack.beat": (1, {"rack_id": ""}),
    "no-subscription": (0, {"subscribed_topic_names": None}),
    "empty-subscription": (0, {"subscribed_topic_names": []}),
    "epoch-minus-2": (-2, {}),
    "epoch-minus-3": (-3, {}),
    "epoch-min": (-(1 << 31), {}),
    "unknown": (5, {}),
    "unknown.max": ((1 << 31) - 1, {}),
    "leave-unknown": (-1, {}),
    "topic-twice": (0, {"subscribed_topic_names": [ONE.name, ONE.name]}),
    "unknown-topic": (0, {"subscribed_topic_names": ["nowhere"]}),
    "illegal-topic": (0, {"subscribed_topic_names": ["a b", ""]}),
    "internal-topic": (0, {"subscribed_topic_names": ["__transaction_state"]}),
}


def checks() -> Scripts:
    for name, (epoch, fields) in WRONG.items():
        m = ShareMember(f"share_groups.wrong.{name}")
        steps = (m.beat(epoch, *([ONE.name] if epoch == 0 else []), **fields), describe_shares(m.group))
        yield f"wrong.{name}", steps
        m = ShareMember(f"share_groups.wrong.{name}.joined")
        sent = m.beat(3 if epoch == 1 else epoch, **{"group_id": m.group} | fields)
        joined = (m.join(), SETTLE, m.beat(2), sent, SETTLE, describe_shares(m.group))
        yield f"wrong.{name}.joined", joined
    m = ShareMember("share_groups.elsewhere")
    yield "elsewhere", tuple(step._replace(node=2) for step in (m.join(), m.beat(1), m.leave(), describe_shares(m.group, "")))
    yield "describe.empty", (describe_shares(""), describe_shares())
    yield "describe.twice", (describe_shares("share_groups.none", "share_groups.none", "", "share_groups.none"),)


def joins() -> Scripts:
    """Yields scripts of a single member."""
    for count in (1, 2, 3):
        for topics in combinations((*NAMES, "nowhere"), count):
            m = ShareMember(f"share_groups.join.{'+'.join(topics)}")
            yield (
                f"join.{'+'.join(topics)}",
                (m.join(*topics), SETTLE, m.beat(2), m.beat(3), describe_shares(m.group), m.leave(), describe_shares(m.group)),
            )
    m = ShareMember("share_groups.join.again")
    again = (m.join(), SETTLE, m.join(), m.join(), m.join(TWO.name), SETTLE, m.beat(4), m.join(TWO.name), describe_shares(m.group))
    yield "join.again", again
    m = ShareMember("share_groups.join.left")
    left = (m.join(), SETTLE, m.leave(), m.beat(2), m.leave(), m.join(), m.beat(4), delete_groups(m.group), m.leave())
    yield "join.left", (*left, delete_groups(m.group), m.beat(1), m.leave(), m.join(), describe_shares(m.group))
    m = ShareMember("share_groups.join.rack")
    racks = (m.join(rack_id="r"), SETTLE, m.beat(2, rack_id="s"), describe_shares(m.group), m.beat(3), describe_shares(m.group))
    yield "join.rack", racks
    m = ShareMember("share_groups.join.client")
    named = (m.join(), SETTLE, m.beat(2)._replace(client_id="other"), describe_shares(m.group), m.beat(3)._replace(client_id=None))
    yield "join.client", (*named, describe_shares(m.group, operations=True))
    m = ShareMember("share_groups.join.full")
    yield "join.full", (m.join(), SETTLE, m.beat(2, ONE.name), m.beat(3, ONE.name), m.beat(3), m.beat(3, ONE.name, rack_id="r"))


def epochs() -> Scripts:
    """Yields a heartbeat of each epoch in each state of a group."""
    for epoch in (*range(-1, 8), 100):
        for state in ("joined", "assigned", "second", "changed", "left"):
            m, n = ShareMember(f"share_groups.epoch.{state}.{epoch}"), ShareMember(f"share_groups.epoch.{state}.{epoch}", "n")
            steps: tuple[Step, ...] = (m.join(), SETTLE)
            if state != "joined":
                steps += (m.beat(2),)
            if state == "second":
                steps += (n.join(),)
            elif state == "changed":
                steps += (m.beat(3, TWO.name), SETTLE, m.beat(4))
            elif state == "left":
                steps += (n.join(), m.beat(3), n.leave())
            yield f"epoch.{state}.{epoch}", (*steps, m.beat(epoch), m.beat(epoch), describe_shares(m.group))


def subscriptions() -> Scripts:
    """Yields scripts of a member that subscribes to other topics."""
    several = ((ONE.name,), (TWO.name,), (ONE.name, FOUR.name), ("nowhere",), NAMES)
    for number, (before, after) in enumerate(permutations(several, 2)):
        m = ShareMember(f"share_groups.subscribe.{number}")
        begin = (m.join(*before), SETTLE, m.beat(2), m.beat(3, *after), SETTLE)
        yield f"subscribe.{number}", (*begin, m.beat(4), m.beat(5), describe_shares(m.group), share_offsets(m.group))
    m = ShareMember("share_groups.subscribe.nothing")
    nothing = (m.join(), SETTLE, m.beat(2), m.beat(3, subscribed_topic_names=[]), describe_shares(m.group), m.beat(4), m.beat(4, ONE.name))
    yield "subscribe.nothing", (*nothing, describe_shares(m.group))
    m = ShareMember("share_groups.subscribe.early")
    yield "subscribe.early", (m.join(), m.beat(2, TWO.name), SETTLE, m.beat(3), m.beat(4), describe_shares(m.group))


SUBSETS = [topics for count in (1, 2, 3) for topics in combinations(NAMES, count)]


def pairs() -> Scripts:
    """Yields two members with different subscriptions, the second of which leaves or takes over the topics of the first."""
    for number, (first, second) in enumerate(permutations(SUBSETS, 2)):
        group = f"share_groups.pair.{number}"
        a, b = ShareMember(group, "a"), ShareMember(group, "b")
        begin = (a.join(*first), SETTLE, a.beat(2), b.join(*second), SETTLE, a.beat(3), b.beat(4), a.beat(4), b.beat(5), a.beat(5))
        last: Steps = (b.join(*first, *second), SETTLE, a.beat(5), b.beat(6), a.beat(6))
        if number % 2 or {*first, *second} == {*first}:
            last = (b.leave(), a.beat(5), a.beat(6))
        yield f"pair.{number}", (*begin, describe_shares(group), *last, describe_shares(group))


def threes() -> Scripts:
    """Yields three members with at least two subscriptions, which join in turn and leave in the same order."""
    for number, topics in enumerate(list(permutations(SUBSETS, 3))[::7]):
        group = f"share_groups.three.{number}"
        members = [ShareMember(group, name) for name in ("first", "2nd", "third-member")]
        joined = [step for member, names in zip(members, topics, strict=True) for step in (member.join(*names), SETTLE)]
        rounds = [member.beat(0, *names) for _ in range(3) for member, names in zip(members, topics, strict=True)]
        gone = [
            step
            for at, member in enumerate(members[:2])
            for step in (member.leave(), members[2].beat(0, *topics[2]), describe_shares(group))
        ]
        yield f"three.{number}", (*joined, *rounds, describe_shares(group), *gone)


def sizes() -> Scripts:
    members = [ShareMember("share_groups.size", name) for name in "mnop"]
    joined = [step for member in members for step in (member.join(), SETTLE)]
    full = (*joined, members[3].beat(1), members[0].join(), members[3].leave())
    yield "size", (*full, members[0].leave(), members[3].join(), describe_shares(members[0].group))
    for count in (1, 2, 3):
        group = f"share_groups.share-one.{count}"
        many = [ShareMember(group, f"member-{number}") for number in range(count)]
        joined = [step for member in many for step in (member.join(), SETTLE)]
        again = [member.join() for _ in range(2) for member in many]
        yield f"share-one.{count}", (*joined, *again, describe_shares(group), many[0].leave(), *[each.join() for each in many[1:]])


def sessions() -> Scripts:
    """Yields members that expire. Sessions last two and a half seconds."""
    short = {"share_session_timeout_ms": "2500", "share_heartbeat_interval_ms": "100"}
    m, n = ShareMember("share_groups.session"), ShareMember("share_groups.session", "n")
    yield "session", (set_configs(m.group, **short), m.join(), SETTLE, m.beat(2), Pause(3300), m.beat(3), describe_shares(m.group))
    m, n = ShareMember("share_groups.session.two"), ShareMember("share_groups.session.two", "n")
    lives = [step for _ in range(4) for step in (Pause(1000), m.join())]
    yield "session.two", (set_configs(m.group, **short), m.join(), SETTLE, n.join(), *lives, n.beat(3), describe_shares(m.group))
    m = ShareMember("share_groups.session.kept")
    yield (
        "session.kept",
        (set_configs(m.group, **short), m.join(), SETTLE, m.beat(2), *[each for _ in range(4) for each in (Pause(1000), m.beat(3))]),
    )
    m = ShareMember("share_groups.session.refused")
    refused = [each for _ in range(4) for each in (Pause(1000), m.beat(9))]
    yield "session.refused", (set_configs(m.group, **short), m.join(), *refused, describe_shares(m.group), delete_groups(m.group))
    m = ShareMember("share_groups.session.offsets")
    begin = (set_configs(m.group, **short), m.join(TWO.name), SETTLE, m.beat(2))
    expired = (*begin, Pause(3300), share_offsets(m.group), describe_shares(m.group))
    yield "session.offsets", (*expired, delete_groups(m.group), share_offsets(m.group))
    m = ShareMember("share_groups.session.longer")
    yield "session.longer", (m.join(), set_configs(m.group, **short), m.beat(2), Pause(3300), m.beat(2), describe_shares(m.group))


def created(topic: str, m: ShareMember) -> Steps:
    return m.join(topic), m.beat(2), create_topic(topic, 2), m.beat(2), SETTLE, m.beat(3), m.beat(4)


def extended(topic: str, m: ShareMember) -> Steps:
    return create_topic(topic), *began(m, topic), add_partitions(topic, 3), m.beat(3), SETTLE, m.beat(4), m.beat(5)


def deleted(topic: str, m: ShareMember) -> Steps:
    return create_topic(topic), *began(m, topic), delete_topic(topic), m.beat(3), SETTLE, m.beat(4)


def deleted_one_of_two(topic: str, m: ShareMember) -> Steps:
    return create_topic(topic), *began(m, topic, ONE.name), delete_topic(topic), m.beat(3), m.beat(4)


def created_again(topic: str, m: ShareMember) -> Steps:
    begin = create_topic(topic, 2), *began(m, topic), delete_topic(topic), m.beat(3)
    return *begin, create_topic(topic), m.beat(4), SETTLE, m.beat(5)


def deleted_while_empty(topic: str, m: ShareMember) -> Steps:
    return create_topic(topic), *began(m, topic), m.leave(), delete_topic(topic), SETTLE, m.join(topic)


def extended_while_empty(topic: str, m: ShareMember) -> Steps:
    return create_topic(topic), *began(m, topic), m.leave(), add_partitions(topic, 2), m.join(topic)


CHANGES = {
    "created": created,
    "extended": extended,
    "deleted": deleted,
    "deleted-one-of-two": deleted_one_of_two,
    "created-again": created_again,
    "deleted-while-empty": deleted_while_empty,
    "extended-while-empty": extended_while_empty,
}

CONFIGS = {
    "heartbeat": {"share_heartbeat_interval_ms": "777"},
    "heartbeat-low": {"share_heartbeat_interval_ms": "49"},
    "heartbeat-high": {"share_heartbeat_interval_ms": "15001"},
    "heartbeat-zero": {"share_heartbeat_interval_ms": "0"},
    "session": {"share_session_timeout_ms": "50000"},
    "session-low": {"share_session_timeout_ms": "99"},
    "session-high": {"share_session_timeout_ms": "60001"},
    "session-heartbeat": {"share_session_timeout_ms": "200", "share_heartbeat_interval_ms": "200"},
    "session-below-heartbeat": {"share_session_timeout_ms": "4000"},
    "lock": {"share_record_lock_duration_ms": "15000"},
    "lock-low": {"share_record_lock_duration_ms": "14999"},
    "lock-high": {"share_record_lock_duration_ms": "60001"},
    "limit": {"share_delivery_count_limit": "2"},
    "limit-low": {"share_delivery_count_limit": "1"},
    "limit-high": {"share_delivery_count_limit": "11"},
    "locks": {"share_partition_max_record_locks": "100"},
    "locks-low": {"share_partition_max_record_locks": "99"},
    "locks-high": {"share_partition_max_record_locks": "4001"},
    "reset": {"share_auto_offset_reset": "earliest"},
    "reset-duration": {"share_auto_offset_reset": "by_duration:PT1H"},
    "reset-wrong": {"share_auto_offset_reset": "none"},
    "reset-negative": {"share_auto_offset_reset": "by_duration:-PT1H"},
    "isolation": {"share_isolation_level": "read_committed"},
    "isolation-wrong": {"share_isolation_level": "READ_COMMITTED"},
    "renew": {"share_renew_acknowledge_enable": "false"},
    "renew-wrong": {"share_renew_acknowledge_enable": "no"},
    "interval": {"share_assignment_interval_ms": "15000"},
    "interval-high": {"share_assignment_interval_ms": "15001"},
    "interval-negative": {"share_assignment_interval_ms": "-1"},
    "unknown": {"share_unknown": "1"},
    "offload": {"share_assignor_offload_enable": "true"},
}


def configs() -> Scripts:
    for name, values in CONFIGS.items():
        m = ShareMember(f"share_groups.config.{name}")
        yield f"config.{name}", (set_configs(m.group, **values), m.join(), SETTLE, m.beat(2), m.beat(3))
    m, n = ShareMember("share_groups.config.waits"), ShareMember("share_groups.config.waits", "n")
    waits = (set_configs(m.group, share_assignment_interval_ms="1500"), m.join(), SETTLE, m.beat(2), n.join(), n.beat(2), m.beat(2))
    yield "config.waits", (*waits, describe_shares(m.group), Pause(1600), m.beat(2), n.beat(2), describe_shares(m.group))


def changing_topics() -> Iterator[Case]:
    """Yields scripts that create, extend and delete topics. Each has a topic of its own."""
    for name, make in CHANGES.items():
        m = ShareMember(f"share_groups.topic.{name}")
        topic = f"share-topic-{name}"
        shown = (SETTLE, describe_shares(m.group), share_offsets(m.group), delete_groups(m.group), m.join(topic), SETTLE, m.join(topic))
        last: tuple[Send, ...] = (m.leave(), delete_groups(m.group), share_offsets(m.group))
        yield Case(f"share_groups.topic.{name}", (ONE, Topic(f"{topic}-unused")), (*make(topic, m), *shown, *last))


def began(m: ShareMember, *topics: str) -> tuple[Step, ...]:
    return m.join(*topics), SETTLE, m.beat(2)
