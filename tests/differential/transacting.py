"""What transactional producers and administrators ask, for the family of transactions."""

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

from .asking import a_batch
from .script import Ask, Pause, Step, id_of, number_of

SETTLED = Pause(250)
"""EndTxn is answered before Apache Kafka has written the markers."""
NOBODY = 1 << 40
"""A producer id that nobody has."""


class Producer(NamedTuple):
    """A transactional producer of one topic. `epoch` is the one that it believes in; `claims` replaces the id that it was given."""

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

    def init(self, version: int = 4, *, timeout_ms: int = 60_000, expects: tuple[int, int] = (-1, -1), binds: bool = True) -> Ask:
        request = InitProducerIdRequest(
            transactional_id=self.transactional_id,
            transaction_timeout_ms=timeout_ms,
            producer_id=expects[0],
            producer_epoch=expects[1],
        )
        return Ask(INIT_PRODUCER_ID, version, request, binds={self.name: "producer_id"} if binds else {})

    def add(self, version: int = 3, partitions: Sequence[int] = (0,), *, topics: Iterable[str] = (), node: int = 1) -> Ask:
        request = AddPartitionsToTxnRequest(
            v3_and_below_transactional_id=self.transactional_id,
            v3_and_below_producer_id=self.id,
            v3_and_below_producer_epoch=self.epoch,
            v3_and_below_topics=[AddPartitionsToTxnTopic(name=name, partitions=list(partitions)) for name in (self.topic, *topics)],
        )
        return Ask(ADD_PARTITIONS_TO_TXN, version, request, node=node)

    def verify(self, version: int = 5, partitions: Sequence[int] = (0,), *, only: bool = True) -> Ask:
        """What brokers ask."""
        transaction = AddPartitionsToTxnTransaction(
            transactional_id=self.transactional_id,
            producer_id=self.id,
            producer_epoch=self.epoch,
            verify_only=only,
            topics=[AddPartitionsToTxnTopic(name=self.topic, partitions=list(partitions))],
        )
        return Ask(ADD_PARTITIONS_TO_TXN, version, AddPartitionsToTxnRequest(transactions=[transaction]))

    def add_offsets(self, version: int = 3, *, node: int = 1) -> Ask:
        request = AddOffsetsToTxnRequest(
            transactional_id=self.transactional_id, producer_id=self.id, producer_epoch=self.epoch, group_id=self.topic
        )
        return Ask(ADD_OFFSETS_TO_TXN, version, request, node=node)

    def commit_offsets(
        self,
        version: int = 3,
        offsets: Sequence[tuple[str, int, int, str | None]] | None = None,
        *,
        group: str | None = None,
        member: tuple[int, str, str | None] = (-1, "", None),
        node: int = 1,
    ) -> Ask:
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
        return Ask(TXN_OFFSET_COMMIT, version, request, node=node)

    def end(self, version: int = 3, *, commit: bool = True, node: int = 1) -> Ask:
        request = EndTxnRequest(transactional_id=self.transactional_id, producer_id=self.id, producer_epoch=self.epoch, committed=commit)
        return Ask(END_TXN, version, request, node=node)

    def write(
        self, version: int = 11, sequence: int = 0, *values: bytes, partition: int = 0, named: bool = True, transactional: bool = True
    ) -> Ask:
        """Without `named` the request has no transactional id, without `transactional` the batch is none of a transaction."""
        batch = a_batch(
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
        return Ask(PRODUCE, version, request, node=1 + partition)

    def mark(self, version: int = 1, *, commit: bool = True, coordinator_epoch: int = 0, level: int = 0, node: int = 1) -> Ask:
        """What coordinators send."""
        marker = WritableTxnMarker(
            producer_id=self.id,
            producer_epoch=self.epoch,
            transaction_result=commit,
            topics=[WritableTxnMarkerTopic(name=self.topic, partition_indexes=[0])],
            coordinator_epoch=coordinator_epoch,
            transaction_version=level,
        )
        return Ask(WRITE_TXN_MARKERS, version, WriteTxnMarkersRequest(markers=[marker]), node=node)

    def seen(self) -> tuple[Step, ...]:
        """All that others see of it, after a moment."""
        return (SETTLED, self.described(), self.listed(), *seen(self.topic))

    def described(self, node: int = 1) -> Ask:
        return Ask(DESCRIBE_TRANSACTIONS, 0, DescribeTransactionsRequest(transactional_ids=[self.transactional_id]), node=node)

    def listed(self, version: int = 2, states: Sequence[str] = (), duration_ms: int = -1, pattern: str | None = None) -> Ask:
        request = ListTransactionsRequest(
            state_filters=list(states), producer_id_filters=[self.id], duration_filter=duration_ms, transactional_id_pattern=pattern
        )
        return Ask(LIST_TRANSACTIONS, version, request)


def seen(topic: str) -> tuple[Ask, ...]:
    """Partition 0 as readers of both isolation levels see it, its producers, and what the group of the same name has committed."""
    described = DescribeProducersRequest(topics=[TopicRequest(name=topic, partition_indexes=[0])])
    committed = OffsetFetchRequest(
        group_id=topic, topics=[OffsetFetchRequestTopic(name=topic, partition_indexes=[0, 1])], require_stable=True
    )
    return (
        *(reading(topic, 0, isolation) for isolation in (0, 1)),
        *(ends(topic, isolation) for isolation in (0, 1)),
        Ask(DESCRIBE_PRODUCERS, 0, described),
        Ask(OFFSET_FETCH, 7, committed),
    )


def reading(topic: str, offset: int, isolation: int, most: int = 1 << 20) -> Ask:
    asked = FetchPartition(partition=0, fetch_offset=offset, partition_max_bytes=most)
    topics = [FetchTopic(topic=topic, partitions=[asked])]
    return Ask(FETCH, 12, FetchRequest(max_wait_ms=0, min_bytes=0, isolation_level=isolation, topics=topics))


def ends(topic: str, isolation: int, timestamp: int = -1) -> Ask:
    partition = ListOffsetsPartition(partition_index=0, timestamp=timestamp)
    topics = [ListOffsetsTopic(name=topic, partitions=[partition])]
    return Ask(LIST_OFFSETS, 7, ListOffsetsRequest(replica_id=-1, isolation_level=isolation, topics=topics))
