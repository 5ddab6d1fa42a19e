"""Validation of batches. The error codes in the table are those of Apache Kafka 4.3.1 for the same bytes."""

from __future__ import annotations

import subprocess
import sys
from typing import Any, NamedTuple

import pytest
from hypothesis import given
from hypothesis import strategies as st

from odradek.protocol.batches.batch_validation import NotOneBatch, only_batch, validate_batch
from odradek.protocol.batches.compression import Compression
from odradek.protocol.batches.record_builder import build_batch
from odradek.protocol.batches.records import HEADER, BatchError, Record, read_header, write_crc
from odradek.protocol.errors import ErrorCode

TIMESTAMP = 1_700_000_000_000
GOOD = bytes(build_batch([Record(0, TIMESTAMP, b"key", b"value", [])]))
LIMIT = 2000
LARGE = [Record(0, TIMESTAMP, None, bytes(3000), [])]


def answer(data: bytes | bytearray, limit: int = LIMIT) -> ErrorCode:
    try:
        header = validate_batch(memoryview(data), limit)
    except BatchError as error:
        assert str(error)
        return error.error_code
    assert header == read_header(data)
    return ErrorCode.NONE


def changed(*, crc: bool = True, **fields: Any) -> bytes:
    """Returns the good batch with other header fields, and with the right CRC unless `crc` is False."""
    data = bytearray(HEADER.pack(*read_header(GOOD)._replace(**fields)) + GOOD[HEADER.size :])
    if crc:
        write_crc(data)
    return bytes(data)


def falsified(data: bytes | bytearray) -> bytes:
    return bytes(data[:-1]) + bytes([data[-1] ^ 1])


def short(size: int, **fields: Any) -> bytes:
    """Returns the first `size` bytes of a batch, whose header has that size."""
    return changed(batch_length=size - 12, **fields)[:size]


class Case(NamedTuple):
    name: str
    data: bytes | bytearray
    answer: ErrorCode


NONE, CORRUPT, INVALID, UNKNOWN = ErrorCode.NONE, ErrorCode.CORRUPT_MESSAGE, ErrorCode.INVALID_RECORD, ErrorCode.UNKNOWN_SERVER_ERROR
CASES = [
    Case("good", GOOD, NONE),
    # Exactly one batch. Less than a whole batch after it is ignored.
    Case("nothing", b"", INVALID),
    Case("no magic yet", GOOD[:16], INVALID),
    Case("a cut header", GOOD[:17], INVALID),
    Case("a cut record", GOOD[:-1], INVALID),
    Case("two", GOOD + GOOD, INVALID),
    Case("two, the first corrupt", falsified(GOOD) + GOOD, INVALID),
    Case("two, the second of format 1", GOOD + changed(magic=1), INVALID),
    Case("one and 3 bytes", GOOD + b"abc", NONE),
    Case("one and 16 bytes", GOOD + GOOD[:16], NONE),
    Case("one and a cut one", GOOD + GOOD[:40], NONE),
    Case("one and a cut one of format 1", GOOD + changed(magic=1)[:40], NONE),
    Case("a control batch and 3 bytes", changed(attributes=0x20) + b"abc", INVALID),
    Case("one and a length of 0", GOOD + bytes(17), CORRUPT),
    Case("one and a length of 13", GOOD + bytes(11) + b"\x0d" + bytes(10), CORRUPT),
    Case("one and a cut one of unknown magic", GOOD + changed(magic=9)[:40], CORRUPT),
    # Lengths and formats.
    Case("a length of 13", changed(batch_length=13), CORRUPT),
    Case("a length of 13 in 12 bytes", changed(batch_length=13)[:12], CORRUPT),
    Case("a length of -1", changed(batch_length=-1), CORRUPT),
    Case("magic 0", changed(magic=0), INVALID),
    Case("magic 1", changed(magic=1), INVALID),
    Case("magic 3", changed(magic=3), CORRUPT),
    Case("magic -1", changed(magic=-1), CORRUPT),
    Case("magic 9, cut before it", changed(magic=9)[:16], INVALID),
    Case("magic 9, cut after it", changed(magic=9)[:17], CORRUPT),
    Case("no producer id", short(50), UNKNOWN),
    Case("no producer id, a base offset", short(26, base_offset=1), UNKNOWN),
    Case("no producer epoch", short(51), CORRUPT),
    Case("no producer epoch, a base offset", short(51, base_offset=1), INVALID),
    Case("no records count", short(60), CORRUPT),
    # Base offset before size before CRC before compression type before structure.
    Case("a base offset", changed(base_offset=5), INVALID),
    Case("a base offset, corrupt", falsified(changed(base_offset=5)), INVALID),
    Case("large, a base offset", build_batch([LARGE[0]._replace(offset=1)], base_offset=1), INVALID),
    Case("large", build_batch(LARGE), ErrorCode.MESSAGE_TOO_LARGE),
    Case("large, corrupt", falsified(build_batch(LARGE)), ErrorCode.MESSAGE_TOO_LARGE),
    Case("corrupt", falsified(GOOD), CORRUPT),
    Case("codec 5", changed(attributes=5), UNKNOWN),
    Case("codec 7", changed(attributes=7), UNKNOWN),
    Case("codec 7, corrupt", changed(attributes=7, crc=False), CORRUPT),
    Case("codec 7, a base offset", changed(attributes=7, base_offset=3), INVALID),
    Case("codec 7, wrong count", changed(attributes=7, last_offset_delta=3), UNKNOWN),
    Case("codec 7, control", changed(attributes=0x27), UNKNOWN),
    # Structure.
    Case("last offset delta -1", changed(last_offset_delta=-1), INVALID),
    Case("last offset delta -1, count 0", changed(last_offset_delta=-1, records_count=0), INVALID),
    Case("count 0", changed(records_count=0), INVALID),
    Case("count -1", changed(records_count=-1), INVALID),
    Case("count 2", changed(records_count=2), INVALID),
    Case("last offset delta 1", changed(last_offset_delta=1), INVALID),
    Case("control", changed(attributes=0x20), INVALID),
    Case("a producer id without sequence", changed(producer_id=5, producer_epoch=0), INVALID),
    Case("a producer id without sequence, control", changed(producer_id=5, producer_epoch=0, attributes=0x20), INVALID),
    Case("a producer id without epoch", changed(producer_id=5, base_sequence=0), NONE),
    Case("producer id -2", changed(producer_id=-2), NONE),
    Case("a sequence without producer id", changed(base_sequence=3), NONE),
    # Bits that are ignored.
    Case("unknown attributes", changed(attributes=0x7F80), NONE),
    Case("a delete horizon", changed(attributes=0x40), NONE),
    Case("log append time", changed(attributes=0x08), NONE),
]


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_validate_batch_answers_as_apache_kafka(case: Case) -> None:
    assert answer(case.data) is case.answer


@pytest.mark.parametrize("codec", Compression)
def test_validate_batch_any_codec_is_accepted(codec: Compression) -> None:
    header = validate_batch(memoryview(build_batch([Record(0, TIMESTAMP, b"k", b"v", [])], compression=codec)))
    assert header.compression is codec


def test_validate_batch_partial_batch_after_it_is_ignored() -> None:
    assert validate_batch(memoryview(GOOD + b"abc")).size == len(GOOD)


def test_validate_batch_limit_is_inclusive() -> None:
    assert answer(GOOD, len(GOOD)) is ErrorCode.NONE
    assert answer(GOOD, len(GOOD) - 1) is ErrorCode.MESSAGE_TOO_LARGE
    assert validate_batch(memoryview(build_batch(LARGE))).size > LIMIT


@pytest.mark.parametrize("end", range(len(GOOD)))
def test_validate_batch_proper_prefix_is_invalid(end: int) -> None:
    assert answer(GOOD[:end]) is ErrorCode.INVALID_RECORD


@pytest.mark.parametrize("position", [position for position in range(len(GOOD)) if position not in range(12, 16)])
def test_validate_batch_changed_byte_is_refused(position: int) -> None:
    """The leader epoch is left out, because a broker overwrites it."""
    for bit in range(8):
        data = bytearray(GOOD)
        data[position] ^= 1 << bit
        assert answer(data) is not ErrorCode.NONE


def test_validate_batch_leader_epoch_is_ignored() -> None:
    assert answer(changed(partition_leader_epoch=77, crc=False)) is ErrorCode.NONE


@given(st.binary(max_size=120))
def test_validate_batch_random_bytes_are_refused(data: bytes) -> None:
    assert answer(data) is not ErrorCode.NONE


@given(st.data())
def test_validate_batch_random_header_is_accepted_if_consistent(data: st.DataObject) -> None:
    fields = {
        "base_offset": st.sampled_from([0, 0, 0, 1]),
        "attributes": st.integers(-(1 << 15), (1 << 15) - 1),
        "last_offset_delta": st.integers(-2, 2),
        "records_count": st.integers(-2, 3),
        "producer_id": st.integers(-2, 2),
        "base_sequence": st.integers(-2, 2),
    }
    drawn: dict[str, Any] = {name: data.draw(values, name) for name, values in fields.items()}
    batch = changed(**drawn)
    header = read_header(batch)
    accepted = (
        header.base_offset == 0
        and header.attributes & 7 <= 4
        and not header.is_control
        and header.records_count == header.last_offset_delta + 1 > 0
        and (header.producer_id < 0 or header.base_sequence >= 0)
    )
    assert (answer(batch) is ErrorCode.NONE) is accepted


def test_checksum_is_chosen_on_first_use() -> None:
    code = """
import sys
from odradek.protocol.batches import records
chosen = "odradek.protocol.batches.checksum"
assert chosen not in sys.modules
assert records.crc32c(b"123456789") == 0xE3069283
assert chosen in sys.modules
assert not {"crc32c", "importlib.metadata"} & set(sys.modules), "the package takes 20 ms to import, its extension module less than one"
"""
    subprocess.run([sys.executable, "-c", code], check=True, env={"PYTHONPATH": ":".join(sys.path)})


@pytest.mark.parametrize(("length", "error"), [((1 << 31) - 13, NotOneBatch), ((1 << 31) - 12, BatchError), ((1 << 31) - 1, BatchError)])
def test_only_batch_length_above_java_limit_raises(length: int, error: type[BatchError]) -> None:
    batch = bytearray(build_batch([Record(0, 1000, None, b"v", [])]))
    batch[8:12] = length.to_bytes(4, "big")
    with pytest.raises(error) as raised:
        only_batch(memoryview(batch))
    assert type(raised.value) is error
