"""Requests of transactional producers and administrators, for the family of transactions."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from odradek.protocol.messages.add_offsets_to_txn import ADD_OFFSETS_TO_TXN, AddOffsetsToTxnRequest
from odradek.protocol.messages.add_partitions_to_txn import (
    ADD_PARTITIONS_TO_TXN,
    AddPartitionsToTxnRequest,
    AddPartitionsToTxnTopic,
    AddPartitionsToTxnTransaction,
)
from odradek.protocol.messages.describe_producers import DESCRIBE_PRODUCERS, DescribeProducersRequest, TopicRequest
from odradek.protocol.messages.describe_transactions import DESCRIBE_TRANSACTIONS, DescribeTransactionsRequest
from odradek.protocol.messages.end_txn import END_TXN, EndTxnRequest
from odradek.protocol.messages.fetch import FETCH, FetchPartition, FetchRequest, FetchTopic
from odradek.protocol.messages.init_producer_id import INIT_PRODUCER_ID, InitProducerIdRequest
from odradek.protocol.messages.list_offsets import LIST_OFFSETS, ListOffsetsPartition, ListOffsetsRequest, ListOffsetsTopic
from odradek.protocol.messages.list_transactions import LIST_TRANSACTIONS, ListTransactionsRequest
from odradek.protocol.messages.offset_fetch import OFFSET_FETCH, OffsetFetchRequest, OffsetFetchRequestTopic
from odradek.protocol.messages.produce import PRODUCE, PartitionProduceData, ProduceRequest, TopicProduceData
from odradek.protocol.messages.txn_offset_commit import (
    TXN_OFFSET_COMMIT,
    TxnOffsetCommitRequest,
    TxnOffsetCommitRequestPartition,
    TxnOffsetCommitRequestTopic,
)
from odradek.protocol.messages.write_txn_markers import (
    WRITE_TXN_MARKERS,
    WritableTxnMarker,
    WritableTxnMarkerTopic,
    WriteTxnMarkersRequest,
)

from .case import Pause, Send, Step, id_of, number_of
from .requests import batch_of

SETTLED = Pause(250)
"""Apache Kafka answers EndTxn before it has written the markers."""
UNUSED_PRODUCER_ID = 1 << 40


class Producer(NamedTuple):
    """A transactional producer of one topic. Requests contain `epoch`, and `claims` instead of the assigned producer id."""

    topic: str
    name: str = "a"
    epoch: int = 0
    claims: int | None = None

    @property
    def transactional_id(self) -> str:
        return f"{self.topic}.{self.name}"

    @property
    def id(self) -> int:
        return number_of(self.name) if self.claims is None else self.claims

    def init(self, version: int = 4, *, timeout_ms: int = 60_000, expects: tuple[int, int] = (-1, -1), binds: bool = True) -> Send:
        request = InitProducerIdRequest(
            transactional_id=self.transactional_id,
            transaction_timeout_ms=timeout_ms,
            producer_id=expects[0],
            producer_epoch=expects[1],
        )
        return Send(INIT_PRODUCER_ID, version, request, binds={self.name: "producer_id"} if binds else {})

    def add(self, version: int = 3, partitions: Sequence[int] = (0,), *, topics: Iterable[str] = (), node: int = 1) -> Send:
        request = AddPartitionsToTxnRequest(
            v3_and_below_transactional_id=self.transactional_id,
            v3_and_below_producer_id=self.id,
            v3_and_below_producer_epoch=self.epoch,
            v3_and_below_topics=[AddPartitionsToTxnTopic(name=name, partitions=list(partitions)) for name in (self.topic, *topics)],
        )
        return Send(ADD_PARTITIONS_TO_TXN, version, request, node=node)

    def verify(self, version: int = 5, partitions: Sequence[int] = (0,), *, only: bool = True) -> Send:
        """Returns the request by which brokers verify a transaction."""
        transaction = AddPartitionsToTxnTransaction(
            transactional_id=self.transactional_id,
            producer_id=self.id,
            producer_epoch=self.epoch,
            verify_only=only,
            topics=[AddPartitionsToTxnTopic(name=self.topic, partitions=list(partitions))],
        )
        return Send(ADD_PARTITIONS_TO_TXN, version, AddPartitionsToTxnRequest(transactions=[transaction]))

    def add_offsets(self, version: int = 3, *, node: int = 1) -> Send:
        request = AddOffsetsToTxnRequest(
            transactional_id=self.transactional_id, producer_id=self.id, producer_epoch=self.epoch, group_id=self.topic
        )
        return Send(ADD_OFFSETS_TO_TXN, version, request, node=node)

    def commit_offsets(
        self,
        version: int = 3,
        offsets: Sequence[tuple[str, int, int, str | None]] | None = None,
        *,
        group: str | None = None,
        member: tuple[int, str, str | None] = (-1, "", None),
        node: int = 1,
    ) -> Send:
        """`offsets`: topic, partition, offset, metadata. `member`: generation, member id, instance id."""
        named = [(self.topic, 0, 5, "m")] if offsets is None else offsets
        topics = [
            TxnOffsetCommitRequestTopic(
                name=topic,
                partitions=[TxnOffsetCommitRequestPartition(partition_index=index, committed_offset=offset, committed_metadata=text)],
            )
            for topic, index, offset, text in named
        ]
        request = TxnOffsetCommitRequest(
            transactional_id=self.transactional_id,
            group_id=self.topic if group is None else group,
            producer_id=self.id,
            producer_epoch=self.epoch,
            generation_id=member[0],
            member_id=member[1],
            group_instance_id=member[2],
            topics=topics,
        )
        return Send(TXN_OFFSET_COMMIT, version, request, node=node)

    def end(self, version: int = 3, *, commit: bool = True, node: int = 1) -> Send:
        request = EndTxnRequest(transactional_id=self.transactional_id, producer_id=self.id, producer_epoch=self.epoch, committed=commit)
        return Send(END_TXN, version, request, node=node)

    def write(
        self, version: int = 11, sequence: int = 0, *values: bytes, partition: int = 0, named: bool = True, transactional: bool = True
    ) -> Send:
        """Returns a Produce request; without `named` it has no transactional id, without `transactional` the batch is not transactional."""
        batch = batch_of(
            *(values or (b"v",)),
            producer_id=self.id,
            producer_epoch=self.epoch,
            base_sequence=sequence,
            is_transactional=transactional,
        )
        data = TopicProduceData(
            name=self.topic, topic_id=id_of(self.topic), partition_data=[PartitionProduceData(index=partition, records=batch)]
        )
        transactional_id = self.transactional_id if named else None
        request = ProduceRequest(transactional_id=transactional_id, acks=-1, timeout_ms=1000, topic_data=[data])
        return Send(PRODUCE, version, request, node=1 + partition)

    def mark(self, version: int = 1, *, commit: bool = True, coordinator_epoch: int = 0, level: int = 0, node: int = 1) -> Send:
        """Returns the request by which coordinators write markers."""
        marker = WritableTxnMarker(
            producer_id=self.id,
            producer_epoch=self.epoch,
            transaction_result=commit,
            topics=[WritableTxnMarkerTopic(name=self.topic, partition_indexes=[0])],
            coordinator_epoch=coordinator_epoch,
            transaction_version=level,
        )
        return Send(WRITE_TXN_MARKERS, version, WriteTxnMarkersRequest(markers=[marker]), node=node)

    def seen(self) -> tuple[Step, ...]:
        """Returns all requests that show the state of the producer, after a pause."""
        return (SETTLED, self.described(), self.listed(), *seen(self.topic))

    def described(self, node: int = 1) -> Send:
        return Send(DESCRIBE_TRANSACTIONS, 0, DescribeTransactionsRequest(transactional_ids=[self.transactional_id]), node=node)

    def listed(self, version: int = 2, states: Sequence[str] = (), duration_ms: int = -1, pattern: str | None = None) -> Send:
        request = ListTransactionsRequest(
            state_filters=list(states), producer_id_filters=[self.id], duration_filter=duration_ms, transactional_id_pattern=pattern
        )
        return Send(LIST_TRANSACTIONS, version, request)


def seen(topic: str) -> tuple[Send, ...]:
    """Returns requests for partition 0 in both isolation levels, its producers, and the offsets of the group of the same name."""
    described = DescribeProducersRequest(topics=[TopicRequest(name=topic, partition_indexes=[0])])
    committed = OffsetFetchRequest(
        group_id=topic, topics=[OffsetFetchRequestTopic(name=topic, partition_indexes=[0, 1])], require_stable=True
    )
    return (
        *(reading(topic, 0, isolation) for isolation in (0, 1)),
        *(ends(topic, isolation) for isolation in (0, 1)),
        Send(DESCRIBE_PRODUCERS, 0, described),
        Send(OFFSET_FETCH, 7, committed),
    )


def reading(topic: str, offset: int, isolation: int, most: int = 1 << 20) -> Send:
    wanted = FetchPartition(partition=0, fetch_offset=offset, partition_max_bytes=most)
    topics = [FetchTopic(topic=topic, partitions=[wanted])]
    return Send(FETCH, 12, FetchRequest(max_wait_ms=0, min_bytes=0, isolation_level=isolation, topics=topics))


def ends(topic: str, isolation: int, timestamp: int = -1) -> Send:
    partition = ListOffsetsPartition(partition_index=0, timestamp=timestamp)
    topics = [ListOffsetsTopic(name=topic, partitions=[partition])]
    return Send(LIST_OFFSETS, 7, ListOffsetsRequest(replica_id=-1, isolation_level=isolation, topics=topics))
