"""Partitions and offsets of logs in Kafka's directories, and the ranges that tasks read from them, without Spark."""

from __future__ import annotations

import re
from itertools import pairwise
from pathlib import Path

import pytest

from odradek.protocol.client.connection import TopicPartition
from odradek.protocol.errors import KafkaError
from odradek.spark_sink import stored_logs
from odradek.spark_sink.client import EARLIEST, LATEST, READ_COMMITTED, READ_UNCOMMITTED
from odradek.spark_sink.error_conditions import KafkaCondition
from odradek.spark_sink.offset_ranges import OffsetRange
from odradek.spark_sink.stored_logs import INTERNAL_TOPICS, StoredLogs
from odradek.storage.transaction_index import EndedTransaction
from tests.storage.directories.recorded_directories import NAMES, unpack

FIRST_TIME = 1_700_000_000_000
ORDERS = TopicPartition("orders", 0)
TRANSFERS = TopicPartition("transfers", 0)


def logs(folder: Path, name: str = "kafka-4.3.1", isolation_level: int = READ_COMMITTED) -> StoredLogs:
    return StoredLogs([str(unpack(name, folder))], isolation_level)


@pytest.mark.parametrize("name", NAMES)
def test_partitions_of_recorded_directories(name: str, tmp_path: Path) -> None:
    stored = logs(tmp_path, name)

    assert stored.partitions(["orders", "transfers"]) == [ORDERS, TopicPartition("orders", 1), TRANSFERS]
    assert stored.partitions_where(re.compile("^__|trans").search) == [TRANSFERS]


def test_missing_topic_is_the_error_of_a_broker(tmp_path: Path) -> None:
    with pytest.raises(KafkaError, match=r"nosuch: UNKNOWN_TOPIC_OR_PARTITION This server does not host this topic-partition\."):
        logs(tmp_path).partitions(["orders", "nosuch"])


@pytest.mark.parametrize("name", NAMES)
def test_offsets_of_recorded_directories(name: str, tmp_path: Path) -> None:
    stored = logs(tmp_path, name)

    assert stored.list_offsets({ORDERS: EARLIEST}) == {ORDERS: 0}
    assert stored.list_offsets({ORDERS: LATEST}) == {ORDERS: 20}
    assert stored.list_offsets({ORDERS: FIRST_TIME + 5}) == {ORDERS: 3}
    assert stored.list_offsets({ORDERS: FIRST_TIME * 2}) == {ORDERS: -1}


@pytest.mark.parametrize(("isolation_level", "end"), [(READ_COMMITTED, 12), (READ_UNCOMMITTED, 13)])
def test_open_transaction_ends_what_is_committed(isolation_level: int, end: int, tmp_path: Path) -> None:
    stored = logs(tmp_path, "kafka-4.3.1-killed", isolation_level)

    assert stored.list_offsets({TRANSFERS: LATEST}) == {TRANSFERS: end}


def test_partition_that_no_directory_has_is_told(tmp_path: Path) -> None:
    path = unpack("kafka-4.3.1", tmp_path)
    (path / "orders-1").rename(path / "orders-1.deadbeef-delete")
    stored = StoredLogs([str(path)], READ_COMMITTED)

    assert stored.list_offsets({ORDERS: LATEST}) == {ORDERS: 20}
    with pytest.raises(KafkaError, match=r"no log directory has the partition orders-1; the nodes with a replica are 1$"):
        stored.list_offsets({TopicPartition("orders", 1): LATEST})
    with pytest.raises(KafkaError, match=r"no log directory has the partition other-0$"):
        stored.list_offsets({TopicPartition("other", 0): LATEST})


def test_range_that_is_not_whole_is_data_loss(tmp_path: Path) -> None:
    stored = logs(tmp_path)

    assert stored.stored_part(OffsetRange(ORDERS, 3, 20), fail_on_data_loss=True) == (ORDERS, 3, 20)
    assert stored.stored_part(OffsetRange(ORDERS, 3, 30), fail_on_data_loss=False) == (ORDERS, 3, 20)
    assert stored.stored_part(OffsetRange(ORDERS, 25, 30), fail_on_data_loss=False).size == 0
    for start, first in ((3, 20), (25, 25)):
        with pytest.raises(KafkaCondition, match=rf"Could not read records in offset \[{first}, 30\) for topic partition orders-0"):
            stored.stored_part(OffsetRange(ORDERS, start, 30), fail_on_data_loss=True)


def test_large_range_is_split_at_batches(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    stored = logs(tmp_path)
    whole = OffsetRange(ORDERS, 2, 19)
    log = stored.partition(ORDERS).log
    assert list(stored.split(whole)) == [whole]

    monkeypatch.setattr(stored_logs, "TASK_BYTES", log.size // 3)
    pieces = list(stored.split(whole))

    assert len(pieces) == 3
    assert (pieces[0].start, pieces[-1].end) == (2, 19)
    assert all(one.end == other.start == log.batch_start(other.start) for one, other in pairwise(pieces))


def test_batch_that_is_larger_than_a_task_is_not_split(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    stored = logs(tmp_path)
    monkeypatch.setattr(stored_logs, "TASK_BYTES", 1)

    starts = [one.start for one in stored.split(OffsetRange(ORDERS, 0, 20))]

    assert starts == sorted({stored.partition(ORDERS).log.batch_start(offset) for offset in range(20)})


@pytest.mark.parametrize(("isolation_level", "found"), [(READ_COMMITTED, [(4, 7)]), (READ_UNCOMMITTED, [])])
def test_aborted_transactions_of_a_range_are_given_to_the_task(isolation_level: int, found: list[tuple[int, int]], tmp_path: Path) -> None:
    stored = logs(tmp_path, isolation_level=isolation_level)

    located = stored.located(OffsetRange(TRANSFERS, 0, 12))

    assert located.folder.name == "transfers-0"
    assert [(each.first_offset, each.last_offset) for each in located.aborted if isinstance(each, EndedTransaction)] == found
    assert stored.located(OffsetRange(TRANSFERS, 8, 12)).aborted == []


def test_copy_of_a_running_follower_ends_at_its_high_watermark(tmp_path: Path) -> None:
    path = unpack("kafka-4.3.1-killed", tmp_path)
    checkpoint = path / "replication-offset-checkpoint"
    checkpoint.write_text(checkpoint.read_text().replace("orders 0 20", "orders 0 2"))
    (path / "meta.properties").write_text((path / "meta.properties").read_text().replace("node.id=1", "node.id=2"))
    stored = StoredLogs([str(path)], READ_COMMITTED)

    assert stored.list_offsets({ORDERS: LATEST}) == {ORDERS: 2}
    assert stored.list_offsets({ORDERS: FIRST_TIME + 2}) == {ORDERS: 1}
    assert stored.list_offsets({ORDERS: FIRST_TIME + 5}) == {ORDERS: -1}


def test_internal_topics_are_those_of_the_broker() -> None:
    from odradek.broker.topics import names

    assert INTERNAL_TOPICS == names.INTERNAL_TOPICS
