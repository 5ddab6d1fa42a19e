from __future__ import annotations

import errno
import os
from collections.abc import Iterator
from pathlib import Path
from random import Random
from typing import Any

import pytest

from odradek.broker.durability import shadow as shadow_module
from odradek.protocol.batches.record_builder import build_batch
from odradek.protocol.batches.records import Record
from odradek.storage.directories import partition_files
from odradek.storage.directories.stored_log import read_log
from odradek.storage.shadowed_log import ShadowedLog

from .kept_cluster import NOW_MS, KeptCluster, values


@pytest.fixture
def data(tmp_path: Path) -> Path:
    return tmp_path / "data"


def with_topic(data: Path, **configs: str) -> KeptCluster:
    stored = KeptCluster(data)
    stored.cluster.topics.create("t", 1, 1, configs={name.replace("_", "."): text for name, text in configs.items()})
    return stored


def after_kill(stored: KeptCluster) -> KeptCluster:
    stored.kill()
    return KeptCluster(stored.directory.path)


def files(stored: KeptCluster, suffix: str = ".log", topic: str = "t-0") -> list[str]:
    return sorted(path.name[15:20] for path in (stored.directory.path / topic).glob(f"*{suffix}"))


def test_synced_records_are_there_after_a_kill(data: Path) -> None:
    stored = with_topic(data)
    stored.append("a", "b")
    assert stored.shadow.sync()
    stored.append("not acknowledged")
    again = after_kill(stored)
    assert values(again.partition()) == [(0, "a"), (1, "b")]
    again.append("c")
    again.shadow.sync()
    assert values(after_kill(again).partition()) == [(0, "a"), (1, "b"), (2, "c")]


def test_orderly_stop_writes_what_kafka_expects(data: Path) -> None:
    stored = with_topic(data)
    stored.append("a")
    stored.stop()
    names = {path.name for path in data.iterdir()}
    assert {".kafka_cleanshutdown", "meta.properties", "recovery-point-offset-checkpoint", "replication-offset-checkpoint"} <= names
    assert (data / "recovery-point-offset-checkpoint").read_text() == "0\n1\nt 0 1\n"
    assert files(stored, ".snapshot") == ["00001"]
    again = KeptCluster(data)
    assert not (data / ".kafka_cleanshutdown").exists()
    assert values(again.partition()) == [(0, "a")]


def test_orderly_stop_waits_for_the_disk_before_it_says_so(data: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The order is that of Kafka's LogManager.shutdown: logs, checkpoints, `.kafka_cleanshutdown`; then the folder that has their names."""
    stored = with_topic(data, segment_bytes=str(1 << 20))
    for _ in range(2):
        stored.append("." * 600_000)
    stored.shadow.sync()
    calls: list[str] = []
    replace = Path.replace

    def synced(descriptor: int) -> None:
        number = os.fstat(descriptor).st_ino
        (path,) = [path for path in (data, *data.rglob("*")) if path.stat().st_ino == number]
        calls.append(f"sync {str(path).removeprefix(str(data))}")

    def replaced(source: Path, target: Path) -> Path:
        calls.append(f"name {str(target).removeprefix(str(data))}")
        return replace(source, target)

    monkeypatch.setattr(os, "fsync", synced)
    monkeypatch.setattr(os, "fdatasync", synced)
    monkeypatch.setattr(Path, "replace", replaced)
    stored.stop()
    segments = [f"sync /t-0/{base:020d}{suffix}" for base in (0, 1) for suffix in (".log", ".index", ".timeindex")]
    files = {*segments, f"sync /t-0/{2:020d}.snapshot", "sync /t-0/leader-epoch-checkpoint", "sync /t-0/partition.metadata"}
    logs = calls[: calls.index("name /recovery-point-offset-checkpoint")]
    assert files <= set(logs)
    assert max(map(logs.index, files)) < len(logs) - 1 - logs[::-1].index("sync /t-0")
    assert calls[-3:] == ["sync /.kafka_cleanshutdown.cleaned", "name /.kafka_cleanshutdown", "sync "]


def test_start_removes_the_mark_of_an_orderly_stop_for_good(data: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    KeptCluster(data).stop()
    synced: list[Path] = []
    monkeypatch.setattr(shadow_module, "sync", synced.append)
    KeptCluster(data).kill()
    assert synced == [data]


def test_each_cut_of_the_last_batch_leaves_those_before(data: Path) -> None:
    """A process that ends within a write leaves any part of it."""
    stored = with_topic(data)
    stored.append("first", "second")
    stored.shadow.sync()
    path = data / "t-0" / f"{0:020d}.log"
    whole = path.stat().st_size
    stored.append("torn")
    stored.shadow.sync()
    stored.kill()
    content = path.read_bytes()
    for size in range(whole, len(content)):
        path.write_bytes(content[:size])
        again = KeptCluster(data)
        assert values(again.partition()) == [(0, "first"), (1, "second")]
        assert path.stat().st_size == whole
        again.kill()
    path.write_bytes(content)
    assert values(KeptCluster(data).partition())[-1] == (2, "torn")


def test_topics_are_created_altered_and_deleted_on_disk(data: Path) -> None:
    stored = with_topic(data)
    stored.append("old")
    stored.cluster.topics.create("gone", 2, 1)
    stored.append("x", topic="gone")
    stored.shadow.sync()
    first_id = stored.partition().topic.id
    stored.cluster.delete_topic(stored.cluster.topics["gone"])
    stored.cluster.delete_topic(stored.cluster.topics["t"])
    stored.cluster.topics.create("t", 3, 1, configs={"retention.ms": "77"})
    stored.append("new")
    stored.cluster.alter_topic(stored.cluster.topics["t"], {"retention.ms": "78"})
    stored.shadow.sync()
    again = after_kill(stored)
    assert list(again.cluster.topics) == ["t"]
    topic = again.cluster.topics["t"]
    assert topic.id != first_id
    assert topic.config.overrides == {"retention.ms": "78"}
    assert [len(each.log.read(0, 1 << 20, each.log.end_offset, at_least_one=True)) for each in topic.partitions] == [1, 0, 0]
    assert values(again.partition()) == [(0, "new")]


def test_segments_roll_and_retention_deletes_them(data: Path) -> None:
    stored = with_topic(data, segment_bytes=str(1 << 20))
    for number in range(12):
        stored.append("." * 400_000, timestamp=NOW_MS + number)
        stored.shadow.sync()
    assert files(stored) == ["00000", "00002", "00004", "00006", "00008", "00010"]
    stored.partition().delete_before(5)
    stored.shadow.sync()
    assert files(stored) == ["00004", "00006", "00008", "00010"]
    again = after_kill(stored)
    assert [offset for offset, _ in values(again.partition())] == list(range(5, 12))
    again.partition().delete_before(12)
    again.shadow.sync()
    assert files(again) == ["00012"]
    empty = after_kill(again)
    assert (empty.partition().log.start_offset, empty.partition().log.end_offset) == (12, 12)
    empty.append("next")
    empty.shadow.sync()
    assert values(after_kill(empty).partition()) == [(12, "next")]


def test_segments_roll_after_segment_ms(data: Path) -> None:
    stored = with_topic(data, segment_ms="1000")
    for number in range(3):
        stored.append("x", timestamp=NOW_MS + 600 * number)
    stored.shadow.sync()
    assert files(stored) == ["00000", "00002"]


def test_truncated_records_are_removed_from_the_files(data: Path) -> None:
    stored = with_topic(data, segment_bytes=str(1 << 20))
    for _ in range(4):
        stored.append("." * 600_000)
        stored.shadow.sync()
    stored.shadow.checkpoint()
    stored.partition().truncate_to(2)
    stored.append("other")
    stored.shadow.sync()
    assert files(stored) == ["00000", "00001"]
    again = after_kill(stored)
    assert [(offset, len(value)) for offset, value in values(again.partition())] == [(0, 600_000), (1, 600_000), (2, 5)]
    again.partition().truncate_to(1)
    again.shadow.sync()
    assert [offset for offset, _ in values(after_kill(again).partition())] == [0]


def test_truncation_to_the_start_and_before_it_is_written(data: Path) -> None:
    stored = with_topic(data)
    stored.append("a")
    stored.append("b")
    stored.shadow.sync()
    stored.partition().delete_before(2)
    stored.append("c")
    stored.shadow.sync()
    stored.partition().truncate_to(1)
    stored.append("d")
    stored.shadow.sync()
    assert values(after_kill(stored).partition()) == [(1, "d")]


def test_compacted_segments_are_written_again(data: Path) -> None:
    stored = with_topic(data, cleanup_policy="compact", segment_bytes=str(1 << 20), min_cleanable_dirty_ratio="0")
    for number in range(6):
        stored.append("." * 600_000 + str(number), key=b"k")
        stored.shadow.sync()
    stored.cluster.log_cleaner.compact(now=True)
    stored.shadow.sync()
    kept = values(stored.partition())
    assert len(kept) < 6
    stored.work()
    sizes = [path.stat().st_size for path in sorted((data / "t-0").glob("*.log"))]
    assert sizes[:3] == [0, 0, 0]
    stored.shadow.checkpoint()
    assert values(after_kill(stored).partition()) == kept


def test_records_deleted_before_they_were_written(data: Path) -> None:
    stored = with_topic(data)
    stored.append("a")
    stored.partition().delete_before(1)
    stored.shadow.sync()
    again = after_kill(stored)
    assert (again.partition().log.start_offset, again.partition().log.end_offset) == (1, 1)


def test_start_within_a_batch_is_kept(data: Path) -> None:
    stored = with_topic(data)
    stored.append("a", "b", "c")
    stored.shadow.sync()
    stored.partition().delete_before(2)
    stored.shadow.sync()
    again = after_kill(stored)
    assert values(again.partition()) == [(2, "c")]
    again.append("d")
    again.partition().delete_before(3)
    again.shadow.sync()
    assert values(after_kill(again).partition()) == [(3, "d")]


def test_checkpoint_bounds_what_a_start_reads(data: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shadow_module, "CHECKPOINT_BYTES", 100_000)
    stored = with_topic(data)
    for _ in range(20):
        stored.append("." * 10_000, timestamp=NOW_MS)
        stored.shadow.sync()
    stored.work()
    for _ in range(8):
        stored.append("." * 10_000, timestamp=NOW_MS + 5)
        stored.shadow.sync()
    point = int((data / "recovery-point-offset-checkpoint").read_text().split()[-1])
    assert 0 < point <= 20
    stored.kill()
    log = data / "t-0" / f"{0:020d}.log"
    content = bytearray(log.read_bytes())
    content[70] ^= 1  # in the first batch, which is not read again
    log.write_bytes(content)
    found = read_log(log.parent, None, point, within_segments=True)
    assert (found.end_offset, found.damages) == (28, [])
    assert KeptCluster(data).partition().log.end_offset == 28


def test_index_of_a_growing_segment_finds_every_offset(data: Path) -> None:
    stored = with_topic(data)
    for number in range(200):
        stored.append("." * (number * 37 % 3000), timestamp=NOW_MS + number * 7919 % 100)
        if number % 50 == 49:
            stored.shadow.sync()
            stored.shadow.checkpoint()
    stored.stop()
    found = read_log(data / "t-0", None, None)
    log = ShadowedLog(stored.shadow._changes)
    log.load(found.segments, 0, found.end_offset, found.epochs)
    plain = stored.partition().log
    for offset in range(200):
        assert bytes(log.read(offset, 1, 200, at_least_one=True)[0]) == bytes(plain.read(offset, 1, 200, at_least_one=True)[0])
    for timestamp in range(NOW_MS, NOW_MS + 100):
        batches = [each and bytes(each) for each in (log.find_timestamp(timestamp), plain.find_timestamp(timestamp))]
        assert batches[0] == batches[1]


def test_transaction_is_written_in_the_order_of_its_steps(data: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The records of coordinators are in the files before what follows from them, and after what they confirm."""
    stored = with_topic(data)
    stored.cluster.topics.ensure_internal("__transaction_state")
    stored.shadow.sync()
    written: list[str] = []
    append = partition_files.PartitionFiles.append

    def noted(self: Any, slices: Any, end: int) -> None:
        written.append(self.folder.name)
        append(self, slices, end)

    monkeypatch.setattr(partition_files.PartitionFiles, "append", noted)
    stored.append("prepared", topic="__transaction_state")
    stored.append("marker")
    stored.append("another")
    stored.append("complete", topic="__transaction_state")
    stored.shadow.sync()
    assert written == ["__transaction_state-0", "t-0", "__transaction_state-0"]


@pytest.fixture
def full_disk(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[int]]:
    """A disk with room for a number of bytes, after which writes are cut off and fail."""
    room, write = [10**9], os.writev

    def writev(descriptor: int, parts: list[memoryview]) -> int:
        if room[0] <= 0:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        written = write(descriptor, [parts[0][: room[0]]])
        room[0] -= written
        return written

    monkeypatch.setattr(os, "writev", writev)
    yield room


def test_full_disk_acknowledges_nothing_and_heals(data: Path, full_disk: list[int], caplog: pytest.LogCaptureFixture) -> None:
    stored = with_topic(data)
    stored.append("a")
    assert stored.shadow.sync()
    full_disk[0] = 10
    stored.append("b")
    assert not stored.shadow.sync()
    assert stored.shadow.sync()  # because this turn has changed nothing
    stored.append("c")
    assert not stored.shadow.sync()
    assert caplog.text.count("cannot write") == 1
    full_disk[0] = 10**9
    assert stored.shadow.sync()
    assert "can be written again" in caplog.text or stored.shadow._has_failed is False
    assert values(after_kill(stored).partition()) == [(0, "a"), (1, "b"), (2, "c")]


def test_failed_write_within_a_turn_fails_its_end(data: Path, full_disk: list[int], monkeypatch: pytest.MonkeyPatch) -> None:
    """A checkpoint writes what the turn has changed until then."""
    monkeypatch.setattr(shadow_module, "CHECKPOINT_BYTES", 100)
    monkeypatch.setattr(shadow_module, "MIN_CHECKPOINT_BYTES", 10)
    stored = with_topic(data)
    stored.append("." * 200)
    assert stored.shadow.sync()
    stored.append("b")
    full_disk[0] = 0
    stored.work()
    assert not stored.shadow.sync()
    assert stored.shadow.sync()  # because nothing is new
    full_disk[0] = 10**9
    assert stored.shadow.sync()
    assert [value for _, value in values(after_kill(stored).partition())] == ["." * 200, "b"]


def test_topic_created_again_before_a_checkpoint_is_kept(data: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shadow_module, "CHECKPOINT_BYTES", 100)
    monkeypatch.setattr(shadow_module, "MIN_CHECKPOINT_BYTES", 10)
    stored = with_topic(data)
    stored.cluster.topics.create("u", 1, 1)
    stored.append("old")
    stored.append("." * 200, topic="u")
    stored.shadow.sync()
    stored.cluster.delete_topic(stored.cluster.topics["t"])
    stored.cluster.topics.create("t", 1, 1)
    stored.append("new")
    stored.work()  # the checkpoint of u
    stored.shadow.sync()
    assert values(after_kill(stored).partition()) == [(0, "new")]


def test_kill_while_the_disk_is_full_leaves_what_was_written(data: Path, full_disk: list[int]) -> None:
    stored = with_topic(data)
    stored.append("a")
    stored.shadow.sync()
    full_disk[0] = 40
    stored.append("b")
    stored.shadow.sync()
    stored.shadow.close()
    full_disk[0] = 10**9
    assert values(after_kill(stored).partition()) == [(0, "a")]


def test_short_writes_are_continued(data: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write, random = os.writev, Random(1)

    def writev(descriptor: int, parts: list[memoryview]) -> int:
        some = parts[: random.randint(1, len(parts))]
        return write(descriptor, [*some[:-1], some[-1][: random.randint(1, len(some[-1]))]])

    stored = with_topic(data)
    stored.shadow.sync()
    monkeypatch.setattr(os, "writev", writev)
    for number in range(20):
        batch = build_batch([Record(0, NOW_MS, None, str(number).encode() * 20_000, [])])
        stored.partition().log.append(memoryview(bytearray(batch)), 0, owned=True)
    stored.shadow.sync()
    expected = values(stored.partition())
    assert len(expected) == 20
    assert values(after_kill(stored).partition()) == expected


def test_flush_messages_waits_for_the_disk(data: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    synced: list[int] = []
    monkeypatch.setattr(os, "fdatasync", synced.append)
    stored = with_topic(data, flush_messages="2")
    stored.shadow.sync()
    synced.clear()
    stored.append("a")
    stored.shadow.sync()
    assert synced == []
    stored.append("b")
    stored.shadow.sync()
    assert len(synced) == 1
    stored.append("c", "d")
    stored.shadow.sync()
    assert len(synced) == 2


@pytest.mark.parametrize("acknowledged", [0, 3])
def test_torn_write_is_the_last_one_and_is_cut_off(data: Path, acknowledged: int, caplog: pytest.LogCaptureFixture) -> None:
    crashes: list[str] = []
    stored = with_topic(data)
    stored.cluster.topics.create("u", 1, 1)
    stored.shadow.on_crash = lambda: crashes.append("crash")
    for _ in range(acknowledged):
        stored.append("a")
        stored.append("b", topic="u")
        assert stored.shadow.sync()
    stored.shadow.tear("t")
    stored.append("other", topic="u")
    assert stored.shadow.sync()
    stored.append("torn")
    assert not stored.shadow.sync()
    stored.append("after", topic="u")
    assert not stored.shadow.sync()
    stored.shadow.close()
    assert crashes == ["crash"]
    assert "has ended after" in caplog.text
    stored.directory.unlock()
    again = KeptCluster(data)
    assert values(again.partition()) == [(offset, "a") for offset in range(acknowledged)]
    assert values(again.partition("u"))[-1] == (acknowledged, "other")
    assert "Found invalid messages in log segment" in caplog.text


def test_abandoned_files_are_as_after_a_kill(data: Path) -> None:
    stored = with_topic(data)
    stored.append("a")
    stored.shadow.sync()
    stored.append("b")
    stored.shadow.abandon()
    assert not stored.shadow.sync()
    with pytest.raises(OSError):
        stored.shadow.checkpoint()
    again = stored.directory.open()
    again.unlock()
    assert values(KeptCluster(data).partition()) == [(0, "a")]


def test_flush_ms_waits_for_the_disk_later(data: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture) -> None:
    synced: list[int] = []

    def sync(descriptor: int) -> None:
        synced.append(descriptor)
        if len(synced) == 1:
            raise OSError(errno.EIO, os.strerror(errno.EIO))

    stored = with_topic(data, flush_ms="100")
    stored.shadow.sync()
    monkeypatch.setattr(os, "fdatasync", sync)
    for value in "ab":
        stored.append(value)
        stored.shadow.sync()
        stored.turns.timers.advance(NOW_MS + 50)
    assert synced == []
    stored.turns.timers.advance(NOW_MS + 100)
    assert len(synced) == 1
    assert "it is tried again after flush.ms" in caplog.text
    stored.turns.timers.advance(NOW_MS + 200)
    stored.turns.timers.advance(NOW_MS + 900)
    assert len(synced) == 2
    stored.append("c")
    stored.shadow.sync()
    stored.cluster.delete_topic(stored.cluster.topics["t"])
    stored.shadow.sync()
    synced.clear()
    stored.turns.timers.advance(NOW_MS + 9000)
    assert synced == [], "the files of the topic are gone"


def test_emptied_log_is_written_to_one_segment(data: Path) -> None:
    stored = with_topic(data)
    stored.append("a", "b")
    stored.shadow.sync()
    stored.partition().log.truncate_to(0)
    stored.shadow.sync()
    stored.append("c", "d")
    stored.append("e")
    stored.shadow.sync()
    stored.partition().delete_before(1)
    stored.shadow.sync()
    assert values(after_kill(stored).partition()) == [(1, "d"), (2, "e")]


@pytest.mark.parametrize("name", ["flush_messages", "flush_ms"])
def test_flushed_log_that_was_truncated_is_flushed_again(data: Path, name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    stored = with_topic(data, **{name: "1" if name == "flush_messages" else "0"})
    stored.append("a", "b", "c")
    stored.shadow.sync()
    stored.partition().log.truncate_to(0)
    stored.shadow.sync()
    synced: list[int] = []
    monkeypatch.setattr(os, "fdatasync", synced.append)
    stored.append("d")
    stored.shadow.sync()
    assert len(synced) == 1


def test_producers_and_transactions_continue_after_a_kill(data: Path) -> None:
    stored = with_topic(data)
    partition = stored.partition()

    def append(producer_id: int, sequence: int) -> None:
        rows = [Record(0, NOW_MS, None, b"v", [])]
        batch = build_batch(rows, producer_id=producer_id, producer_epoch=0, base_sequence=sequence, is_transactional=True)
        offset = partition.log.append(memoryview(batch), 0, owned=False)
        partition.producers.record(producer_id, 0, sequence, sequence, offset, offset, NOW_MS, NOW_MS, transactional=True)

    from odradek.broker.transactions.transaction import Marker, Producer

    append(7, 0)
    partition.append_marker(Marker(Producer(7, 0), 0, committed=False, raises_epoch=False), NOW_MS)
    stored.shadow.sync()
    stored.shadow.checkpoint()
    append(7, 1)
    append(8, 0)
    stored.shadow.sync()
    again = after_kill(stored).partition()
    assert again.producers.open_since(7) == 2
    assert again.producers.open_since(8) == 3
    assert [each.producer_id for each in again.producers.aborted(0, 4)] == [7]
    assert (data / "t-0" / f"{0:020d}.txnindex").stat().st_size == 34


def test_metadata_log_begins_again_when_it_is_long(data: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shadow_module, "MAX_METADATA_BYTES", 500)
    stored = KeptCluster(data)
    for number in range(20):
        stored.cluster.topics.create(f"t{number}", 2, 1)
        stored.shadow.sync()
    assert len(list((data / "__cluster_metadata-0").glob("*.checkpoint"))) == 1
    assert len(after_kill(stored).cluster.topics) == 20


def test_topic_with_many_partitions_is_there_whole(data: Path) -> None:
    stored = KeptCluster(data)
    stored.cluster.topics.create("wide", 1200, 1)
    stored.shadow.sync()
    size = stored.shadow._writer.size
    assert len(after_kill(stored).cluster.topics["wide"].partitions) == 1200
    assert size > 0


def test_more_logs_than_open_files(data: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shadow_module, "MAX_OPEN_FILES", 2)
    stored = KeptCluster(data)
    for number in range(5):
        stored.cluster.topics.create(f"t{number}", 1, 1)
    for _ in range(2):
        for number in range(5):
            stored.append("v", topic=f"t{number}")
        stored.shadow.sync()
    again = after_kill(stored)
    assert [len(values(again.partition(f"t{number}"))) for number in range(5)] == [2] * 5


def test_leaders_of_several_nodes_stay(data: Path) -> None:
    stored = KeptCluster(data, nodes=3)
    stored.cluster.topics.create("t", 3, 3, assignments=[[1, 2, 3], [2, 3, 1], [3, 1, 2]])
    stored.shadow.sync()
    stored.kill()
    again = KeptCluster(data, nodes=3)
    assert [each.leader for each in again.cluster.topics["t"].partitions] == [1, 2, 3]


def test_log_without_records_after_a_truncation(data: Path) -> None:
    stored = with_topic(data)
    stored.append("a")
    stored.shadow.sync()
    stored.partition().delete_before(1)
    stored.shadow.sync()
    stored.append("b")
    stored.shadow.sync()
    stored.shadow.checkpoint()
    stored.append("c")
    stored.shadow.sync()
    stored.shadow.checkpoint()
    stored.partition().truncate_to(2)
    stored.append("c")
    stored.shadow.sync()
    stored.partition().truncate_to(0)
    stored.shadow.sync()
    stored.shadow.checkpoint()
    assert files(stored) == []
    stored.append("d")
    stored.shadow.sync()
    assert values(after_kill(stored).partition()) == [(0, "d")]


def test_truncation_moves_all_writes_of_a_turn_to_its_end(data: Path) -> None:
    stored = with_topic(data)
    stored.cluster.topics.ensure_internal("__transaction_state")
    stored.append("a", "b")
    stored.append("prepared", topic="__transaction_state")
    stored.partition().truncate_to(0)
    stored.append("c", "d", "e")
    stored.shadow.sync()
    assert [value for _, value in values(after_kill(stored).partition())] == ["c", "d", "e"]


@pytest.mark.parametrize("name", ["write", "replace"])
def test_metadata_that_cannot_be_written_is_written_later(data: Path, monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    stored = KeptCluster(data)
    stored.cluster.topics.create("t", 1, 1)
    with monkeypatch.context() as failing:
        if name == "write":
            failing.setattr(os, "write", lambda *_: 3)
        else:
            failing.setattr(Path, "replace", _fail)
            stored.append("a")
        assert not stored.shadow.sync()
    assert stored.shadow.sync()
    assert not list(data.rglob("*.cleaned"))
    assert list(after_kill(stored).cluster.topics) == ["t"]


def _fail(*_: object) -> None:
    raise OSError(errno.EIO, os.strerror(errno.EIO))


def test_topic_is_deleted_after_an_attempt_that_failed(data: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    stored = KeptCluster(data)
    name = "n" * 249
    stored.cluster.topics.create(name, 1, 1)
    stored.append("a", topic=name)
    stored.shadow.sync()
    stored.cluster.delete_topic(stored.cluster.topics[name])
    with monkeypatch.context() as failing:
        failing.setattr(Path, "rename", _fail)
        assert not stored.shadow.sync()
    assert stored.shadow.sync()
    stored.stop()
    assert not [path for path in data.iterdir() if path.name.startswith("n")]


def test_failed_checkpoint_is_only_a_warning(data: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture) -> None:
    monkeypatch.setattr(shadow_module, "CHECKPOINT_BYTES", 100)
    monkeypatch.setattr(shadow_module, "MIN_CHECKPOINT_BYTES", 10)
    stored = with_topic(data)
    stored.append("." * 200)
    stored.shadow.sync()
    with monkeypatch.context() as failing:
        failing.setattr(Path, "replace", _fail)
        stored.work()
        assert "no checkpoint of" in caplog.text
        stored.shadow.close()
    assert "the next start recovers it as after a crash" in caplog.text
    assert values(after_kill(stored).partition())[0][0] == 0
