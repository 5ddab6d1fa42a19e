"""Encoded records are read back by the record reader of `protocol`."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from odradek.protocol.batches.records import BatchHeader, Record, read_records
from odradek.spark_sink.encoder import RecordColumns, RecordEncoder
from odradek.spark_sink.task_writer import TYPES
from tests.spark.decoder_reference import BODIES

Body = tuple[bytes | None, bytes | None, list[tuple[str, bytes | None]] | None]


def columns_of(bodies: list[Body]) -> RecordEncoder:
    headers = [h if h is None else [{"key": key.encode(), "value": value} for key, value in h] for _, _, h in bodies]
    return RecordEncoder(
        RecordColumns(
            pa.array([key for key, _, _ in bodies], TYPES["key"]),
            pa.array([value for _, value, _ in bodies], TYPES["value"]),
            pa.array(headers, TYPES["headers"]),
        )
    )


def read_back(data: memoryview, count: int) -> list[Record]:
    header = BatchHeader(0, 0, -1, 2, 0, 0, count - 1, 7, 7, -1, -1, -1, count)
    return list(read_records(bytes(data), header))


@given(
    st.lists(BODIES | st.tuples(st.none(), st.binary(), st.none()), min_size=1, max_size=8), st.sampled_from([1, 1, 30, 9000]), st.data()
)
def test_encode_is_read_back_by_the_protocol_reader(bodies: list[Body], times: int, data: st.DataObject) -> None:
    bodies = (bodies * times)[:9000]
    order = np.random.default_rng(data.draw(st.integers(0, 99))).permutation(len(bodies))
    columns = columns_of(bodies)
    encoded, positions = columns.encode(order, np.arange(len(bodies)))
    assert len(encoded) == positions[-1]
    assert (np.diff(positions) <= columns.largest_sizes[order]).all()
    expected = [
        Record(offset, 7, key, value, headers or []) for offset, (key, value, headers) in enumerate(bodies[row] for row in order.tolist())
    ]
    assert read_back(encoded, len(bodies)) == expected


def test_encode_sliced_arrays() -> None:
    bodies: list[Body] = [(b"k%d" % n, None if n % 3 else b"v" * n, [("h", b"%d" % n)] * (n % 4)) for n in range(40)]
    whole = columns_of(bodies)
    headers = pa.array([[{"key": key, "value": value} for key, value in h or []] for _, _, h in bodies], TYPES["headers"])
    some = RecordEncoder(RecordColumns(whole.key.slice(10, 20), whole.value.slice(10, 20), headers.slice(10, 20)))
    encoded, _ = some.encode(np.arange(20), np.arange(20))
    assert [(r.key, r.value, r.headers) for r in read_back(encoded, 20)] == bodies[10:30]


def test_encode_without_keys_and_headers() -> None:
    encoded, positions = RecordEncoder(RecordColumns(None, pa.array([b"a", None, b""]), None)).encode(np.array([2, 0, 1]), np.arange(3))
    assert [(r.key, r.value, r.headers) for r in read_back(encoded, 3)] == [(None, b"", []), (None, b"a", []), (None, None, [])]
    assert positions.tolist() == [0, 7, 15, 22]


def test_encode_null_header_key_raises() -> None:
    headers: Any = pa.array([[{"key": None, "value": b"x"}]], TYPES["headers"])
    with pytest.raises(ValueError, match="key of a header is null"):
        RecordEncoder(RecordColumns(None, pa.array([b""]), headers))
