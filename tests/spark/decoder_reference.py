"""Expected results of the decoder, computed with the record reader of `protocol`, and strategies that generate record batches."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import pyarrow as pa
from hypothesis import strategies as st

from odradek.protocol.batches.compression import Compression
from odradek.protocol.batches.record_builder import build_batch
from odradek.protocol.batches.records import Record, batches
from odradek.spark_sink.batches import Batches
from odradek.spark_sink.decoder import COLUMN_TYPES, Decoder

ALL_COLUMNS = pa.schema(list(COLUMN_TYPES.items()))
EVERYTHING = (0, 1 << 62)
# Sizes at which the encoded lengths of records, keys and values grow by a byte, and some ordinary sizes.
SIZES = st.sampled_from([0, 1, 5, 12, 50, 57, 58, 63, 64, 100, 8180, 8191, 8192, 9000])


class Row(NamedTuple):
    key: bytes | None
    value: bytes | None
    topic: str
    partition: int
    offset: int
    timestamp_us: int
    timestamp_type: int
    headers: list[tuple[str, bytes | None]] | None


def expected_rows(buffer: bytes | bytearray, start: int = 0, end: int = 1 << 62) -> list[Row]:
    return [
        Row(r.key, r.value, "t", 3, r.offset, r.timestamp * 1000, batch.header.timestamp_type, r.headers or None)
        for batch in batches(buffer)
        if not batch.header.is_control
        for r in batch.records()
        if start <= r.offset < end
    ]


def decoded(buffer: bytes | bytearray, start: int = 0, end: int = 1 << 62, aborted: Sequence[Any] = ()) -> list[Any]:
    found = list(Decoder(ALL_COLUMNS, "t", 3).decode(Batches.of(memoryview(buffer)), start, end, aborted))
    for batch in found:
        batch.validate(full=True)
    return found


def rows_of(found: Sequence[Any]) -> list[Row]:
    rows: list[Row] = []
    for batch in found:
        columns = {name: batch.column(name) for name in batch.schema.names}
        columns["timestamp"] = columns["timestamp"].cast(pa.int64())
        headers = [h and [(one["key"], one["value"]) for one in h] for h in columns.pop("headers").to_pylist()]
        rows += map(Row._make, zip(*(column.to_pylist() for column in columns.values()), headers, strict=True))
    return rows


def contents(size: st.SearchStrategy[int] = SIZES) -> st.SearchStrategy[bytes]:
    return st.builds(lambda size, fill: bytes([fill]) * size, size, st.sampled_from([0, 1, 127, 128, 255]))


HEADERS = st.lists(st.tuples(st.sampled_from(["", "a", "key", "ключ", "k" * 70]), st.none() | contents()), max_size=3)
BODIES = st.tuples(st.none() | contents(), st.none() | contents(), st.just([]) | HEADERS)


@st.composite
def record_batch(draw: st.DrawFn, codecs: Sequence[Compression] = tuple(Compression)) -> bytearray:
    """Draws a batch at offset 0, possibly with gaps as compaction leaves them."""
    bodies = draw(st.lists(BODIES, min_size=1, max_size=6)) * draw(st.sampled_from([1, 1, 2, 30]))
    gap, step = draw(st.sampled_from([1, 1, 1, 2, 100])), draw(st.sampled_from([0, 1, -1, 40, 1 << 33]))
    first = draw(st.sampled_from([-1, 0, 1_700_000_000_000]))
    records = [Record(number * gap, first + number * step, *body) for number, body in enumerate(bodies)]
    return build_batch(
        records,
        compression=draw(st.sampled_from(codecs)),
        timestamp_type=draw(st.integers(0, 1)),
        is_control=draw(st.sampled_from([False] * 9 + [True])),
    )


@st.composite
def log(draw: st.DrawFn, codecs: Sequence[Compression] = tuple(Compression)) -> bytes:
    """Draws a log of few batches, or of enough that `record_starts` finds their records in lanes."""
    kinds = draw(st.lists(record_batch(codecs), min_size=1, max_size=3))
    out, offset = bytearray(), draw(st.sampled_from([0, 7, 1 << 40]))
    for number in range(draw(st.sampled_from([1, 2, 25, 70]))):
        batch = bytearray(kinds[number % len(kinds)])
        batch[:8] = offset.to_bytes(8, "big")
        offset += int.from_bytes(batch[23:27], "big") + 1
        out += batch
    return bytes(out)
