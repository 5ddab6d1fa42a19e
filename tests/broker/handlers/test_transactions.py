"""InitProducerId, AddPartitionsToTxn, AddOffsetsToTxn, TxnOffsetCommit, EndTxn, and the timeout of transactions."""

from __future__ import annotations

from typing import Any

import pytest

from odradek.protocol.batches.records import RecordBatch
from odradek.protocol.errors import ErrorCode
from odradek.protocol.messages.add_offsets_to_txn import ADD_OFFSETS_TO_TXN, AddOffsetsToTxnRequest
from odradek.protocol.messages.add_partitions_to_txn import (
    ADD_PARTITIONS_TO_TXN,
    AddPartitionsToTxnRequest,
    AddPartitionsToTxnTopic,
    AddPartitionsToTxnTransaction,
)
from odradek.protocol.messages.end_txn import END_TXN, EndTxnRequest
from odradek.protocol.messages.init_producer_id import INIT_PRODUCER_ID, InitProducerIdRequest
from odradek.protocol.messages.txn_offset_commit import (
    TXN_OFFSET_COMMIT,
    TxnOffsetCommitRequest,
    TxnOffsetCommitRequestPartition,
    TxnOffsetCommitRequestTopic,
)
from tests.broker.harness import START_MS, World
from tests.broker.transactions.producer import OFFSETS, STATE, Producer, wrong_node
from tests.broker.transactions.reading import fetch, read_committed


@pytest.fixture
def world() -> World:
    return World().with_topic("t", 2)


def init(world: World, **options: Any) -> Any:
    request = InitProducerIdRequest(**({"transactional_id": None, "transaction_timeout_ms": 1000} | options))
    return world.client().call(INIT_PRODUCER_ID, 5, request)


def test_init_producer_id_idempotent_returns_new_id(world: World) -> None:
    responses = [init(world) for _ in range(3)]
    assert [(response.error_code, response.producer_epoch) for response in responses] == [(0, 0)] * 3
    assert len({response.producer_id for response in responses}) == 3


def test_init_producer_id_invalid_returns_error(world: World) -> None:
    for options, code in (
        ({"transactional_id": ""}, ErrorCode.INVALID_REQUEST),
        ({"transactional_id": "t"}, ErrorCode.NOT_COORDINATOR),
        ({"transactional_id": "t", "transaction_timeout_ms": 900_001}, ErrorCode.INVALID_TRANSACTION_TIMEOUT),
        ({"producer_id": 1}, ErrorCode.INVALID_REQUEST),
        ({"producer_epoch": 1}, ErrorCode.INVALID_REQUEST),
    ):
        response = init(world, **options)
        assert (response.error_code, response.producer_id, response.producer_epoch) == (code, -1, -1)


@pytest.mark.parametrize("version", range(6))
def test_init_producer_id_again_raises_epoch(world: World, version: int) -> None:
    producer = Producer(world)
    answer = producer.init(version)
    assert (answer.error_code, answer.producer_id, answer.producer_epoch) == (0, producer.id, 1)


@pytest.mark.parametrize("version", [3, 4, 5])
def test_init_producer_id_fenced_returns_error_of_version(world: World, version: int) -> None:
    producer = Producer(world)
    answer = producer.init(version, producer_id=producer.id, producer_epoch=7)
    expected = ErrorCode.PRODUCER_FENCED if version >= 4 else ErrorCode.INVALID_PRODUCER_EPOCH
    assert (answer.error_code, answer.producer_id, answer.producer_epoch) == (expected, -1, -1)


def test_init_producer_id_as_current_producer_raises_epoch(world: World) -> None:
    producer = Producer(world)
    for _ in range(2):  # The second request is a retry, as after a lost response.
        answer = producer.init(5, producer_id=producer.id, producer_epoch=0)
        assert (answer.error_code, answer.producer_epoch) == (0, 1)


@pytest.mark.parametrize("timeout_ms", [0, -1, 900_001])
def test_init_producer_id_invalid_timeout_returns_error(world: World, timeout_ms: int) -> None:
    assert Producer(world).init(5, timeout_ms=timeout_ms).error_code == ErrorCode.INVALID_TRANSACTION_TIMEOUT


@pytest.mark.parametrize("version", range(4))
def test_add_partitions_returns_no_error(world: World, version: int) -> None:
    producer = Producer(world)
    assert producer.add(version, {"t": [0, 1]}) == [0, 0]
    fenced = ErrorCode.PRODUCER_FENCED if version >= 2 else ErrorCode.INVALID_PRODUCER_EPOCH
    assert producer.add(version, epoch=9) == [fenced]


def test_add_partitions_unknown_partition_adds_nothing(world: World) -> None:
    producer = Producer(world)
    missing, not_attempted = ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, ErrorCode.OPERATION_NOT_ATTEMPTED
    assert producer.add(3, {"t": [0, 7], "nope": [0]}) == [not_attempted, missing, missing]
    assert producer.write(b"x", version=11) == ErrorCode.TRANSACTION_ABORTABLE


def addition(producer: Producer, indexes: list[int], *, verify_only: bool = False) -> AddPartitionsToTxnTransaction:
    """Returns an entry of AddPartitionsToTxn for partitions of the topic t."""
    return AddPartitionsToTxnTransaction(
        transactional_id=producer.transactional_id,
        producer_id=producer.id,
        producer_epoch=producer.epoch,
        verify_only=verify_only,
        topics=[AddPartitionsToTxnTopic(name="t", partitions=indexes)],
    )


@pytest.mark.parametrize("version", [4, 5])
def test_add_partitions_of_brokers_handles_transactions(version: int) -> None:
    world = World(nodes=1)  # One node coordinates both transactional ids.
    world.cluster.topics.create("t", 2)
    one, two = Producer(world, "one"), Producer(world, "two")

    def add(*entries: tuple[Producer, bool, list[int]]) -> dict[str, list[int]]:
        transactions = [addition(producer, indexes, verify_only=verify_only) for producer, verify_only, indexes in entries]
        answer = one.coordinator().call(ADD_PARTITIONS_TO_TXN, version, AddPartitionsToTxnRequest(transactions=transactions))
        return {
            each.transactional_id: [part.partition_error_code for topic in each.topic_results for part in topic.results_by_partition]
            for each in answer.results_by_transaction
        }

    abortable = ErrorCode.TRANSACTION_ABORTABLE
    assert add((one, False, [0]), (two, True, [0, 1])) == {"one": [0], "two": [abortable, abortable]}
    assert add((one, True, [0, 1]), (two, False, [8])) == {"one": [0, abortable], "two": [ErrorCode.UNKNOWN_TOPIC_OR_PARTITION]}


def test_add_partitions_of_one_transaction_writes_once() -> None:
    world = World(nodes=1)
    world.cluster.topics.create("t", 50)
    producer = Producer(world, "one")
    entries = [addition(producer, [index]) for index in (*range(50), 99)]
    partition = world.cluster.coordinator_log.partition(producer.transactional_id, STATE)
    assert partition is not None
    before = partition.log.end_offset
    answer = producer.coordinator().call(ADD_PARTITIONS_TO_TXN, 5, AddPartitionsToTxnRequest(transactions=entries))
    errors = [each.topic_results[0].results_by_partition[0].partition_error_code for each in answer.results_by_transaction]
    assert errors == [0] * 50 + [ErrorCode.UNKNOWN_TOPIC_OR_PARTITION]
    assert partition.log.end_offset == before + 1


@pytest.mark.parametrize("version", range(5))
def test_add_offsets_adds_partition_of_group(world: World, version: int) -> None:
    producer = Producer(world)
    assert producer.add_offsets(version) == 0
    fenced = ErrorCode.PRODUCER_FENCED if version >= 2 else ErrorCode.INVALID_PRODUCER_EPOCH
    assert producer.add_offsets(version, epoch=9) == fenced


@pytest.mark.parametrize("version", range(6))
@pytest.mark.parametrize("commit", [True, False])
def test_end_txn_writes_marker(world: World, version: int, commit: bool) -> None:
    producer = Producer(world)
    producer_id = producer.id
    assert producer.write(b"x") == 0
    answer = producer.end(commit, version)
    assert (answer.error_code, answer.producer_id, answer.producer_epoch) == (0, *((producer_id, 1) if version >= 5 else (-1, -1)))
    assert read_committed(world, "t", 0) == ([b"x"] if commit else [], 2)
    (_, marker) = [RecordBatch(view) for view in world.cluster.topics["t"].partitions[0].log.batches(0, 2)]
    header = marker.header
    assert (header.producer_id, header.producer_epoch, header.base_sequence) == (producer_id, int(version >= 5), -1)
    assert (header.attributes, header.max_timestamp, header.partition_leader_epoch) == (0x30, START_MS, 0)
    (record,) = marker.records()
    assert (record.key, record.value) == (b"\0\0\0" + bytes([commit]), bytes(6))
    assert marker.crc_valid()


@pytest.mark.parametrize("version", range(6))
def test_end_txn_without_transaction_returns_error(world: World, version: int) -> None:
    producer = Producer(world)
    fenced = ErrorCode.PRODUCER_FENCED if version >= 2 else ErrorCode.INVALID_PRODUCER_EPOCH
    for commit, epoch, code in ((True, 0, ErrorCode.INVALID_TXN_STATE), (True, 5, fenced)):
        answer = producer.end(commit, version, epoch)
        assert (answer.error_code, answer.producer_id, answer.producer_epoch) == (code, -1, -1)


def test_apis_on_wrong_node_return_not_coordinator(world: World) -> None:
    producer = Producer(world)
    other = wrong_node(world, "x", STATE)
    init = InitProducerIdRequest(transactional_id="x", transaction_timeout_ms=1)
    assert other.call(INIT_PRODUCER_ID, 5, init).error_code == ErrorCode.NOT_COORDINATOR
    end = EndTxnRequest(transactional_id="x", producer_id=producer.id, producer_epoch=0, committed=True)
    assert other.call(END_TXN, 5, end).error_code == ErrorCode.NOT_COORDINATOR
    offsets = AddOffsetsToTxnRequest(transactional_id="x", producer_id=producer.id, producer_epoch=0, group_id="g")
    assert other.call(ADD_OFFSETS_TO_TXN, 4, offsets).error_code == ErrorCode.NOT_COORDINATOR
    add = AddPartitionsToTxnRequest(
        v3_and_below_transactional_id="x",
        v3_and_below_producer_id=producer.id,
        v3_and_below_topics=[AddPartitionsToTxnTopic(name="t", partitions=[0])],
    )
    answer = other.call(ADD_PARTITIONS_TO_TXN, 3, add)
    assert answer.results_by_topic_v3_and_below[0].results_by_partition[0].partition_error_code == ErrorCode.NOT_COORDINATOR
    end.transactional_id = ""
    assert other.call(END_TXN, 5, end).error_code == ErrorCode.INVALID_REQUEST


def test_end_txn_after_coordinator_moved_commits(world: World) -> None:
    producer = Producer(world)
    assert producer.write(b"x") == 0
    partition = world.cluster.coordinator_log.partition("x", STATE)
    assert partition is not None
    world.cluster.nodes.stop(partition.leader)
    assert producer.end(commit=True).error_code == 0
    assert read_committed(world, "t", 0) == ([b"x"], 2)
    (_, marker) = [RecordBatch(view) for view in world.cluster.topics["t"].partitions[0].log.batches(0, 2)]
    assert next(marker.records()).value == b"\0\0" + partition.leader_epoch.to_bytes(4, "big")


@pytest.mark.parametrize("version", range(6))
@pytest.mark.parametrize("commit", [True, False])
def test_txn_offset_commit_is_visible_after_commit(world: World, version: int, commit: bool) -> None:
    producer = Producer(world)
    if version < 5:
        assert producer.add_offsets() == 0
    assert producer.commit_offset(version) == 0
    unstable = [(-1, ErrorCode.UNSTABLE_OFFSET_COMMIT)]
    assert producer.committed_offset() == unstable
    assert producer.committed_offset(stable=False) == [(-1, 0)]
    assert producer.end(commit).error_code == 0
    assert producer.committed_offset() == [(5 if commit else -1, 0)]
    assert producer.commit_offset(5, 9) == 0
    assert producer.committed_offset(stable=False) == [(5 if commit else -1, 0)]
    assert producer.committed_offset(everything=True) == (unstable if commit else [])


def test_txn_offset_commit_of_several_groups_is_committed(world: World) -> None:
    """The offsets of each group are committed by the marker in the partition of its coordinator."""
    producer = Producer(world)
    groups = ("g", "h", "i")
    for group in groups:
        assert producer.commit_offset(5, group=group) == 0
    assert world.cluster.groups.offsets.groups_in_transaction(producer.id) == list(groups)
    first, second, third = (world.cluster.coordinator_log.partition(group, OFFSETS) for group in groups)
    assert len({first, second, third}) == 3
    assert producer.end(commit=True).error_code == 0
    assert world.cluster.groups.offsets.groups_in_transaction(0) == []
    committed = [world.cluster.groups.offsets.of(group).get("t", 0) for group in groups]
    assert [each and each.offset for each in committed] == [5, 5, 5]


@pytest.mark.parametrize(
    ("version", "code"),
    [(0, ErrorCode.INVALID_TXN_STATE), (3, ErrorCode.INVALID_TXN_STATE), (4, ErrorCode.TRANSACTION_ABORTABLE), (5, ErrorCode.NONE)],
)
def test_txn_offset_commit_without_transaction_by_version(world: World, version: int, code: ErrorCode) -> None:
    assert Producer(world).commit_offset(version) == code


def test_txn_offset_commit_invalid_returns_error(world: World) -> None:
    producer = Producer(world)
    assert producer.add_offsets() == 0
    for options, code in (
        ({"topic": "nope"}, ErrorCode.UNKNOWN_TOPIC_OR_PARTITION),
        ({"index": 9}, ErrorCode.UNKNOWN_TOPIC_OR_PARTITION),
        ({"group": ""}, ErrorCode.INVALID_GROUP_ID),
        ({"generation_id": 3}, ErrorCode.ILLEGAL_GENERATION),
        ({"metadata": "x" * 4097}, ErrorCode.OFFSET_METADATA_TOO_LARGE),
        ({"member_id": "m"}, 0),  # The group exists by now, and is empty.
        ({"generation_id": 3, "member_id": "m"}, ErrorCode.UNKNOWN_MEMBER_ID),
        ({"producer_epoch": 7}, ErrorCode.INVALID_PRODUCER_EPOCH),
        ({"transactional_id": "nobody"}, ErrorCode.INVALID_PRODUCER_ID_MAPPING),
    ):
        assert producer.commit_offset(4, **options) == code, options


def test_txn_offset_commit_on_wrong_node_returns_error(world: World) -> None:
    producer = Producer(world)
    producer.coordinator("g", OFFSETS)
    partition = TxnOffsetCommitRequestPartition(partition_index=0, committed_offset=1, committed_metadata="")
    request = TxnOffsetCommitRequest(
        transactional_id="x",
        group_id="g",
        producer_id=producer.id,
        producer_epoch=0,
        topics=[TxnOffsetCommitRequestTopic(name="t", partitions=[partition])],
    )
    answer = wrong_node(world, "g", OFFSETS).call(TXN_OFFSET_COMMIT, 5, request)
    assert answer.topics[0].partitions[0].error_code == ErrorCode.NOT_COORDINATOR
    world.cluster.topics[STATE].partitions[world_partition(world, "x")].leader = -1
    assert producer.commit_offset(5) == ErrorCode.COORDINATOR_NOT_AVAILABLE


def world_partition(world: World, transactional_id: str) -> int:
    partition = world.cluster.coordinator_log.partition(transactional_id, STATE)
    assert partition is not None
    return partition.index


def test_transaction_timed_out_is_aborted(world: World) -> None:
    producer = Producer(world, timeout_ms=5000)
    assert producer.write(b"x") == 0
    world.advance(4999)
    assert fetch(world, "t", 0, committed=True).last_stable_offset == 0
    world.advance(1)
    assert read_committed(world, "t", 0) == ([], 2)
    assert producer.end(commit=True).error_code == ErrorCode.INVALID_TXN_STATE
    assert producer.write(b"y") == ErrorCode.INVALID_PRODUCER_EPOCH
