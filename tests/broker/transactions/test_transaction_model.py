"""In random sequences of requests to two nodes, read_committed returns exactly the committed records (Hypothesis)."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule

from odradek.broker.transactions.transaction import TransactionState
from odradek.protocol.errors import ErrorCode
from odradek.protocol.messages.add_partitions_to_txn import ADD_PARTITIONS_TO_TXN, AddPartitionsToTxnRequest, AddPartitionsToTxnTopic
from odradek.protocol.messages.end_txn import END_TXN, EndTxnRequest
from odradek.protocol.messages.init_producer_id import INIT_PRODUCER_ID, InitProducerIdRequest
from odradek.protocol.messages.produce import PRODUCE
from tests.broker.harness import Client, World, a_batch, produce_request
from tests.broker.transactions.reading import read_committed

PARTITIONS = range(3)
IDS = ("a", "b", "c")
TIMEOUT_MS = 10_000


@dataclass
class Producer:
    """The state of a producing client, and the records of its open transaction."""

    id: int
    epoch: int
    sequences: dict[int, int] = field(default_factory=dict)
    open: bool = False
    written: list[tuple[int, bytes]] = field(default_factory=list)


class TransactionMachine(RuleBasedStateMachine):
    def __init__(self) -> None:
        super().__init__()
        self.world = World(nodes=2, settings={"log.retention.ms": "-1"})  # The records have timestamps near 0, and must not be deleted.
        self.world.cluster.topics.create("t", len(PARTITIONS), 1)  # A partition is unavailable while its node is stopped.
        self.world.cluster.topics.ensure_internal("__transaction_state")
        self.producers: dict[str, Producer] = {}
        self.committed: set[bytes] = set()
        self.order: dict[int, list[bytes]] = {index: [] for index in PARTITIONS}  # All values in the order in which they were appended.
        self.stable = dict.fromkeys(PARTITIONS, 0)
        self.number = 0

    def coordinator(self, transactional_id: str) -> Client:
        partition = self.world.cluster.coordinator_log.partition(transactional_id, "__transaction_state")
        assert partition is not None
        return self.world.client(partition.leader)

    def leads(self, index: int) -> bool:
        return self.world.cluster.topics["t"].partitions[index].leader != -1

    def is_prepared(self, transactional_id: str) -> bool:
        transaction = self.world.cluster.transactions.get(transactional_id)
        return transaction is not None and transaction.state in (TransactionState.PREPARE_COMMIT, TransactionState.PREPARE_ABORT)

    @rule(transactional_id=st.sampled_from(IDS))
    def init(self, transactional_id: str) -> None:
        request = InitProducerIdRequest(transactional_id=transactional_id, transaction_timeout_ms=TIMEOUT_MS)
        busy = self.is_prepared(transactional_id) or (transactional_id in self.producers and self.producers[transactional_id].open)
        answer = self.coordinator(transactional_id).call(INIT_PRODUCER_ID, 5, request)
        assert answer.error_code == (ErrorCode.CONCURRENT_TRANSACTIONS if busy else 0)
        if not busy:
            self.producers[transactional_id] = Producer(answer.producer_id, answer.producer_epoch)
        else:
            self.producers.pop(transactional_id, None)  # Its open transaction is aborted, and the producer is fenced.

    @precondition(lambda self: self.producers)
    @rule(data=st.data(), index=st.sampled_from(PARTITIONS), v2=st.booleans())
    def write(self, data: Any, index: int, v2: bool) -> None:
        transactional_id = data.draw(st.sampled_from(sorted(self.producers)))
        producer = self.producers[transactional_id]
        if not self.leads(index) or self.is_prepared(transactional_id):
            return
        if not v2:
            self.add(transactional_id, producer, index)
        self.number += 1
        value = b"%d" % self.number
        sequence = producer.sequences.get(index, 0)
        batch = a_batch(value, producer_id=producer.id, producer_epoch=producer.epoch, base_sequence=sequence, is_transactional=True)
        request = produce_request("t", batch, partition=index)
        request.transactional_id = transactional_id
        answer = self.world.leader_of("t", index).call(PRODUCE, 12 if v2 else 11, request)
        assert answer.responses[0].partition_responses[0].error_code == 0
        producer.sequences[index] = sequence + 1
        producer.open = True
        producer.written.append((index, value))
        self.order[index].append(value)

    def add(self, transactional_id: str, producer: Producer, index: int) -> None:
        request = AddPartitionsToTxnRequest(
            v3_and_below_transactional_id=transactional_id,
            v3_and_below_producer_id=producer.id,
            v3_and_below_producer_epoch=producer.epoch,
            v3_and_below_topics=[AddPartitionsToTxnTopic(name="t", partitions=[index])],
        )
        answer = self.coordinator(transactional_id).call(ADD_PARTITIONS_TO_TXN, 3, request)
        assert answer.results_by_topic_v3_and_below[0].results_by_partition[0].partition_error_code == 0

    @rule(index=st.sampled_from(PARTITIONS))
    def write_plainly(self, index: int) -> None:
        if self.leads(index):
            self.number += 1
            value = b"%d" % self.number
            self.world.leader_of("t", index).call(PRODUCE, 9, produce_request("t", a_batch(value), partition=index))
            self.order[index].append(value)
            self.committed.add(value)

    @precondition(lambda self: self.producers)
    @rule(data=st.data(), commit=st.booleans(), v2=st.booleans())
    def end(self, data: Any, commit: bool, v2: bool) -> None:
        transactional_id = data.draw(st.sampled_from(sorted(self.producers)))
        producer = self.producers[transactional_id]
        if not producer.open:
            return
        request = EndTxnRequest(transactional_id=transactional_id, producer_id=producer.id, producer_epoch=producer.epoch, committed=commit)
        answer = self.coordinator(transactional_id).call(END_TXN, 5 if v2 else 4, request)
        assert answer.error_code == 0
        if commit:
            self.committed.update(value for _, value in producer.written)
        if v2:
            self.producers[transactional_id] = Producer(answer.producer_id, answer.producer_epoch)
        else:
            producer.open, producer.written = False, []

    @rule(milliseconds=st.sampled_from([1, TIMEOUT_MS // 2, TIMEOUT_MS]))
    def advance(self, milliseconds: int) -> None:
        self.world.advance(milliseconds)
        for transactional_id, producer in list(self.producers.items()):
            transaction = self.world.cluster.transactions.get(transactional_id)
            if producer.open and (transaction is None or transaction.state is not TransactionState.ONGOING):
                del self.producers[transactional_id]  # The transaction timed out.

    @rule(node=st.sampled_from([1, 2]))
    def stop_or_start(self, node: int) -> None:
        cluster = self.world.cluster
        if node not in cluster.brokers.running:
            cluster.nodes.start(node)
        elif len(cluster.brokers.running) > 1:
            cluster.nodes.stop(node)

    @invariant()
    def readers_see_what_was_committed_and_in_order(self) -> None:
        for index in filter(self.leads, PARTITIONS):
            seen, stable = read_committed(self.world, "t", index)
            committed = [value for value in self.order[index] if value in self.committed]
            assert seen == committed[: len(seen)]
            assert stable >= self.stable[index]
            self.stable[index] = stable

    def teardown(self) -> None:
        for node in (1, 2):
            if node not in self.world.cluster.brokers.running:
                self.world.cluster.nodes.start(node)
        self.world.advance(TIMEOUT_MS)
        for index in PARTITIONS:
            seen, stable = read_committed(self.world, "t", index)
            assert seen == [value for value in self.order[index] if value in self.committed]
            assert stable == self.world.cluster.topics["t"].partitions[index].high_watermark


TransactionMachine.TestCase.settings = settings(stateful_step_count=30, deadline=None)
TestTransactions = TransactionMachine.TestCase
