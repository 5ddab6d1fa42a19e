from __future__ import annotations

from odradek.protocol.batches.compression import Compression
from odradek.protocol.batches.message_sets import LegacyMessage, build_message, build_message_set
from odradek.protocol.batches.records import Record, RecordBatch
from odradek.storage.directories.old_messages import MAX_RECORDS_PER_BATCH, converted_segment
from odradek.storage.segments import split
from tests.storage.directories.made_segments import batch, message


def wrapper(first: int, count: int, *, magic: int = 1, codec: Compression = Compression.GZIP) -> bytes:
    return build_message_set([Record(first + number, 1000, b"k", b"v", []) for number in range(count)], magic, codec)


def offsets(content: bytes) -> list[list[int]]:
    segment, _ = converted_segment(memoryview(content), 0)
    return [[record.offset for record in RecordBatch(view).records()] for view in split(segment.view)]


def test_messages_share_a_batch_and_keep_gaps() -> None:
    assert offsets(message(0) + message(3) + message(4)) == [[0, 3, 4]]


def test_many_messages_become_several_batches() -> None:
    found = offsets(b"".join(map(message, range(MAX_RECORDS_PER_BATCH + 1))))

    assert [len(each) for each in found] == [MAX_RECORDS_PER_BATCH, 1]


def test_wrappers_of_both_formats_keep_their_offsets() -> None:
    assert offsets(message(0) + wrapper(5, 3) + wrapper(10, 2, magic=0) + batch(20)) == [[0], [5, 6, 7], [10, 11], [20]]


def test_append_time_stays() -> None:
    segment, _ = converted_segment(memoryview(message(0) + message(1, attributes=8)), 0)
    kinds = [RecordBatch(view).header.timestamp_type for view in split(segment.view)]

    assert kinds == [0, 1]


def test_messages_too_far_apart_do_not_share_a_batch() -> None:
    assert offsets(message(0) + message(2**31 - 1)) == [[0, 2**31 - 1]]


def test_damaged_wrapper_ends_the_segment() -> None:
    broken = message(1, attributes=1, value=b"no gzip")
    segment, damage = converted_segment(memoryview(message(0) + broken + message(2)), 0)

    assert segment.end_offset == 1
    assert damage is not None
    assert damage.position == len(message(0))


def test_message_with_a_lying_key_ends_the_segment() -> None:
    from struct import pack
    from zlib import crc32

    body = bytes([0, 0]) + pack(">i", 1000) + b"k" * 20
    lying = pack(">qi", 1, 4 + len(body)) + pack(">I", crc32(body)) + body
    segment, damage = converted_segment(memoryview(message(0, magic=0) + lying), 0)

    assert segment.end_offset == 1
    assert damage is not None
    assert converted_segment(memoryview(lying), 0).segment.end == 0


def test_wrapper_whose_offsets_do_not_ascend_ends_the_segment() -> None:
    inner = b"".join(build_message(LegacyMessage(offset, 0, 0, -1, b"k", b"v")) for offset in (4, 3))
    import gzip

    content = build_message(LegacyMessage(3, 0, 1, -1, None, gzip.compress(inner)))
    segment, damage = converted_segment(memoryview(content), 0)

    assert (segment.end, damage is not None) == (0, True)


def test_wrapper_whose_offsets_are_far_apart_ends_the_segment() -> None:
    import gzip

    inner = b"".join(build_message(LegacyMessage(offset, 0, 0, -1, b"k", b"v")) for offset in (0, 2**31))
    content = build_message(LegacyMessage(2**31, 0, 1, -1, None, gzip.compress(inner)))
    segment, damage = converted_segment(memoryview(content), 2)

    assert (segment.end, damage is not None) == (0, True)
