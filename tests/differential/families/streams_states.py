"""Every request to a streams group in every state of the group, and the requests of streams members to groups of other kinds."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence

from odradek.protocol.messages.txn_offset_commit import (
    TXN_OFFSET_COMMIT,
    TxnOffsetCommitRequest,
    TxnOffsetCommitRequestPartition,
    TxnOffsetCommitRequestTopic,
)

from ..case import Case, Send, Step
from ..group_requests import TOPICS as OTHER_TOPICS
from ..group_requests import (
    ClassicMember,
    ConsumerMember,
    commit,
    delete_groups,
    delete_offsets,
    describe,
    describe_consumers,
    fetch_offsets,
)
from ..streams_requests import (
    CREATED,
    NO_TASKS,
    ONE,
    TOPICS,
    TWO,
    StreamsMember,
    counting,
    describe_streams,
    part,
    topology,
)
from .consumer_groups import set_configs
from .group_states import STATES as OTHER_STATES
from .streams_groups import SETTINGS, SETTLED

__all__ = ["SETTINGS", "cases"]

ALL_TOPICS = (*TOPICS, *OTHER_TOPICS)
READS_LATER = topology(part("0", ONE.name), epoch=1)


def cases() -> Iterator[Case]:
    for state, reach in STATES.items():
        for name, probe in PROBES.items():
            group = f"streams_states.{state}.{name}"
            steps = (*probe(group), describe_streams(group), describe(group), describe_consumers(group))
            yield Case(group, ALL_TOPICS, steps, reach(group))
    for state, other in OTHER_STATES.items():
        group = f"streams_states.other.{state}"
        m = StreamsMember(group, "s")
        steps = (m.beat(1), m.leave(), describe_streams(group), m.join(), m.beat(2), m.leave(), describe(group))
        yield Case(group, ALL_TOPICS, steps, other(group).steps)


# States


def missing(group: str) -> tuple[Step, ...]:
    return ()


def without_source(group: str) -> tuple[Step, ...]:
    return (StreamsMember(group, "m").join(topology(part("0", f"{group}-none"))),)


def creating(group: str) -> tuple[Step, ...]:
    wrong = counting(group)
    wrong.subtopologies[1].state_changelog_topics[0].replication_factor = 9
    return StreamsMember(group, "m").join(wrong), CREATED


def stable(group: str) -> tuple[Step, ...]:
    m = StreamsMember(group, "m")
    return m.join(), m.beat(2), m.commit(2)


def counting_words(group: str) -> tuple[Step, ...]:
    m = StreamsMember(group, "m")
    return m.join(counting(group)), CREATED, m.beat(2), m.beat(3)


def reconciling(group: str) -> tuple[Step, ...]:
    m, n = StreamsMember(group, "m"), StreamsMember(group, "n")
    return *stable(group), n.join(), m.beat(2)


def unreleased(group: str) -> tuple[Step, ...]:
    return *reconciling(group), StreamsMember(group, "m").beat(2, active={"0": [0]})


def assigning(group: str) -> tuple[Step, ...]:
    n = StreamsMember(group, "n")
    return set_configs(group, **{"streams.assignment.interval.ms": "15000"}), SETTLED, *stable(group), n.join()


def delayed(group: str) -> tuple[Step, ...]:
    m = StreamsMember(group, "m")
    return set_configs(group, **{"streams.initial.rebalance.delay.ms": "60000"}), SETTLED, m.join(), m.beat(1)


def emptied(group: str) -> tuple[Step, ...]:
    return *stable(group), StreamsMember(group, "m").leave()


def deleted(group: str) -> tuple[Step, ...]:
    return *emptied(group), delete_groups(group)


STATES: dict[str, Callable[[str], tuple[Step, ...]]] = {
    "missing": missing,
    "without-source": without_source,
    "creating": creating,
    "stable": stable,
    "counting": counting_words,
    "reconciling": reconciling,
    "unreleased": unreleased,
    "assigning": assigning,
    "delayed": delayed,
    "emptied": emptied,
    "deleted": deleted,
}

# Requests

Probe = Callable[[str], tuple[Step, ...]]


def commit_in_transaction(group: str, member: str = "", epoch: int = -1, instance: str | None = None) -> Send:
    offsets = [TxnOffsetCommitRequestPartition(partition_index=0, committed_offset=7, committed_metadata="")]
    request = TxnOffsetCommitRequest(
        transactional_id="t",
        group_id=group,
        producer_id=1,
        producer_epoch=0,
        generation_id=epoch,
        member_id=member,
        group_instance_id=instance,
        topics=[TxnOffsetCommitRequestTopic(name=ONE.name, partitions=offsets)],
    )
    return Send(TXN_OFFSET_COMMIT, 3, request)


def streams(action: Callable[[StreamsMember], Send], name: str = "m") -> Probe:
    return lambda group: (action(StreamsMember(group, name)),)


def beat(epoch: int, active: Mapping[str, Sequence[int]] | None = None) -> Probe:
    return streams(lambda m: m.beat(epoch, active=active))


def commit_by_member(epoch: int) -> Probe:
    return lambda group: (StreamsMember(group, "m").commit(epoch, {ONE.name: {0: 5, 1: 5}}), fetch_offsets(group))


def commit_by_transaction(epoch: int) -> Probe:
    return lambda group: (commit_in_transaction(group, "m", epoch), fetch_offsets(group))


def fetch(epoch: int) -> Probe:
    return lambda group: (fetch_offsets(group, member="m", epoch=epoch),)


BEATS: dict[str, Probe] = {
    "join": streams(lambda m: m.join()),
    "join.other": streams(lambda n: n.join(), "o"),
    "join.other-topology": streams(lambda n: n.join(topology(part("0", TWO.name))), "o"),
    "join.later-topology": streams(lambda n: n.join(READS_LATER), "o"),
    "join.nothing": streams(lambda n: n.join(topology()), "o"),
    **{f"beat.{epoch}": beat(epoch) for epoch in (-2, -1, 0, 1, 2, 3, 4, 99)},
    **{f"beat.{epoch}.nothing": beat(epoch, NO_TASKS) for epoch in (1, 2, 3)},
    **{f"beat.{epoch}.one": beat(epoch, {"0": [0]}) for epoch in (1, 2, 3)},
    "beat.rack": streams(lambda m: m.beat(2, rack_id="r")),
    "beat.shutdown": streams(lambda m: m.beat(2, shutdown_application=True)),
    "beat.unknown": streams(lambda m: m.beat(2), "x"),
    "beat.other-task": streams(lambda m: m.beat(2, active={"7": [0]})),
    "leave.shutdown": streams(lambda m: m.leave(shutdown_application=True)),
    "leave.unknown": streams(lambda m: m.leave(), "x"),
}

OTHERS: dict[str, Probe] = {
    "classic.join": lambda group: (ClassicMember(group, "a").join(""),),
    "classic.join.v3": lambda group: (ClassicMember(group, "a").join("", version=3),),
    "classic.join.known": lambda group: (ClassicMember(group, "a").join("m"),),
    "classic.sync": lambda group: (ClassicMember(group, "m").sync(2, member_id="m"),),
    "classic.heartbeat": lambda group: (ClassicMember(group, "m").heartbeat(2, member_id="m"),),
    "classic.leave": lambda group: (ClassicMember(group, "m").leave()._replace(connection="l"),),
    "consumer.join": lambda group: (ConsumerMember(group, "c").join(),),
    "consumer.beat": lambda group: (ConsumerMember(group, "m").beat(2),),
    "consumer.leave": lambda group: (ConsumerMember(group, "m").leave(),),
    "delete": lambda group: (delete_groups(group),),
    "delete-offsets": lambda group: (delete_offsets(group, {ONE.name: [0], TWO.name: [0]}), fetch_offsets(group)),
    "describe": lambda group: (describe_streams(group, operations=True), describe(group, version=5)),
}

OFFSETS: dict[str, Probe] = {
    "commit": lambda group: (commit(group, {ONE.name: {0: 5}}), fetch_offsets(group)),
    **{f"commit.{epoch}": commit_by_member(epoch) for epoch in (-1, 0, 1, 2, 3, 4)},
    "commit.v8": lambda group: (StreamsMember(group, "m").commit(2, version=8),),
    "commit.unknown": lambda group: (StreamsMember(group, "x").commit(2),),
    **{f"transaction.{epoch}": commit_by_transaction(epoch) for epoch in (-1, 1, 2, 3)},
    "transaction": lambda group: (commit_in_transaction(group),),
    "transaction.unknown": lambda group: (commit_in_transaction(group, "x", 2),),
    "transaction.instance": lambda group: (commit_in_transaction(group, instance="i"),),
    **{f"fetch.{epoch}": fetch(epoch) for epoch in (-1, 1, 2, 3)},
    "fetch.unknown": lambda group: (fetch_offsets(group, member="x", epoch=2),),
}

PROBES = {**BEATS, **OTHERS, **OFFSETS}
