"""AlterShareGroupOffsets, DescribeShareGroupOffsets and DeleteShareGroupOffsets on share groups in every state, and DeleteGroups.

Deleted topics and their states are in the family `share_groups`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from ..case import Case, Pause, Receive, Send, Step
from ..group_requests import delete_groups, list_groups
from ..requests import batch_of, produce
from ..share_group_requests import (
    FOUR,
    ONE,
    SETTINGS,
    SETTLE,
    TOPICS,
    TWO,
    ShareMember,
    alter_share,
    delete_share,
    describe_shares,
    share_offsets,
    share_offsets_of_groups,
)

__all__ = ["SETTINGS", "cases"]

Steps = tuple[Step, ...]
Scripts = Iterator[tuple[str, Steps]]
LONG = 1 << 62


def cases() -> Iterator[Case]:
    m = ShareMember("share_group_offsets.first")
    yield Case("share_group_offsets.first", TOPICS, (m.join(), Pause(3000), m.beat(2)))
    # The first lag takes Apache Kafka seconds, because the coordinator connects to the leader of the partition for it.
    for topic in TOPICS:
        group = f"share_group_offsets.first.{topic.name}"
        slow = share_offsets(group)._replace(connection="slow", waits=True)
        opened = alter_share(group, {topic.name: dict.fromkeys(range(len(topic.replicas)), 0)}), SETTLE, slow, Pause(4000), Receive("slow")
        yield Case(group, TOPICS, (), opened)
    for make in (altered, deleted, described, groups_deleted, lags, sequences):
        for name, steps in make():
            yield Case(f"share_group_offsets.{name}", TOPICS, steps)


def missing(group: str) -> Steps:
    return ()


def altered_only(group: str) -> Steps:
    return alter_share(group, {ONE.name: {0: 3}}), SETTLE


def left(group: str) -> Steps:
    m = ShareMember(group)
    return m.join(ONE.name, TWO.name), SETTLE, m.beat(2), m.leave()


def joined(group: str) -> Steps:
    m = ShareMember(group)
    return m.join(ONE.name, TWO.name), SETTLE, m.beat(2)


def unread(group: str) -> Steps:
    """Returns a group whose only member reads a topic that does not exist."""
    m = ShareMember(group)
    return m.join("nowhere"), m.leave()


def offsets_deleted(group: str) -> Steps:
    return *left(group), delete_share(group, ONE.name), SETTLE


STATES = {
    "missing": missing,
    "altered": altered_only,
    "left": left,
    "joined": joined,
    "unread": unread,
    "offsets-deleted": offsets_deleted,
}
OFFSETS: dict[str, Mapping[str, Mapping[int, int]]] = {
    "one": {ONE.name: {0: 1}},
    "several": {ONE.name: {0: 7}, TWO.name: {0: 1, 1: 2}, FOUR.name: {3: 9}},
    "zero": {ONE.name: {0: 0}},
    "minus-1": {ONE.name: {0: -1}},
    "minus-2": {ONE.name: {0: -2}},
    "huge": {ONE.name: {0: LONG}},
    "unknown-partition": {ONE.name: {1: 1}},
    "one-unknown-partition": {TWO.name: {0: 5, 2: 5}},
    "unknown-topic": {"nowhere": {0: 1, 1: 2}},
    "known-and-unknown": {"nowhere": {0: 1}, ONE.name: {0: 4}},
    "nothing": {},
    "no-partitions": {TWO.name: {}},
}
TOPIC_LISTS: dict[str, tuple[str, ...]] = {
    "one": (ONE.name,),
    "two": (ONE.name, TWO.name),
    "unknown": ("nowhere",),
    "known-and-unknown": ("nowhere", ONE.name),
    "not-read": (FOUR.name,),
    "read-and-not-read": (FOUR.name, TWO.name),
    "nothing": (),
    "twice": (ONE.name, ONE.name),
    "empty": ("",),
}


def after(group: str) -> Steps:
    """Returns requests that show the state of a group."""
    return SETTLE, share_offsets(group), describe_shares(group), ShareMember(group, "after").join(ONE.name), SETTLE, share_offsets(group)


def altered() -> Scripts:
    for state, reach in STATES.items():
        for name, offsets in OFFSETS.items():
            group = f"share_group_offsets.alter.{state}.{name}"
            yield f"alter.{state}.{name}", (*reach(group), alter_share(group, offsets), *after(group))
    yield "alter.no-group", (alter_share("", {ONE.name: {0: 1}}), alter_share("", {}))
    elsewhere = alter_share("share_group_offsets.elsewhere", {ONE.name: {0: 1}}, node=2), alter_share("g", {}, node=2)
    yield "alter.elsewhere", elsewhere


def deleted() -> Scripts:
    for state, reach in STATES.items():
        for name, topics in TOPIC_LISTS.items():
            group = f"share_group_offsets.delete.{state}.{name}"
            yield f"delete.{state}.{name}", (*reach(group), delete_share(group, *topics), *after(group))
    yield "delete.no-group", (delete_share("", ONE.name), delete_share(""))
    yield "delete.elsewhere", (delete_share("share_group_offsets.elsewhere", ONE.name, node=2), delete_share("g", node=2))


def described() -> Scripts:
    """Yields descriptions. Partitions that do not exist are left out, because Apache Kafka takes half a minute to answer for these."""
    wanted: dict[str, Mapping[str, list[int]]] = {
        "one": {ONE.name: [0]},
        "all": {ONE.name: [0], TWO.name: [0, 1]},
        "not-read": {FOUR.name: [0]},
        "unknown-topic": {"nowhere": [0], ONE.name: [0]},
        "no-partitions": {ONE.name: []},
        "nothing": {},
    }
    for state, reach in STATES.items():
        group = f"share_group_offsets.describe.{state}"
        shown: list[Send] = [share_offsets(group, topics, version=version) for topics in wanted.values() for version in (0, 1)]
        yield f"describe.{state}", (*reach(group), *shown, share_offsets(group, version=0), share_offsets(group))
    group = "share_group_offsets.describe.elsewhere"
    others = share_offsets(group, {ONE.name: [0]}, node=2), share_offsets(group, node=2), share_offsets("", node=1)
    yield "describe.elsewhere", (*left(group), *others, share_offsets("", {ONE.name: [0]}))
    asked: tuple[list[str] | None, ...] = (None, [])
    several = [{"group_id": each, "topics": topics} for each in (group, "none", "", group) for topics in asked]
    yield "describe.several", (share_offsets_of_groups(*several), share_offsets_of_groups())


def groups_deleted() -> Scripts:
    for state, reach in STATES.items():
        group = f"share_group_offsets.drop.{state}"
        dropped = delete_groups(group), describe_shares(group), share_offsets(group), share_offsets(group, {ONE.name: [0]})
        yield f"drop.{state}", (*reach(group), *dropped, delete_groups(group, group), *after(group))
    groups = [f"share_group_offsets.drop.several.{state}" for state in STATES]
    begin = [step for group, reach in zip(groups, STATES.values(), strict=True) for step in reach(group)]
    yield "drop.several", (*begin, delete_groups(*groups), *map(describe_shares, groups), delete_groups(*groups))


def lags() -> Scripts:
    """Yields groups whose start offsets are set before and after records are appended."""
    for number, offset in enumerate((0, 2, 5, 100, -1)):
        group = f"share_group_offsets.lag.{number}"
        begin = alter_share(group, {ONE.name: {0: offset}}), SETTLE, share_offsets(group), produce(ONE.name, batch_of(b"a", b"b"))
        yield f"lag.{number}", (*begin, share_offsets(group), share_offsets(group, version=0), share_offsets(group, {ONE.name: [0]}))


def sequences() -> Scripts:
    group = "share_group_offsets.again"
    m = ShareMember(group)
    twice = alter_share(group, {ONE.name: {0: 5}}), SETTLE, alter_share(group, {ONE.name: {0: 2}}), SETTLE, share_offsets(group)
    begin = (*twice, m.join(), SETTLE, m.join(), share_offsets(group), m.leave())
    yield "again", (*begin, alter_share(group, {ONE.name: {0: 9}}), SETTLE, share_offsets(group), m.join(), m.join(), share_offsets(group))
    group = "share_group_offsets.deleted-again"
    m = ShareMember(group)
    gone = (m.join(TWO.name), SETTLE, m.join(TWO.name), m.leave(), delete_share(group, TWO.name), SETTLE, delete_share(group, TWO.name))
    yield "deleted-again", (*gone, m.join(TWO.name), SETTLE, m.join(TWO.name), share_offsets(group), describe_shares(group))
    group = "share_group_offsets.listed"
    yield (
        "listed",
        (alter_share(group, {ONE.name: {0: 5}}), SETTLE, describe_shares(group), delete_groups(group), list_groups(["nonsense"])),
    )
