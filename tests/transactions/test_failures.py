"""Markers, time-outs and tombstones that cannot be written when they are due, by a failure of ours, are written later."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from odradek.broker.scheduling.timers import Timers
from odradek.broker.transactions.coordinator import Transactions, TransactionSettings
from odradek.broker.transactions.transaction import Producer, TopicPartition, TransactionState
from odradek.protocol.errors import ErrorCode
from tests.transactions.transcript import FakePartitions

PARTITIONS = [TopicPartition("t", 0), TopicPartition("t", 1)]
RETRY_MS, WEEK_MS = 10_000, 604_800_000


class Scene:
    def __init__(self) -> None:
        self.timers, self.partitions = Timers(0), FakePartitions()
        self.transactions = Transactions(self.timers, TransactionSettings(), self.partitions)
        self.producer = self.transactions.init_producer_id("x", 60_000).producer

    @property
    def state(self) -> TransactionState:
        transaction = self.transactions.get("x")
        assert transaction is not None
        return transaction.state

    def begin(self) -> None:
        assert self.transactions.add_partitions("x", self.producer, PARTITIONS) is ErrorCode.NONE

    def end(self) -> ErrorCode:
        return self.transactions.end("x", self.producer, commit=True, raise_epoch=False).error

    def advance(self, delay_ms: int) -> None:
        self.timers.advance(self.timers.now_ms + delay_ms)


@pytest.fixture
def scene() -> Iterator[Scene]:
    logging.disable(logging.CRITICAL)
    yield Scene()
    logging.disable(logging.NOTSET)


def failing_once(real: Callable[..., Any], when: Callable[..., bool] = lambda *_: True) -> Callable[..., Any]:
    failed = []

    def call(*arguments: Any) -> Any:
        if not failed and when(*arguments):
            failed.append(arguments)
            raise MemoryError
        return real(*arguments)

    return call


def test_marker_not_written_is_written_later(scene: Scene) -> None:
    scene.begin()
    scene.partitions.write_marker = failing_once(scene.partitions.write_marker, lambda partition, _: partition == PARTITIONS[1])  # type: ignore[method-assign]
    assert scene.end() is ErrorCode.NONE
    assert scene.state is TransactionState.PREPARE_COMMIT
    assert scene.partitions.written == ["t-0 commit 1.0 by 0"]
    scene.advance(RETRY_MS)
    assert scene.state is TransactionState.COMPLETE_COMMIT
    assert scene.partitions.written == ["t-0 commit 1.0 by 0", "t-1 commit 1.0 by 0"]


def test_completion_not_written_is_written_later(scene: Scene) -> None:
    scene.begin()
    records = len(scene.partitions.records)
    write = scene.partitions.write_transaction
    scene.partitions.write_transaction = failing_once(write, lambda *_: len(scene.partitions.records) > records)  # type: ignore[method-assign]
    assert scene.end() is ErrorCode.NONE
    assert scene.state is TransactionState.PREPARE_COMMIT
    scene.advance(RETRY_MS)
    assert scene.state is TransactionState.COMPLETE_COMMIT
    assert len(scene.partitions.written) == len(PARTITIONS)


def test_time_out_not_written_aborts_later(scene: Scene) -> None:
    scene.begin()
    scene.partitions.write_transaction = failing_once(scene.partitions.write_transaction)  # type: ignore[method-assign]
    scene.advance(60_000)
    assert scene.state is TransactionState.ONGOING
    scene.advance(RETRY_MS)
    assert scene.state is TransactionState.COMPLETE_ABORT


def test_expiry_not_written_forgets_later(scene: Scene) -> None:
    scene.partitions.write_transaction = failing_once(scene.partitions.write_transaction)  # type: ignore[method-assign]
    scene.advance(WEEK_MS)
    assert scene.transactions.verify("x", scene.producer, PARTITIONS[:1]) == {PARTITIONS[0]: ErrorCode.TRANSACTION_ABORTABLE}
    scene.advance(WEEK_MS)
    assert scene.transactions.get("x") is None
    assert len(scene.timers) == 0


def test_init_producer_id_not_written_makes_no_id(scene: Scene) -> None:
    scene.partitions.write_transaction = failing_once(scene.partitions.write_transaction)  # type: ignore[method-assign]
    with pytest.raises(MemoryError):
        scene.transactions.init_producer_id("y", 60_000)
    assert [each.transactional_id for each in scene.transactions] == ["x"]
    assert scene.transactions.init_producer_id("y", 60_000).producer == Producer(3, 0)
