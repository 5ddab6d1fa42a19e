"""Reading of OTLP metrics. The messages are built by a writer of this file that knows nothing of the reader."""

from __future__ import annotations

from struct import pack

import pytest
from hypothesis import given
from hypothesis import strategies as st

from odradek.protocol.batches.compression import Compression, compress
from odradek.protocol.otlp import DataPoint, InvalidMetrics, Metric, read_metrics, read_pushed
from tests.protocol.otlp_messages import field, message, varint


def fixed(number: int, data: bytes) -> bytes:
    return varint(number << 3 | (1 if len(data) == 8 else 5)) + data


def attribute(key: str, value: bytes) -> bytes:
    return field(7, field(1, key) + field(2, value) + field(3, 1))


def test_gauges_and_sums_are_read() -> None:
    values = (
        attribute("text", field(1, "a"))
        + attribute("flag", field(2, 1))
        + attribute("count", field(3, -5))
        + attribute("ratio", fixed(4, pack("<d", 0.5)))
        + attribute("list", field(5, b"\x0a\x00"))
    )
    point = values + fixed(2, pack("<Q", 1)) + fixed(3, pack("<q", 2_000_000)) + fixed(4, pack("<d", 1.5))
    gauge = field(1, "queue.time") + field(2, "described") + field(3, "ms") + field(5, field(1, point))
    total = field(1, "sent") + field(7, field(1, fixed(6, pack("<q", -7))) + field(1, fixed(6, pack("<q", 9))) + field(2, 1) + field(3, 1))
    attributes: dict[str, str | int | float | bool] = {"text": "a", "flag": True, "count": -5, "ratio": 0.5, "list": ""}
    assert read_metrics(message(gauge, total)) == [
        Metric("queue.time", "ms", "gauge", [DataPoint(attributes, 2_000_000, 1.5)]),
        Metric("sent", "", "sum", [DataPoint({}, 0, -7), DataPoint({}, 0, 9)]),
    ]


def test_other_kinds_have_points_without_a_value() -> None:
    histogram = field(1, "latency") + field(9, field(1, fixed(3, pack("<q", 5)) + field(4, 3)))
    assert read_metrics(message(histogram)) == [Metric("latency", "", "histogram", [DataPoint({}, 5, None)])]
    assert read_metrics(message(field(11, field(1, b"")))) == [Metric("", "", "summary", [DataPoint({}, 0, None)])]


def test_metric_without_data_has_no_points() -> None:
    assert read_metrics(message(field(1, "empty"))) == [Metric("empty", "", "", [])]
    assert read_metrics(b"") == []
    assert read_metrics(message()) == []


def test_field_of_32_bits_is_skipped() -> None:
    assert read_metrics(message(fixed(15, b"\0" * 4) + field(1, "m"))) == [Metric("m", "", "", [])]


@pytest.mark.parametrize(
    "data",
    [
        b"\x0a",
        b"\x0a\x05\0",
        b"\x0b",
        b"\xff" * 20,
        b"\x08\x01",
        message(field(1, 5)),
        message(field(5, field(1, field(3, 5)))),
        message(field(5, field(1, fixed(3, b"\0" * 4)))),
        message(field(5, field(1, attribute("k", field(2, b"\1"))))),
    ],
    ids=lambda data: data.hex()[:40],
)
def test_invalid_message_is_refused(data: bytes) -> None:
    with pytest.raises(InvalidMetrics):
        read_metrics(data)


@given(st.binary(max_size=200))
def test_any_bytes_are_read_or_refused(data: bytes) -> None:
    try:
        read_metrics(data)
    except InvalidMetrics as error:
        assert str(error)


@pytest.mark.parametrize("codec", Compression)
def test_pushed_metrics_are_decompressed(codec: Compression) -> None:
    assert read_pushed(codec, compress(codec, message(field(1, "m")))) == [Metric("m", "", "", [])]


def test_pushed_bytes_of_no_codec_are_refused() -> None:
    with pytest.raises(InvalidMetrics):
        read_pushed(Compression.ZSTD, b"no zstd")
