"""Transactions on the wire: the APIs of producers, and what Produce, Fetch, ListOffsets and OffsetFetch make of them."""

from __future__ import annotations

from typing import Any

import pytest

from odradek.protocol.errors import ErrorCode
from odradek.protocol.messages.add_offsets_to_txn import ADD_OFFSETS_TO_TXN, AddOffsetsToTxnRequest
from odradek.protocol.messages.add_partitions_to_txn import (
    ADD_PARTITIONS_TO_TXN,
    AddPartitionsToTxnRequest,
    AddPartitionsToTxnTopic,
    AddPartitionsToTxnTransaction,
)
from odradek.protocol.messages.delete_records import DELETE_RECORDS, DeleteRecordsPartition, DeleteRecordsRequest, DeleteRecordsTopic
from odradek.protocol.messages.elect_leaders import ELECT_LEADERS, ElectLeadersRequest, TopicPartitions
from odradek.protocol.messages.end_txn import END_TXN, EndTxnRequest
from odradek.protocol.messages.init_producer_id import INIT_PRODUCER_ID, InitProducerIdRequest
from odradek.protocol.messages.list_offsets import LIST_OFFSETS, ListOffsetsPartition, ListOffsetsRequest, ListOffsetsTopic
from odradek.protocol.messages.offset_fetch import OFFSET_FETCH, OffsetFetchRequest, OffsetFetchRequestTopic
from odradek.protocol.messages.produce import PRODUCE, PartitionProduceData, ProduceRequest, TopicProduceData
from odradek.protocol.messages.txn_offset_commit import (
    TXN_OFFSET_COMMIT,
    TxnOffsetCommitRequest,
    TxnOffsetCommitRequestPartition,
    TxnOffsetCommitRequestTopic,
)
from odradek.protocol.records import RecordBatch
from tests.broker.harness import START_MS, Client, World, a_batch, produce
from tests.transactions.reading import fetch, read_committed

OFFSETS, STATE = "__consumer_offsets", "__transaction_state"


class Producer:
    """Speaks to the coordinators and leaders in the versions it is asked for. Keeps the sequence of each partition."""

    def __init__(self, world: World, transactional_id: str = "x", timeout_ms: int = 60_000) -> None:
        self.world, self.transactional_id = world, transactional_id
        self.sequences: dict[int, int] = {}
        world.cluster.ensure_internal(STATE)
        answer = self.init(5, timeout_ms=timeout_ms)
        assert answer.error_code == 0
        self.id, self.epoch = answer.producer_id, answer.producer_epoch

    def coordinator(self, key: str = "", topic: str = STATE) -> Client:
        self.world.cluster.ensure_internal(topic)
        partition = self.world.cluster.coordinator(key or self.transactional_id, topic)
        assert partition is not None
        return self.world.client(partition.leader)

    def init(self, version: int, timeout_ms: int = 60_000, **options: Any) -> Any:
        request = InitProducerIdRequest(transactional_id=self.transactional_id, transaction_timeout_ms=timeout_ms, **options)
        return self.coordinator().call(INIT_PRODUCER_ID, version, request)

    def add(self, version: int = 3, topics: dict[str, list[int]] | None = None, epoch: int | None = None) -> list[int]:
        named = [AddPartitionsToTxnTopic(name=name, partitions=indexes) for name, indexes in (topics or {"t": [0]}).items()]
        request = AddPartitionsToTxnRequest(
            v3_and_below_transactional_id=self.transactional_id,
            v3_and_below_producer_id=self.id,
            v3_and_below_producer_epoch=self.epoch if epoch is None else epoch,
            v3_and_below_topics=named,
        )
        answer = self.coordinator().call(ADD_PARTITIONS_TO_TXN, version, request)
        return [each.partition_error_code for topic in answer.results_by_topic_v3_and_below for each in topic.results_by_partition]

    def write(self, *values: bytes, version: int = 12, partition: int = 0, **options: Any) -> int:
        """The error code."""
        request = self.produce_request(*values, partition=partition, **options)
        answer = self.world.leader_of("t", partition).call(PRODUCE, version, request).responses[0].partition_responses[0]
        if not answer.error_code:
            self.sequences[partition] = self.sequences.get(partition, 0) + len(values)
        return int(answer.error_code)

    def produce_request(
        self, *values: bytes, partition: int = 0, transactional_id: str | None = "x", acks: int = -1, **options: Any
    ) -> ProduceRequest:
        sequence = self.sequences.get(partition, 0)
        batch_options = {"producer_epoch": self.epoch, "base_sequence": sequence, "is_transactional": True} | options
        batch = a_batch(*values, producer_id=self.id, **batch_options)
        topics = [TopicProduceData(name="t", partition_data=[PartitionProduceData(index=partition, records=batch)])]
        return ProduceRequest(transactional_id=transactional_id, acks=acks, timeout_ms=1000, topic_data=topics)

    def end(self, commit: bool, version: int = 5, epoch: int | None = None) -> Any:
        request = EndTxnRequest(
            transactional_id=self.transactional_id,
            producer_id=self.id,
            producer_epoch=self.epoch if epoch is None else epoch,
            committed=commit,
        )
        answer = self.coordinator().call(END_TXN, version, request)
        if version >= 5 and not answer.error_code:
            self.id, self.epoch, self.sequences = answer.producer_id, answer.producer_epoch, {}
        return answer

    def add_offsets(self, version: int = 4, epoch: int | None = None) -> int:
        request = AddOffsetsToTxnRequest(
            transactional_id=self.transactional_id,
            producer_id=self.id,
            producer_epoch=self.epoch if epoch is None else epoch,
            group_id="g",
        )
        return int(self.coordinator().call(ADD_OFFSETS_TO_TXN, version, request).error_code)

    def commit_offset(self, version: int, offset: int = 5, index: int = 0, topic: str = "t", group: str = "g", **options: Any) -> int:
        partition = TxnOffsetCommitRequestPartition(
            partition_index=index, committed_offset=offset, committed_metadata=options.pop("metadata", None)
        )
        request = TxnOffsetCommitRequest(
            **{"transactional_id": self.transactional_id, "producer_epoch": self.epoch} | options,
            group_id=group,
            producer_id=self.id,
            topics=[TxnOffsetCommitRequestTopic(name=topic, partitions=[partition])],
        )
        answer = self.coordinator(group, OFFSETS).call(TXN_OFFSET_COMMIT, version, request)
        return int(answer.topics[0].partitions[0].error_code)

    def committed_offset(self, stable: bool = True, everything: bool = False) -> list[tuple[int, int]]:
        wanted = None if everything else [OffsetFetchRequestTopic(name="t", partition_indexes=[0])]
        request = OffsetFetchRequest(group_id="g", topics=wanted, require_stable=stable)
        answer = self.coordinator("g", OFFSETS).call(OFFSET_FETCH, 7, request)
        return [(each.committed_offset, each.error_code) for topic in answer.topics for each in topic.partitions]


@pytest.fixture
def world() -> World:
    world = World()
    world.cluster.create_topic("t", 2)
    return world


def wrong_node(world: World, key: str, topic: str) -> Client:
    partition = world.cluster.coordinator(key, topic)
    assert partition is not None
    return world.client(3 - partition.leader)


# InitProducerId


@pytest.mark.parametrize("version", range(6))
def test_a_transactional_id_keeps_its_producer_and_raises_its_epoch(world: World, version: int) -> None:
    producer = Producer(world)
    answer = producer.init(version)
    assert (answer.error_code, answer.producer_id, answer.producer_epoch) == (0, producer.id, 1)


@pytest.mark.parametrize("version", [3, 4, 5])
def test_fenced_is_said_as_the_version_knows_it(world: World, version: int) -> None:
    producer = Producer(world)
    answer = producer.init(version, producer_id=producer.id, producer_epoch=7)
    expected = ErrorCode.PRODUCER_FENCED if version >= 4 else ErrorCode.INVALID_PRODUCER_EPOCH
    assert (answer.error_code, answer.producer_id, answer.producer_epoch) == (expected, -1, -1)


def test_a_producer_goes_on_as_itself(world: World) -> None:
    producer = Producer(world)
    for _ in range(2):  # again: the answer got lost
        answer = producer.init(5, producer_id=producer.id, producer_epoch=0)
        assert (answer.error_code, answer.producer_epoch) == (0, 1)


@pytest.mark.parametrize("timeout_ms", [0, -1, 900_001])
def test_time_outs_have_bounds(world: World, timeout_ms: int) -> None:
    assert Producer(world).init(5, timeout_ms=timeout_ms).error_code == ErrorCode.INVALID_TRANSACTION_TIMEOUT


# AddPartitionsToTxn, AddOffsetsToTxn, EndTxn


@pytest.mark.parametrize("version", range(4))
def test_partitions_are_added(world: World, version: int) -> None:
    producer = Producer(world)
    assert producer.add(version, {"t": [0, 1]}) == [0, 0]
    fenced = ErrorCode.PRODUCER_FENCED if version >= 2 else ErrorCode.INVALID_PRODUCER_EPOCH
    assert producer.add(version, epoch=9) == [fenced]


def test_with_an_unknown_partition_nothing_is_added(world: World) -> None:
    producer = Producer(world)
    missing, not_tried = ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, ErrorCode.OPERATION_NOT_ATTEMPTED
    assert producer.add(3, {"t": [0, 7], "nope": [0]}) == [not_tried, missing, missing]
    assert producer.write(b"x", version=11) == ErrorCode.TRANSACTION_ABORTABLE


@pytest.mark.parametrize("version", [4, 5])
def test_brokers_ask_for_several_transactions(world: World, version: int) -> None:
    world = World(nodes=1)  # which coordinates both
    world.cluster.create_topic("t", 2)
    one, two = Producer(world, "one"), Producer(world, "two")

    def ask(*wanted: tuple[Producer, bool, list[int]]) -> dict[str, list[int]]:
        transactions = [
            AddPartitionsToTxnTransaction(
                transactional_id=producer.transactional_id,
                producer_id=producer.id,
                producer_epoch=producer.epoch,
                verify_only=verify_only,
                topics=[AddPartitionsToTxnTopic(name="t", partitions=indexes)],
            )
            for producer, verify_only, indexes in wanted
        ]
        answer = one.coordinator().call(ADD_PARTITIONS_TO_TXN, version, AddPartitionsToTxnRequest(transactions=transactions))
        return {
            each.transactional_id: [part.partition_error_code for topic in each.topic_results for part in topic.results_by_partition]
            for each in answer.results_by_transaction
        }

    abortable = ErrorCode.TRANSACTION_ABORTABLE
    assert ask((one, False, [0]), (two, True, [0, 1])) == {"one": [0], "two": [abortable, abortable]}
    assert ask((one, True, [0, 1]), (two, False, [8])) == {"one": [0, abortable], "two": [ErrorCode.UNKNOWN_TOPIC_OR_PARTITION]}


def test_entries_of_one_transaction_are_written_once() -> None:
    world = World(nodes=1)
    world.cluster.create_topic("t", 50)
    producer = Producer(world, "one")
    entries = [
        AddPartitionsToTxnTransaction(
            transactional_id=producer.transactional_id,
            producer_id=producer.id,
            producer_epoch=producer.epoch,
            verify_only=False,
            topics=[AddPartitionsToTxnTopic(name="t", partitions=[index])],
        )
        for index in (*range(50), 99)
    ]
    partition = world.cluster.coordinator(producer.transactional_id, STATE)
    assert partition is not None
    before = partition.log.end_offset
    answer = producer.coordinator().call(ADD_PARTITIONS_TO_TXN, 5, AddPartitionsToTxnRequest(transactions=entries))
    errors = [each.topic_results[0].results_by_partition[0].partition_error_code for each in answer.results_by_transaction]
    assert errors == [0] * 50 + [ErrorCode.UNKNOWN_TOPIC_OR_PARTITION]
    assert partition.log.end_offset == before + 1


@pytest.mark.parametrize("version", range(5))
def test_a_groups_partition_is_added(world: World, version: int) -> None:
    producer = Producer(world)
    assert producer.add_offsets(version) == 0
    fenced = ErrorCode.PRODUCER_FENCED if version >= 2 else ErrorCode.INVALID_PRODUCER_EPOCH
    assert producer.add_offsets(version, epoch=9) == fenced


@pytest.mark.parametrize("version", range(6))
@pytest.mark.parametrize("commit", [True, False])
def test_the_end_of_a_transaction(world: World, version: int, commit: bool) -> None:
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
def test_an_end_that_cannot_be(world: World, version: int) -> None:
    producer = Producer(world)
    fenced = ErrorCode.PRODUCER_FENCED if version >= 2 else ErrorCode.INVALID_PRODUCER_EPOCH
    for commit, epoch, code in ((True, 0, ErrorCode.INVALID_TXN_STATE), (True, 5, fenced)):
        answer = producer.end(commit, version, epoch)
        assert (answer.error_code, answer.producer_id, answer.producer_epoch) == (code, -1, -1)


def test_only_the_coordinator_answers(world: World) -> None:
    producer = Producer(world)
    other = wrong_node(world, "x", STATE)
    assert other.call(INIT_PRODUCER_ID, 5, InitProducerIdRequest(transactional_id="x", transaction_timeout_ms=1)).error_code == 16
    end = EndTxnRequest(transactional_id="x", producer_id=producer.id, producer_epoch=0, committed=True)
    assert other.call(END_TXN, 5, end).error_code == 16
    offsets = AddOffsetsToTxnRequest(transactional_id="x", producer_id=producer.id, producer_epoch=0, group_id="g")
    assert other.call(ADD_OFFSETS_TO_TXN, 4, offsets).error_code == 16
    add = AddPartitionsToTxnRequest(
        v3_and_below_transactional_id="x",
        v3_and_below_producer_id=producer.id,
        v3_and_below_topics=[AddPartitionsToTxnTopic(name="t", partitions=[0])],
    )
    answer = other.call(ADD_PARTITIONS_TO_TXN, 3, add)
    assert answer.results_by_topic_v3_and_below[0].results_by_partition[0].partition_error_code == 16
    end.transactional_id = ""
    assert other.call(END_TXN, 5, end).error_code == ErrorCode.INVALID_REQUEST


def test_coordinators_move_with_their_transactions(world: World) -> None:
    producer = Producer(world)
    assert producer.write(b"x") == 0
    partition = world.cluster.coordinator("x", STATE)
    assert partition is not None
    world.cluster.stop_node(partition.leader)
    assert producer.end(commit=True).error_code == 0
    assert read_committed(world, "t", 0) == ([b"x"], 2)
    (_, marker) = [RecordBatch(view) for view in world.cluster.topics["t"].partitions[0].log.batches(0, 2)]
    assert next(marker.records()).value == b"\0\0" + partition.leader_epoch.to_bytes(4, "big")


def test_a_partition_without_a_leader_gets_its_marker_when_it_has_one() -> None:
    world = World()
    world.cluster.create_topic("t", assignments=[[1], [2]])
    producer = Producer(world)
    assert [producer.write(b"x", partition=index) for index in (0, 1)] == [0, 0]
    world.cluster.stop_node(2)
    assert producer.end(commit=True).error_code == 0
    assert producer.write(b"y", version=11) == ErrorCode.NOT_ENOUGH_REPLICAS
    assert read_committed(world, "t", 0) == ([b"x"], 2)
    world.cluster.start_node(2)
    assert read_committed(world, "t", 1) == ([b"x"], 2)
    assert producer.write(b"y") == 0


@pytest.fixture
def half_ended() -> Producer:
    """The producer of a transaction of which a marker cannot be written now: that of node 2."""
    world = World()
    world.cluster.create_topic("t", assignments=[[1], [2]])
    producer = Producer(world)
    assert [producer.write(b"x", partition=index) for index in (0, 1)] == [0, 0]
    world.cluster.stop_node(2)
    assert producer.end(commit=True).error_code == 0
    return producer


def test_a_write_of_v12_waits_a_moment_for_the_transaction_before(half_ended: Producer) -> None:
    world, client = half_ended.world, half_ended.world.client(1)
    client.send(PRODUCE, 12, half_ended.produce_request(b"y"))
    client.send(PRODUCE, 12, half_ended.produce_request(b"z"))
    for _ in range(5):
        assert client.receive() is None
        world.advance(20)
    assert client.receive().responses[0].partition_responses[0].error_code == ErrorCode.CONCURRENT_TRANSACTIONS
    world.advance(20)
    world.cluster.start_node(2)
    assert client.receive() is None
    world.advance(20)
    assert client.receive().responses[0].partition_responses[0].error_code == 0
    assert read_committed(world, "t", 0) == ([b"x"], 2)
    assert half_ended.end(commit=True).error_code == 0
    assert read_committed(world, "t", 0) == ([b"x", b"z"], 4)


def test_a_write_without_an_answer_waits_too_and_ends_the_connection(half_ended: Producer) -> None:
    client = half_ended.world.client(1)
    client.send(PRODUCE, 12, half_ended.produce_request(b"y", acks=0))
    for _ in range(5):
        assert not client.closed
        half_ended.world.advance(20)
    assert client.closed


def test_a_leader_elected_by_hand_gets_the_marker() -> None:
    """It does not have the record; the transaction ends all the same."""
    world = World(nodes=3)
    world.cluster.create_topic("t", assignments=[[1, 2]])
    world.cluster.stop_node(2)
    producer = Producer(world)
    assert producer.write(b"x") == 0
    world.cluster.stop_node(1)
    world.cluster.start_node(2)
    assert producer.end(commit=True).error_code == 0
    assert producer.init(5).error_code == ErrorCode.CONCURRENT_TRANSACTIONS
    request = ElectLeadersRequest(election_type=1, topic_partitions=[TopicPartitions(topic="t", partitions=[0])], timeout_ms=1)
    world.client(3).call(ELECT_LEADERS, 2, request)
    assert producer.init(5).error_code == 0
    assert read_committed(world, "t", 0) == ([], 1)


def test_a_deleted_topic_needs_no_marker(world: World) -> None:
    world.cluster.create_topic("u", assignments=[[2]])
    producer = Producer(world)
    assert producer.add(3, {"u": [0]}) == [0]
    world.cluster.stop_node(2)
    assert producer.end(commit=True).error_code == 0
    assert producer.init(5).error_code == ErrorCode.CONCURRENT_TRANSACTIONS
    world.cluster.delete_topic(world.cluster.topics["u"])
    assert producer.init(5).error_code == 0


# Produce


@pytest.mark.parametrize(
    ("version", "code"),
    [(9, ErrorCode.INVALID_TXN_STATE), (10, ErrorCode.INVALID_TXN_STATE), (11, ErrorCode.TRANSACTION_ABORTABLE), (12, 0)],
)
def test_a_write_needs_a_transaction_or_makes_it(world: World, version: int, code: int) -> None:
    producer = Producer(world)
    assert producer.write(b"x", version=version) == code
    assert world.cluster.topics["t"].partitions[0].high_watermark == (not code)


@pytest.mark.parametrize("version", [9, 11, 12])
def test_a_fenced_producer_writes_nothing(world: World, version: int) -> None:
    old = Producer(world)
    assert old.add() == [0]
    assert Producer.init(old, 5).error_code == ErrorCode.CONCURRENT_TRANSACTIONS
    assert old.write(b"x", version=version) == ErrorCode.INVALID_PRODUCER_EPOCH


def test_writes_of_a_transaction_whose_coordinator_is_away_are_to_be_sent_again() -> None:
    world = World(settings={"transaction.state.log.replication.factor": "1"})
    world.cluster.create_topic("t", assignments=[[1, 2]])
    transactional_id = next(name for name in "abcdefgh" if world_coordinator(world, name) == 2)
    producer = Producer(world, transactional_id)
    world.cluster.stop_node(2)
    for version in (11, 12):
        assert producer.write(b"x", version=version, transactional_id=transactional_id) == ErrorCode.NOT_ENOUGH_REPLICAS
    assert producer.write(b"y", version=12, transactional_id=transactional_id, base_sequence=1) == ErrorCode.NOT_ENOUGH_REPLICAS
    world.cluster.start_node(2)
    # What was sent behind it does not overtake.
    out_of_order = ErrorCode.OUT_OF_ORDER_SEQUENCE_NUMBER
    assert producer.write(b"y", transactional_id=transactional_id, base_sequence=1) == out_of_order
    assert producer.write(b"x", transactional_id=transactional_id) == 0


def world_coordinator(world: World, transactional_id: str) -> int:
    world.cluster.ensure_internal(STATE)
    partition = world.cluster.coordinator(transactional_id, STATE)
    assert partition is not None
    return partition.leader


def test_verification_can_be_turned_off() -> None:
    world = World(settings={"transaction.partition.verification.enable": "false"})
    world.cluster.create_topic("t", 1)
    assert Producer(world).write(b"x", version=11) == 0


def test_writes_that_are_no_part_of_the_transaction(world: World) -> None:
    producer = Producer(world)
    assert producer.write(b"x", transactional_id=None) == ErrorCode.TRANSACTIONAL_ID_AUTHORIZATION_FAILED
    assert producer.write(b"x", base_sequence=1) == ErrorCode.OUT_OF_ORDER_SEQUENCE_NUMBER
    assert producer.write(b"x") == 0
    assert producer.write(b"y", is_transactional=False) == ErrorCode.INVALID_TXN_STATE
    assert producer.write(b"y") == 0


def test_a_request_brings_one_producer(world: World) -> None:
    world = World(nodes=1)
    world.cluster.create_topic("t", 2)
    data = [
        PartitionProduceData(
            index=index, records=a_batch(b"x", producer_id=index, producer_epoch=0, base_sequence=0, is_transactional=True)
        )
        for index in (0, 1)
    ]
    request = ProduceRequest(
        transactional_id="x",
        acks=-1,
        timeout_ms=1,
        topic_data=[TopicProduceData(name="t", partition_data=[*data, PartitionProduceData(index=0, records=b"")])],
    )
    answers = world.client().call(PRODUCE, 12, request).responses[0].partition_responses
    assert {answer.error_code for answer in answers} == {ErrorCode.INVALID_PRODUCER_ID_MAPPING}


def test_duplicates_are_told_the_time_of_their_records(world: World) -> None:
    """As Apache Kafka does it, although the topic has the producer's times."""
    producer = Producer(world)
    batch = a_batch(b"x", b"y", producer_id=producer.id, producer_epoch=0, base_sequence=0)
    data = TopicProduceData(name="t", partition_data=[PartitionProduceData(index=0, records=batch)])
    request = ProduceRequest(acks=-1, timeout_ms=1, topic_data=[data])
    answers = [world.leader_of("t").call(PRODUCE, 9, request).responses[0].partition_responses[0] for _ in range(2)]
    assert [(answer.error_code, answer.base_offset, answer.log_append_time_ms) for answer in answers] == [(0, 0, -1), (0, 0, 1001)]


# Time


def test_a_transaction_ends_when_its_time_is_up(world: World) -> None:
    producer = Producer(world, timeout_ms=5000)
    assert producer.write(b"x") == 0
    world.advance(4999)
    assert fetch(world, "t", 0, committed=True).last_stable_offset == 0
    world.advance(1)
    assert read_committed(world, "t", 0) == ([], 2)
    assert producer.end(commit=True).error_code == ErrorCode.INVALID_TXN_STATE
    assert producer.write(b"y") == ErrorCode.INVALID_PRODUCER_EPOCH


def test_producers_are_forgotten_by_the_clock() -> None:
    world = World(settings={"producer.id.expiration.ms": "1000", "producer.id.expiration.check.interval.ms": "500"})
    world.cluster.create_topic("t", 1)
    producer = Producer(world)
    assert producer.write(b"x", is_transactional=False, transactional_id=None) == 0
    producers = world.cluster.topics["t"].partitions[0].producers
    world.advance(999)
    assert len(producers) == 1
    world.advance(501)
    assert len(producers) == 0
    world.advance(10_000)
    assert "producer expiration" not in world.timers


# Readers


def test_a_reader_of_committed_records_waits_for_the_end(world: World) -> None:
    producer = Producer(world)
    produce(world, "t", b"a")
    assert producer.write(b"x") == 0
    produce(world, "t", b"b")
    data = fetch(world, "t", 0, committed=True)
    assert (data.high_watermark, data.last_stable_offset, data.aborted_transactions) == (3, 1, [])
    assert read_committed(world, "t", 0) == ([b"a"], 1)
    everything = fetch(world, "t", 0, committed=False)
    assert (everything.last_stable_offset, everything.aborted_transactions) == (1, None)
    producer.end(commit=False)
    assert read_committed(world, "t", 0) == ([b"a", b"b"], 4)
    assert fetch(world, "t", 0, committed=False).aborted_transactions is None


def test_a_reader_is_told_the_aborted_transactions_of_what_it_gets(world: World) -> None:
    producer = Producer(world)
    for _ in range(3):
        assert producer.write(b"x") == 0
        producer.end(commit=False)
    told = fetch(world, "t", 0, 2, committed=True, max_bytes=100).aborted_transactions
    assert [(each.producer_id, each.first_offset) for each in told or []] == [(producer.id, 2)]
    told = fetch(world, "t", 0, 0, committed=True).aborted_transactions
    assert [each.first_offset for each in told or []] == [0, 2, 4]
    assert fetch(world, "t", 0, 6, committed=True).aborted_transactions == []


def test_deleted_records_leave_the_last_stable_offset_behind_the_start(world: World) -> None:
    producer = Producer(world)
    assert producer.write(b"x") == 0
    produce(world, "t", b"a")
    request = DeleteRecordsRequest(
        topics=[DeleteRecordsTopic(name="t", partitions=[DeleteRecordsPartition(partition_index=0, offset=-1)])], timeout_ms=1
    )
    assert world.leader_of("t").call(DELETE_RECORDS, 2, request).topics[0].partitions[0].low_watermark == 2
    produce(world, "t", b"b")
    assert fetch(world, "t", 0, 2, committed=True).last_stable_offset == 2
    producer.end(commit=False)
    assert fetch(world, "t", 0, 2, committed=True).last_stable_offset == 4


@pytest.mark.parametrize(("committed", "expected"), [(True, [1, 0, -1, -1]), (False, [2, 0, 1, 1])])
def test_offsets_that_may_not_be_read_yet_are_not_listed(committed: bool, expected: list[int]) -> None:
    """The end, the beginning, the first record from a time on, the one with the largest time."""
    world = World()
    world.cluster.create_topic("t", 1, configs={"message.timestamp.type": "LogAppendTime"})
    produce(world, "t", b"a")
    world.advance(1000)
    assert Producer(world).write(b"x") == 0
    found = []
    for timestamp in (-1, -2, START_MS + 1, -3):
        wanted = ListOffsetsPartition(partition_index=0, timestamp=timestamp)
        request = ListOffsetsRequest(
            replica_id=-1, isolation_level=int(committed), topics=[ListOffsetsTopic(name="t", partitions=[wanted])]
        )
        answer = world.leader_of("t").call(LIST_OFFSETS, 7, request).topics[0].partitions[0]
        assert answer.error_code == 0
        found.append(answer.offset)
    assert found == expected


# Offsets


@pytest.mark.parametrize("version", range(6))
@pytest.mark.parametrize("commit", [True, False])
def test_offsets_count_when_the_transaction_is_committed(world: World, version: int, commit: bool) -> None:
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


def test_a_transaction_may_have_offsets_of_several_groups(world: World) -> None:
    """Each is decided by the marker of its own coordinator's partition."""
    producer = Producer(world)
    groups = ("g", "h", "i")
    for group in groups:
        assert producer.commit_offset(5, group=group) == 0
    assert world.cluster.groups.offsets.groups_in_transaction(producer.id) == list(groups)
    first, second, third = (world.cluster.coordinator(group, OFFSETS) for group in groups)
    assert len({first, second, third}) == 3
    assert producer.end(commit=True).error_code == 0
    assert world.cluster.groups.offsets.groups_in_transaction(0) == []
    assert [world.cluster.groups.offsets.of(group).get("t", 0).offset for group in groups] == [5, 5, 5]


@pytest.mark.parametrize(
    ("version", "code"),
    [(0, ErrorCode.INVALID_TXN_STATE), (3, ErrorCode.INVALID_TXN_STATE), (4, ErrorCode.TRANSACTION_ABORTABLE), (5, ErrorCode.NONE)],
)
def test_offsets_need_a_transaction_or_make_it(world: World, version: int, code: ErrorCode) -> None:
    assert Producer(world).commit_offset(version) == code


def test_offsets_that_are_refused(world: World) -> None:
    producer = Producer(world)
    assert producer.add_offsets() == 0
    for options, code in (
        ({"topic": "nope"}, ErrorCode.UNKNOWN_TOPIC_OR_PARTITION),
        ({"index": 9}, ErrorCode.UNKNOWN_TOPIC_OR_PARTITION),
        ({"group": ""}, ErrorCode.INVALID_GROUP_ID),
        ({"generation_id": 3}, ErrorCode.ILLEGAL_GENERATION),
        ({"metadata": "x" * 4097}, ErrorCode.OFFSET_METADATA_TOO_LARGE),
        ({"member_id": "m"}, 0),  # the group was made by now, and is empty
        ({"generation_id": 3, "member_id": "m"}, ErrorCode.UNKNOWN_MEMBER_ID),
        ({"producer_epoch": 7}, ErrorCode.INVALID_PRODUCER_EPOCH),
        ({"transactional_id": "nobody"}, ErrorCode.INVALID_PRODUCER_ID_MAPPING),
    ):
        assert producer.commit_offset(4, **options) == code, options


def test_offsets_go_to_the_groups_coordinator(world: World) -> None:
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
    partition = world.cluster.coordinator(transactional_id, STATE)
    assert partition is not None
    return partition.index
