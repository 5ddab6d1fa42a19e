from __future__ import annotations

import os
import sys
from pathlib import Path
from random import Random

import pytest

from odradek.broker.durability import log_cache
from odradek.broker.topics.partition import Partition
from odradek.protocol.batches.record_builder import build_batch
from odradek.protocol.batches.records import Record, RecordBatch
from odradek.storage.directories import partition_files, segment_replacement
from odradek.storage.log import Log
from odradek.storage.segments import max_timestamp_of
from odradek.storage.shadowed_log import ShadowedLog

from .kept_cluster import NOW_MS, KeptCluster, values

LIMIT_BYTES = 8 * 1024 * 1024


@pytest.fixture
def stored(tmp_path: Path) -> KeptCluster:
    return limited(tmp_path / "data")


def limited(path: Path) -> KeptCluster:
    kept = KeptCluster(path, memory_limit_bytes=LIMIT_BYTES)
    if "t" not in kept.cluster.topics:
        kept.cluster.topics.create("t", 2, 1, configs={"segment.bytes": str(4 << 20)})
    return kept


def fill(kept: KeptCluster, megabytes: int, size: int = 10_000, index: int = 0) -> None:
    """Appends batches of one record of `size` bytes, one for each millisecond, and lets the cluster work as between turns."""
    log = kept.partition(index=index).log
    for number in range((megabytes << 20) // size):
        value = log.end_offset.to_bytes(8, "big") * (size // 8)
        batch = build_batch([Record(0, NOW_MS + number, None, value, [])])
        log.append(memoryview(bytearray(batch)), 0, owned=True)
        if not number % 16:
            kept.shadow.sync()
            kept.work()
    kept.shadow.sync()
    kept.work()


def check_all(log: Log) -> None:
    batches = [RecordBatch(each) for each in log.batches(log.start_offset, log.end_offset)]
    for batch in batches:
        (record,) = batch.records()
        assert batch.crc_valid()
        assert record.value is not None
        assert record.value[:8] == record.offset.to_bytes(8, "big")
    assert [batch.header.base_offset for batch in batches] == list(range(log.start_offset, log.end_offset))


@pytest.mark.parametrize("size", [2_000, 10_000, 200_000])
def test_more_records_than_the_limit_are_all_served(stored: KeptCluster, size: int) -> None:
    fill(stored, 24, size)
    assert stored.memory.used_bytes <= LIMIT_BYTES
    assert stored.memory.used_bytes + stored.cluster.blocks.kept_bytes <= LIMIT_BYTES
    log = stored.partition().log
    assert log.size > 3 * LIMIT_BYTES - size
    check_all(log)
    assert len(log._segments) <= 7 + LIMIT_BYTES // size, "each file has one mapping"


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux tells the anonymous memory of a process")
def test_anonymous_memory_of_a_large_cluster_is_bounded(stored: KeptCluster) -> None:
    fill(stored, 8)
    before = anonymous_bytes()
    fill(stored, 64)
    assert anonymous_bytes() - before < 2 * LIMIT_BYTES
    check_all(stored.partition().log)


def anonymous_bytes() -> int:
    line = next(line for line in Path("/proc/self/status").read_text().splitlines() if line.startswith("RssAnon"))
    return int(line.split()[1]) * 1024


def test_oldest_partition_is_mapped_first(stored: KeptCluster) -> None:
    fill(stored, 4, index=1)
    fill(stored, 2)
    log = stored.partition().log
    batch = bytearray(build_batch([Record(0, NOW_MS + 3_600_000, None, bytes(100_000), [])]))
    while stored.memory.used_bytes <= LIMIT_BYTES:
        log.append(memoryview(bytearray(batch)), 0, owned=True)
    stored.shadow.sync()
    stored.work()
    logs = [stored.partition(index=index).log for index in range(2)]
    oldest = [log.oldest_in_memory for log in logs if isinstance(log, ShadowedLog)]
    assert all(segment is None or segment.max_timestamp > NOW_MS for segment in oldest)
    assert oldest[0] is not None, "its newest batches are the last to be mapped"


def test_mapped_records_survive_a_kill_and_are_not_in_memory(stored: KeptCluster) -> None:
    fill(stored, 16)
    stored.kill()
    again = limited(stored.directory.path)
    assert again.memory.used_bytes == 0
    check_all(again.partition().log)
    fill(again, 9)
    check_all(again.partition().log)
    assert again.memory.used_bytes <= LIMIT_BYTES


def test_snapshots_keep_memory_and_are_not_tried_each_turn(stored: KeptCluster, monkeypatch: pytest.MonkeyPatch) -> None:
    fill(stored, 7)
    stored.partition().log.seal()
    shared = list(stored.partition().log._segments)
    fill(stored, 4)
    tries: list[log_cache.LogCache] = []
    monkeypatch.setattr(log_cache.LogCache, "shrink", tries.append)
    stored.append("one more")
    stored.shadow.sync()
    stored.work()
    assert not tries
    assert shared[0].origin < shared[0].end


def test_file_that_cannot_be_mapped_leaves_records_in_memory(
    stored: KeptCluster, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def refuse(_: Path) -> memoryview:
        raise OSError(12, os.strerror(12))

    monkeypatch.setattr(partition_files, "map_file", refuse)
    fill(stored, 9)
    assert "records beyond --memory-limit stay in memory" in caplog.text
    assert stored.memory.used_bytes > LIMIT_BYTES
    check_all(stored.partition().log)


def test_log_without_batches_in_memory_stays_as_it_is(stored: KeptCluster) -> None:
    fill(stored, 2)
    log = stored.partition().log
    assert isinstance(log, ShadowedLog)
    for _ in range(3):
        stored.shadow._map_oldest(log, 1 << 40)
    assert log.oldest_in_memory is None
    check_all(log)


def test_deleted_topic_is_left_out(stored: KeptCluster) -> None:
    fill(stored, 9)
    stored.cluster.delete_topic(stored.cluster.topics["t"])
    stored.cluster.topics.create("t", 2, 1)
    fill(stored, 9)
    check_all(stored.partition().log)


@pytest.mark.parametrize("seed", range(5))
def test_any_changes_leave_the_log_that_memory_would_have(tmp_path: Path, seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Batches are appended, compacted, truncated, deleted and mapped in any order, also while compacted segments are written."""
    random = Random(seed)
    monkeypatch.setattr(segment_replacement, "SLICE_BYTES", 50_000)
    kept = KeptCluster(tmp_path / "data")
    kept.cluster.topics.create("t", 1, 1, configs={"segment.bytes": str(1 << 20)})
    log, model = kept.partition().log, Log()
    assert isinstance(log, ShadowedLog)
    for _ in range(50):
        change(kept.partition(), model, random)
        if random.random() < 0.5:
            kept.shadow.sync()
            kept.shadow._map_oldest(log, random.choice([1, 100_000, 1 << 22]))
        kept.turns.next_turn()
        compare(log, model, random)
    kept.shadow.sync()
    kept.work()
    kept.kill()
    recovered = KeptCluster(tmp_path / "data").partition()
    assert values(recovered)[:1] == values_of_first(model)
    assert recovered.log.available(recovered.log.start_offset, recovered.log.end_offset) == model.size


def values_of_first(log: Log) -> list[tuple[int, str]]:
    first = next(log.batches(log.start_offset, log.end_offset), None)
    records = [] if first is None else [each for each in RecordBatch(first).records() if each.offset >= log.start_offset]
    return [(each.offset, (each.value or b"").decode()) for each in records][:1]


def change(partition: Partition, model: Log, random: Random) -> None:
    log = partition.log
    what, offset = random.random(), random.randint(log.start_offset, log.end_offset)
    if what < 0.7:
        for _ in range(random.randint(1, 8)):
            rows = [
                Record(number, NOW_MS + random.randint(0, 999), None, b"v" * random.choice([10, 5_000, 40_000]), []) for number in range(3)
            ]
            batch = build_batch(rows)
            for each in (log, model):
                each.append(memoryview(bytearray(batch)), 0, owned=True)
    elif what < 0.8:
        offset = min(offset, log.start_offset + 20)
        for each in (log, model):
            each.delete_before(offset)
    elif what < 0.9:
        end = random.choice(bases_of(log))
        keeps = random.random()
        batches = [bytes(batch) for batch in log.batches(log.start_offset, end) if random.random() < keeps]
        for each in (log, model):
            each.replace_before(end, batches)
    else:
        offset = random.choice(bases_of(log)[-10:])
        for truncated in (partition, model):
            truncated.truncate_to(offset)


def bases_of(log: Log) -> list[int]:
    """Returns the base offsets of all batches, and the end offset."""
    return [*(RecordBatch(each).header.base_offset for each in log.batches(log.start_offset, log.end_offset)), log.end_offset]


def compare(log: ShadowedLog, model: Log, random: Random) -> None:
    assert (log.start_offset, log.end_offset, log.size) == (model.start_offset, model.end_offset, model.size)
    everything = [b"".join(each.read(each.start_offset, sys.maxsize, each.end_offset, at_least_one=False)) for each in (log, model)]
    assert everything[0] == everything[1]
    bases = bases_of(model)
    for _ in range(10):
        offset = random.randint(log.start_offset, log.end_offset)
        end = random.choice(bases)
        most = random.choice([1, 10_000, 100_000])
        reads = [b"".join(each.read(offset, most, end, at_least_one=True)) for each in (log, model)]
        assert reads[0] == reads[1]
        assert log.available(offset, end) == model.available(offset, end)
        assert log.batch_start(offset) == model.batch_start(offset)
        assert log.newest_timestamp(offset, end) == model.newest_timestamp(offset, end)
        timestamp = NOW_MS + random.randint(0, 999)
        found = [each.find_timestamp(timestamp, offset) for each in (log, model)]
        assert (found[0] is None) == (found[1] is None)
        if found[0] is not None and found[1] is not None:
            assert bytes(found[0]) == bytes(found[1])
            assert max_timestamp_of(found[0]) >= timestamp
