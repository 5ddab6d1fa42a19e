"""Records that tasks read from log directories, compared with what clients saw of the brokers, without Spark."""

from __future__ import annotations

import threading
from pathlib import Path
from typing import Any

import pytest

from odradek import Cluster
from odradek.protocol.batches.records import CorruptBatch
from odradek.spark_sink.client import EARLIEST, LATEST, READ_COMMITTED, READ_UNCOMMITTED, ClientConfig
from odradek.spark_sink.error_conditions import KafkaCondition
from odradek.spark_sink.offset_ranges import OffsetRange
from odradek.spark_sink.stored_logs import StoredLogs
from odradek.spark_sink.stored_ranges import StoredRange, read_stored_ranges
from tests.spark.decoder_reference import ALL_COLUMNS, Row, rows_of
from tests.spark.live_writing import numbered_value, write_values
from tests.storage.directories.recorded_directories import NAMES, seen_by_clients, unpack

FIRST_TIME = 1_700_000_000_000
ISOLATION = {"committed": READ_COMMITTED, "all": READ_UNCOMMITTED}


def rows(ranges: list[StoredRange], *, fail_on_data_loss: bool = True, **settings: Any) -> list[Row]:
    config = ClientConfig((), **settings)
    return rows_of(list(read_stored_ranges(ranges, config, ALL_COLUMNS, fail_on_data_loss=fail_on_data_loss)))


def whole(path: Path, topic: str, isolation_level: int = READ_COMMITTED) -> list[StoredRange]:
    """Returns the ranges of all records of a topic."""
    stored = StoredLogs([str(path)], isolation_level)
    partitions = stored.partitions([topic])
    starts = stored.list_offsets(dict.fromkeys(partitions, EARLIEST))
    ends = stored.list_offsets(dict.fromkeys(partitions, LATEST))
    return [stored.located(OffsetRange(one, starts[one], ends[one])) for one in partitions]


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("kind", ISOLATION)
def test_tasks_read_what_clients_saw_of_the_broker(name: str, kind: str, tmp_path: Path) -> None:
    path, seen = unpack(name, tmp_path), seen_by_clients(name)

    for topic, facts in seen["topics"].items():
        expected = [(row[0], row[1], row[3], row[4]) for row in facts[kind] if len(row) > 3]
        found = rows(whole(path, topic, ISOLATION[kind]))
        assert [(row.partition, row.offset, _text(row.key), _text(row.value)) for row in found] == expected, topic


def _text(contents: bytes | None) -> str | None:
    return None if contents is None else contents.decode()


@pytest.mark.parametrize("part_bytes", [1, 300, 1 << 20])
def test_aborted_records_are_left_out_of_parts_of_any_size(part_bytes: int, tmp_path: Path) -> None:
    path, seen = unpack("kafka-4.3.1", tmp_path), seen_by_clients("kafka-4.3.1")
    (transfers,) = whole(path, "transfers")

    found = rows([transfers], max_partition_fetch_bytes=part_bytes)

    assert [row.offset for row in found] == [row[1] for row in seen["topics"]["transfers"]["committed"] if len(row) > 3]


def test_ranges_of_one_partition_are_read_in_order(tmp_path: Path) -> None:
    one, _ = whole(unpack("kafka-4.3.1", tmp_path), "orders")

    found = rows([one._replace(start=12, end=17), one._replace(start=3, end=8)])

    assert [row.offset for row in found] == [*range(12, 17), *range(3, 8)]


def test_compacted_log_is_read_without_the_removed_records(tmp_path: Path) -> None:
    configs = {"cleanup.policy": "compact", "segment.ms": "1", "min.cleanable.dirty.ratio": "0"}
    with Cluster(topics={"prices": {"partitions": 1, "configs": configs}}, settings={"log.cleaner.backoff.ms": 1000}) as cluster:
        cluster.clock.freeze()
        for number in range(60):
            cluster.topic("prices").produce(f"{number}", key=f"k{number % 5}", timestamp=FIRST_TIME + number * 10)
        cluster.clock.advance(minutes=1)
        expected = [(record.offset, record.key) for record in cluster.records("prices")]
        cluster.export_log_dirs(tmp_path / "copy")

    (prices,) = whole(tmp_path / "copy" / "node-1" / "data", "prices")

    assert len(expected) < 60
    assert [(row.offset, row.key) for row in rows([prices])] == expected


def test_segments_deleted_since_planning_are_data_loss(tmp_path: Path) -> None:
    configs = {"segment.ms": "1", "retention.ms": "-1"}
    with Cluster(topics={"orders": {"partitions": 1, "configs": configs}}) as cluster:
        for number in range(30):
            cluster.topic("orders").produce(f"{number}", timestamp=FIRST_TIME + number * 10)
        cluster.export_log_dirs(tmp_path / "copy")
    (planned,) = whole(tmp_path / "copy" / "node-1" / "data", "orders")
    segments = sorted(planned.folder.glob("*.log"))
    first_left = int(segments[2].stem)
    for deleted in segments[:2]:
        deleted.unlink()

    with pytest.raises(KafkaCondition, match=r"Could not read records in offset \[0, 30\) for topic partition orders-0") as caught:
        rows([planned])

    assert caught.value.condition == "KAFKA_DATA_LOSS.COULD_NOT_READ_OFFSET_RANGE"
    assert [row.offset for row in rows([planned], fail_on_data_loss=False)] == list(range(first_left, 30))
    assert rows([planned._replace(end=first_left)], fail_on_data_loss=False) == []
    assert [row.offset for row in rows([planned._replace(start=28, end=40)], fail_on_data_loss=False)] == [28, 29]


def test_crcs_are_checked_unless_check_crcs_is_false(tmp_path: Path) -> None:
    planned, _ = whole(unpack("kafka-4.3.1", tmp_path), "orders")
    segment = planned.folder / "00000000000000000000.log"
    damaged = bytearray(segment.read_bytes())
    damaged[34] ^= 1  # the base timestamp of the first batch
    segment.write_bytes(damaged)

    assert len(rows([planned], check_crcs=False)) == 20
    with pytest.raises(CorruptBatch, match="CRC"):
        rows([planned])


def test_reads_beside_a_writing_broker_are_prefixes(tmp_path: Path) -> None:
    """A read has at least what was acknowledged before it began and what the read before it had, and ends with a whole batch.

    The broker has started again, as after a crash of all nodes that left old checkpoints, and rolls segments meanwhile.
    """
    data, configs = tmp_path / "data", {"segment.bytes": "1048576"}
    with Cluster(nodes=3, data_dir=data, topics={"t": {"partitions": 1, "configs": configs}}) as cluster:
        cluster.produce("t", [numbered_value(0)])
    acknowledged, stop, lengths = [1], threading.Event(), [1]
    with Cluster(nodes=3, data_dir=data) as cluster:
        writer = threading.Thread(target=write_values, args=(cluster.bootstrap_servers, acknowledged, stop))
        writer.start()
        try:
            while len(set(lengths)) < 20 or lengths[-1] < 3000:
                assert writer.is_alive()
                least = max(acknowledged[0], lengths[-1])
                found = rows(whole(data, "t"))
                assert [(row.offset, row.value) for row in found] == [(number, numbered_value(number)) for number in range(len(found))]
                assert len(found) >= least
                lengths.append(len(found))
        finally:
            stop.set()
            writer.join()
    assert len(list((data / "t-0").glob("*.log"))) > 2
