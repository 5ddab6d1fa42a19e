"""Committed offsets in every version: commit, fetch, deletion, and offsets in open transactions."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from odradek.protocol.messages.add_offsets_to_txn import ADD_OFFSETS_TO_TXN, AddOffsetsToTxnRequest
from odradek.protocol.messages.end_txn import END_TXN, EndTxnRequest
from odradek.protocol.messages.init_producer_id import INIT_PRODUCER_ID, InitProducerIdRequest
from odradek.protocol.messages.offset_commit import OFFSET_COMMIT
from odradek.protocol.messages.offset_fetch import OFFSET_FETCH
from odradek.protocol.messages.txn_offset_commit import (
    TXN_OFFSET_COMMIT,
    TxnOffsetCommitRequest,
    TxnOffsetCommitRequestPartition,
    TxnOffsetCommitRequestTopic,
)

from ..case import Case, Pause, Send, Step, all_versions, number_of
from ..group_requests import ONE, TOPICS, TWO, ClassicMember, commit, delete_groups, delete_offsets, describe, fetch_groups, fetch_offsets


def cases() -> Iterator[Case]:
    for name, steps in (*commits(), *fetches(), *deletes(), *transactions()):
        yield Case(f"group_offsets.{name}", TOPICS, steps)


Scripts = Iterator[tuple[str, tuple[Step, ...]]]
BOTH = {ONE.name: {0: 7, 1: 8}, TWO.name: {1: 9}}
ALL = {ONE.name: [0, 1], TWO.name: [0, 1]}
LAST = (1 << 63) - 1
COMMITS: dict[str, dict[str, Any]] = {
    "plain": {},
    "several": {"offsets": BOTH},
    "nothing": {"offsets": {}},
    "no-partitions": {"offsets": {ONE.name: {}}},
    "unknown-topic": {"offsets": {"unknown": {0: 1}, ONE.name: {0: 1}}},
    "unknown-topic-alone": {"offsets": {"unknown": {0: 1}}},
    "unknown-partition": {"offsets": {ONE.name: {0: 1, 2: 1, -1: 1}}},
    "no-topic": {"offsets": {"": {0: 1}}},
    "offset-0": {"offsets": {ONE.name: {0: 0}}},
    "offset-minus-1": {"offsets": {ONE.name: {0: -1}}},
    "offset-minus-5": {"offsets": {ONE.name: {0: -5}}},
    "offset-last": {"offsets": {ONE.name: {0: LAST}}},
    "leader-epoch": {"leader_epoch": 5},
    "leader-epoch-0": {"leader_epoch": 0},
    "leader-epoch-minus-2": {"leader_epoch": -2},
    "metadata": {"metadata": "m"},
    "metadata-none": {"metadata": None},
    "metadata-longest": {"metadata": "m" * 4096},
    "metadata-too-long": {"metadata": "m" * 4097},
    "metadata-many-bytes": {"metadata": "ü" * 4096},
    "metadata-surrogates": {"metadata": "😀" * 2049},
    "member": {"member": "unknown"},
    "member-generation": {"member": "unknown", "epoch": 1},
    "generation": {"epoch": 1},
    "generation-0": {"epoch": 0},
    "generation-minus-2": {"epoch": -2},
    "instance": {"instance": "i"},
    "instance-generation": {"instance": "i", "epoch": 1, "member": "m"},
    "retention": {"retention_ms": 100_000},
    "retention-0": {"retention_ms": 0},
    "retention-minus-2": {"retention_ms": -2},
}


def commits() -> Scripts:
    for version in all_versions(OFFSET_COMMIT):
        for name, options in COMMITS.items():
            if not (name.startswith("retention") and version > 4):
                group = f"group_offsets.commit.v{version}.{name}"
                yield f"commit.v{version}.{name}", (commit(group, version=version, **options), fetch_offsets(group, version=9))
    group = "group_offsets.commit.again"
    again = tuple(commit(group, {ONE.name: {0: offset}}, metadata=str(offset)) for offset in (5, 3, 9))
    yield "commit.again", (*again, commit(group, {ONE.name: {1: 4}}), fetch_offsets(group, version=9), describe(group))
    for name, group in (("empty", ""), ("space", " ")):
        steps = (commit(group, version=version) for version in all_versions(OFFSET_COMMIT))
        yield f"commit.group.{name}", (*steps, fetch_offsets(group), delete_offsets(group, ALL), delete_groups(group), fetch_offsets(group))
    a = ClassicMember("group_offsets.commit.emptied", "a")
    emptied = (
        *a.enter(),
        a.sync(1),
        a.commit(1),
        a.leave(),
        fetch_offsets(a.group),
        commit(a.group),
        a.commit(1),
        a.commit(2),
        a.commit(-1),
    )
    yield "commit.emptied", (*emptied, fetch_offsets(a.group), delete_groups(a.group), fetch_offsets(a.group))


def fetches() -> Scripts:
    for version in all_versions(OFFSET_FETCH):
        group = f"group_offsets.fetch.v{version}"
        made = commit(group, BOTH, leader_epoch=3, metadata="m")
        wanted: dict[str, Any] = {
            "all": None,
            "named": ALL,
            "one": {ONE.name: [1]},
            "nothing": {},
            "no-partitions": {ONE.name: []},
            "unknown": {"unknown": [0], ONE.name: [0, 7, -1]},
            "no-name": {"": [0]},
            "twice": {ONE.name: [0, 0]},
        }
        for name, partitions in wanted.items():
            if partitions is not None or version >= 2:
                requests = tuple(fetch_offsets(each, partitions, version=version) for each in (group, group + ".none", ""))
                yield f"fetch.v{version}.{name}", (made, *requests)
    for version in range(8, OFFSET_FETCH.versions.last + 1):
        one, two = f"group_offsets.groups.v{version}.one", f"group_offsets.groups.v{version}.two"
        both = (commit(one, BOTH), commit(two, {TWO.name: {0: 5}}))
        yield f"groups.v{version}", (*both, fetch_groups({one: None, two: ALL, "none": ALL, "other": None, "": None}, version=version))
        yield f"groups.v{version}.none", (fetch_groups({}, version=version),)
        yield f"groups.v{version}.stable", (*both, fetch_groups({one: None, two: ALL}, version=version, stable=True))
    for version in (7, 8, 9):
        group = f"group_offsets.stable.v{version}"
        yield (
            f"stable.v{version}",
            (commit(group, BOTH), fetch_offsets(group, version=version, stable=True), fetch_offsets(group, ALL, stable=True)),
        )
    for member, epoch in ((None, -1), ("", -1), ("m", -1), ("m", 0), ("m", 5), ("", 0)):
        group = f"group_offsets.member.{member}.{epoch}"
        fetched = fetch_offsets(group, member=member, epoch=epoch)
        yield (
            f"member.{member}.{epoch}",
            (fetched, commit(group), fetched, fetch_offsets(group, ALL, member=member, epoch=epoch, version=10)),
        )


def deletes() -> Scripts:
    group = "group_offsets.delete"
    deleted: list[dict[str, list[int]]] = [{}, {ONE.name: []}, {ONE.name: [0, 0, 5, -1], "unknown": [0]}, ALL]
    requests = tuple(delete_offsets(group, partitions) for partitions in deleted)
    yield (
        "delete",
        (delete_offsets(group, ALL), commit(group, BOTH), *requests, fetch_offsets(group), describe(group), delete_groups(group)),
    )
    a = ClassicMember("group_offsets.delete.subscribed", "a")
    subscribed = (*a.enter(), a.commit(1), a.sync(1), a.commit(1, offsets=BOTH), delete_offsets(a.group, ALL), fetch_offsets(a.group))
    yield "delete.subscribed", (*subscribed, delete_groups(a.group), a.leave(), delete_offsets(a.group, ALL), fetch_offsets(a.group))
    a = ClassicMember("group_offsets.delete.other-type", "a")
    other = (*a.enter(kind="connect"), a.sync(1, kind="connect"), a.commit(1, offsets=BOTH), delete_offsets(a.group, ALL))
    yield "delete.other-type", (*other, a.leave(), delete_offsets(a.group, ALL), fetch_offsets(a.group))
    a = ClassicMember("group_offsets.delete.not-a-subscription", "a")
    garbage = (*a.enter(protocols={"range": b"?"}), a.sync(1), a.commit(1, offsets=BOTH), delete_offsets(a.group, ALL))
    yield "delete.not-a-subscription", (*garbage, fetch_offsets(a.group))
    a = ClassicMember("group_offsets.delete.pending", "a")
    yield "delete.pending", (commit(a.group), a.join(""), delete_offsets(a.group, ALL), delete_groups(a.group), a.join())


def transactions() -> Scripts:
    """Yields scripts in which a producer commits offsets of a consumer (KIP-98, KIP-447)."""
    for version in (2, 3, 4):
        for committed in (True, False):
            group = f"group_offsets.transaction.v{version}.{committed}"
            seen = (fetch_offsets(group, ALL), fetch_offsets(group, ALL, stable=True), fetch_offsets(group, stable=True))
            sent = (txn_commit(group, BOTH, version=version), *seen, commit(group, {ONE.name: {0: 1}}), *seen, delete_groups(group))
            yield (
                f"transaction.v{version}.{committed}",
                (*begun(group), commit(group, {ONE.name: {0: 3}}), *sent, end(group, committed), Pause(100), *seen),
            )
    for name, options in TXN_COMMITS.items():
        a = ClassicMember(f"group_offsets.transaction.{name}", "a")
        joined = (*a.enter(), a.sync(1), txn_commit(a.group, {ONE.name: {0: 1}}, **options))
        yield f"transaction.{name}", (*begun(a.group), *joined, end(a.group, True), Pause(100), fetch_offsets(a.group))
    group = "group_offsets.transaction.deleted"
    offsets = {ONE.name: {0: 1}}
    deleted = (txn_commit(group, offsets), delete_offsets(group, ALL), end(group, True), Pause(100), fetch_offsets(group))
    yield "transaction.deleted", (*begun(group), *deleted)


TXN_COMMITS: dict[str, dict[str, Any]] = {
    "member": {"member": "$a", "epoch": 1},
    "no-member": {},
    "generation-alone": {"epoch": 1},
    "wrong-generation": {"member": "$a", "epoch": 2},
    "unknown-member": {"member": "x", "epoch": 1},
    "no-generation": {"member": "$a"},
    "wrong-instance": {"member": "$a", "epoch": 1, "instance": "i"},
}


def begun(group: str) -> tuple[Step, ...]:
    """Returns the steps that begin a transaction of a producer with the name of the group."""
    request = InitProducerIdRequest(transactional_id=group, transaction_timeout_ms=60_000)
    added = AddOffsetsToTxnRequest(transactional_id=group, producer_id=number_of("p"), producer_epoch=0, group_id=group)
    return (
        Send(INIT_PRODUCER_ID, 4, request, binds={"p": "producer_id"}),
        Send(ADD_OFFSETS_TO_TXN, 3, added),
    )


def txn_commit(
    group: str, offsets: dict[str, dict[int, int]], *, version: int = 3, member: str = "", epoch: int = -1, instance: str | None = None
) -> Send:
    topics = [
        TxnOffsetCommitRequestTopic(
            name=name,
            partitions=[
                TxnOffsetCommitRequestPartition(partition_index=index, committed_offset=offset, committed_metadata="")
                for index, offset in partitions.items()
            ],
        )
        for name, partitions in offsets.items()
    ]
    request = TxnOffsetCommitRequest(
        transactional_id=group,
        group_id=group,
        producer_id=number_of("p"),
        producer_epoch=0,
        generation_id=epoch,
        member_id=member,
        group_instance_id=instance,
        topics=topics,
    )
    return Send(TXN_OFFSET_COMMIT, version, request)


def end(group: str, committed: bool) -> Send:
    return Send(END_TXN, 3, EndTxnRequest(transactional_id=group, producer_id=number_of("p"), producer_epoch=0, committed=committed))
