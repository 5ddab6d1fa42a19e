"""Markers, timeouts and tombstones that cannot be written because of an internal error are written later."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from odradek.broker.scheduling.timers import Timers
from odradek.broker.transactions.coordinator import Transactions, TransactionSettings
from odradek.broker.transactions.transaction import Producer, TopicPartition, TransactionState
from odradek.protocol.errors import ErrorCode
from tests.broker.transactions.transcript import FakeCluster

PARTITIONS = [TopicPartition("t", 0), TopicPartition("t", 1)]
RETRY_MS, WEEK_MS = 10_000, 604_800_000


class Scene:
    def __init__(self) -> None:
        self.timers, self.cluster = Timers(0), FakeCluster()
        self.transactions = Transactions(self.timers, TransactionSettings(), self.cluster)
        self.producer = self.transactions.init_producer_id("x", 60_000).producer

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
    failed = False

    def call(*arguments: Any) -> Any:
        nonlocal failed
        if not failed and when(*arguments):
            failed = True
            raise MemoryError
        return real(*arguments)

    return call


def test_marker_not_written_is_written_later(scene: Scene, monkeypatch: pytest.MonkeyPatch) -> None:
    scene.begin()
    write = failing_once(scene.cluster.write_marker, lambda partition, _: partition == PARTITIONS[1])
    monkeypatch.setattr(scene.cluster, "write_marker", write)
    assert scene.end() is ErrorCode.NONE
    assert scene.state() is TransactionState.PREPARE_COMMIT
    assert scene.cluster.written == ["t-0 commit 1.0 by 0"]
    scene.advance(RETRY_MS)
    assert scene.state() is TransactionState.COMPLETE_COMMIT
    assert scene.cluster.written == ["t-0 commit 1.0 by 0", "t-1 commit 1.0 by 0"]


def test_completion_not_written_is_written_later(scene: Scene, monkeypatch: pytest.MonkeyPatch) -> None:
    scene.begin()
    records = len(scene.cluster.records)
    write = scene.cluster.write_transaction
    monkeypatch.setattr(scene.cluster, "write_transaction", failing_once(write, lambda *_: len(scene.cluster.records) > records))
    assert scene.end() is ErrorCode.NONE
    assert scene.state() is TransactionState.PREPARE_COMMIT
    scene.advance(RETRY_MS)
    assert scene.state() is TransactionState.COMPLETE_COMMIT
    assert len(scene.cluster.written) == len(PARTITIONS)


def test_timeout_not_written_aborts_later(scene: Scene, monkeypatch: pytest.MonkeyPatch) -> None:
    scene.begin()
    monkeypatch.setattr(scene.cluster, "write_transaction", failing_once(scene.cluster.write_transaction))
    scene.advance(60_000)
    assert scene.state() is TransactionState.ONGOING
    scene.advance(RETRY_MS)
    assert scene.state() is TransactionState.COMPLETE_ABORT


def test_expiry_not_written_removes_id_later(scene: Scene, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(scene.cluster, "write_transaction", failing_once(scene.cluster.write_transaction))
    scene.advance(WEEK_MS)
    assert scene.transactions.verify("x", scene.producer, PARTITIONS[:1]) == {PARTITIONS[0]: ErrorCode.TRANSACTION_ABORTABLE}
    scene.advance(WEEK_MS)
    assert scene.transactions.get("x") is None
    assert len(scene.timers) == 0


def test_init_producer_id_not_written_creates_no_id(scene: Scene, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(scene.cluster, "write_transaction", failing_once(scene.cluster.write_transaction))
    with pytest.raises(MemoryError):
        scene.transactions.init_producer_id("y", 60_000)
    assert [each.transactional_id for each in scene.transactions] == ["x"]
    assert scene.transactions.init_producer_id("y", 60_000).producer == Producer(3, 0)
