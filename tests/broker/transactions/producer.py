"""A transactional producer for tests."""

from __future__ import annotations

from typing import Any

from odradek.protocol.messages.add_offsets_to_txn import ADD_OFFSETS_TO_TXN, AddOffsetsToTxnRequest
from odradek.protocol.messages.add_partitions_to_txn import (
    ADD_PARTITIONS_TO_TXN,
    AddPartitionsToTxnRequest,
    AddPartitionsToTxnTopic,
)
from odradek.protocol.messages.end_txn import END_TXN, EndTxnRequest
from odradek.protocol.messages.init_producer_id import INIT_PRODUCER_ID, InitProducerIdRequest
from odradek.protocol.messages.offset_fetch import OFFSET_FETCH, OffsetFetchRequest, OffsetFetchRequestTopic
from odradek.protocol.messages.produce import PRODUCE, PartitionProduceData, ProduceRequest, TopicProduceData
from odradek.protocol.messages.txn_offset_commit import (
    TXN_OFFSET_COMMIT,
    TxnOffsetCommitRequest,
    TxnOffsetCommitRequestPartition,
    TxnOffsetCommitRequestTopic,
)
from tests.broker.harness import Client, World, a_batch

OFFSETS, STATE = "__consumer_offsets", "__transaction_state"


class Producer:
    """A transactional producer, which sends each request to its coordinator or leader in a given version, and counts sequences."""

    def __init__(self, world: World, transactional_id: str = "x", timeout_ms: int = 60_000) -> None:
        self.world, self.transactional_id = world, transactional_id
        self.sequences: dict[int, int] = {}
        world.cluster.topics.ensure_internal(STATE)
        answer = self.init(5, timeout_ms=timeout_ms)
        assert answer.error_code == 0
        self.id, self.epoch = answer.producer_id, answer.producer_epoch

    def coordinator(self, key: str = "", topic: str = STATE) -> Client:
        self.world.cluster.topics.ensure_internal(topic)
        partition = self.world.cluster.coordinator_log.partition(key or self.transactional_id, topic)
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
        """Returns the error code."""
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


def wrong_node(world: World, key: str, topic: str) -> Client:
    partition = world.cluster.coordinator_log.partition(key, topic)
    assert partition is not None
    return world.client(3 - partition.leader)


def half_ended_producer() -> Producer:
    """Returns a producer whose last transaction has no marker yet in the partition of node 2, which is stopped."""
    world = World()
    world.cluster.topics.create("t", assignments=[[1], [2]])
    producer = Producer(world)
    assert [producer.write(b"x", partition=index) for index in (0, 1)] == [0, 0]
    world.cluster.nodes.stop(2)
    assert producer.end(commit=True).error_code == 0
    return producer
