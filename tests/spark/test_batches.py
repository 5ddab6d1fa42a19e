"""Batches of a fetch: which are visible to a reader, and which are rejected."""

from __future__ import annotations

import pytest

from odradek.protocol.batches.record_builder import build_batch
from odradek.protocol.batches.records import CorruptBatch, InvalidRecords, Record
from odradek.protocol.messages.fetch import AbortedTransaction
from odradek.spark_sink.batches import Batches, visible
from tests.spark.decoder_reference import decoded, rows_of

COMMIT, ABORT = 1, 0


def batch(offset: int, producer: int = -1, count: int = 2, *, marker: int | None = None) -> bytearray:
    key = None if marker is None else b"\0\0" + marker.to_bytes(2, "big")
    return build_batch(
        [Record(offset + number, 0, key, b"%d" % offset, []) for number in range(1 if key else count)],
        base_offset=offset,
        producer_id=producer,
        producer_epoch=0,
        is_transactional=producer >= 0,
        is_control=key is not None,
    )


def test_visible_control_batches_are_left_out() -> None:
    log = batch(0, 7) + batch(2, 7, marker=COMMIT) + batch(3)
    assert [row.offset for row in rows_of(decoded(log))] == [0, 1, 3, 4]


def test_visible_aborted_batches_end_at_the_abort_marker() -> None:
    log = (
        batch(0, 7)
        + batch(2, 8)
        + batch(4)
        + batch(6, 7, marker=ABORT)
        + batch(7, 7)
        + batch(9, 8, marker=COMMIT)
        + batch(10, 7, marker=ABORT)
    )
    aborted = [AbortedTransaction(producer_id=7, first_offset=0)]
    assert [row.offset for row in rows_of(decoded(log, aborted=aborted))] == [2, 3, 4, 5, 7, 8]
    aborted.append(AbortedTransaction(producer_id=7, first_offset=7))
    assert [row.offset for row in rows_of(decoded(log, aborted=aborted))] == [2, 3, 4, 5]


def test_visible_abort_after_commit_drops_the_second_only() -> None:
    log = batch(0, 7) + batch(2, 7, marker=COMMIT) + batch(3, 7) + batch(5, 7, marker=ABORT)
    aborted = [AbortedTransaction(producer_id=7, first_offset=3)]
    assert [row.offset for row in rows_of(decoded(log, aborted=aborted))] == [0, 1]


def test_visible_batches_outside_of_the_range_are_left_out() -> None:
    batches = Batches.of(memoryview(batch(0) + batch(2) + batch(4) + batch(6)))
    assert visible(batches, 3, 5, []).base_offsets.tolist() == [2, 4]


def test_visible_batch_emptied_by_compaction_is_left_out() -> None:
    emptied = batch(0)[:61]
    emptied[8:12] = (49).to_bytes(4, "big")
    emptied[57:61] = bytes(4)
    batches = Batches.of(memoryview(emptied + batch(2)))
    assert batches.last_offsets.tolist() == [1, 3]
    assert visible(batches, 0, 9, []).base_offsets.tolist() == [2]


@pytest.mark.parametrize(
    ("position", "byte", "error", "text"),
    [
        (11, 3, CorruptBatch, "a batch length of 3"),
        (11, 20, CorruptBatch, "a batch of 32 bytes is less than its header"),
        (16, 1, InvalidRecords, "only record batches of format 2"),
        (57, 0x80, InvalidRecords, "a count of -"),
    ],
)
def test_batches_invalid_header_raises(position: int, byte: int, error: type[Exception], text: str) -> None:
    damaged = batch(0, count=1)
    damaged[position] = byte
    with pytest.raises(error, match=text):
        Batches.of(memoryview(damaged))


def test_decompress_unknown_or_failing_codec_raises() -> None:
    for attributes, text in [(7, "no compression type 7"), (4, "zstd")]:
        damaged = batch(0)
        damaged[22] = attributes
        with pytest.raises(InvalidRecords, match=text):
            decoded(damaged)


def test_check_crcs_wrong_checksum_raises() -> None:
    log = batch(0) + batch(2)
    Batches.of(memoryview(log)).check_crcs()
    log[-1] ^= 1
    with pytest.raises(CorruptBatch, match="batch at offset 2"):
        Batches.of(memoryview(log)).check_crcs()
