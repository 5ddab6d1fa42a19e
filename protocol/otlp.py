"""Reads the metrics that clients push: `MetricsData` of OpenTelemetry's protocol (OTLP), in the encoding of Protocol Buffers.

Only the parts are read that Kafka's clients send and a user wants to see: names, units, attributes, and the values of gauges and sums.
Other kinds of metrics have data points without a value. The numbers below are field numbers of
opentelemetry/proto/metrics/v1/metrics.proto.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from struct import Struct
from typing import NamedTuple, TypeAlias

from .batches.compression import Compression, InvalidCompression, decompress

Scalar: TypeAlias = str | int | float | bool
Field: TypeAlias = "tuple[int, int | memoryview]"

RESOURCE_METRICS, SCOPE_METRICS, METRICS = 1, 2, 2
NAME, UNIT, KINDS = 1, 3, {5: "gauge", 7: "sum", 9: "histogram", 10: "exponential histogram", 11: "summary"}
NUMERIC = ("gauge", "sum")
DATA_POINTS = 1
TIME, AS_DOUBLE, AS_INT, ATTRIBUTES = 3, 4, 6, 7
KEY, VALUE = 1, 2
STRING_VALUE, BOOL_VALUE, INT_VALUE, DOUBLE_VALUE = 1, 2, 3, 4
VARINT, FIXED64, LENGTH_DELIMITED, FIXED32 = 0, 1, 2, 5
_DOUBLE, _LONG = Struct("<d"), Struct("<q")
MAX_VARINT_BYTES = 10
MAX_DECOMPRESSED_BYTES = 16 * 1024 * 1024


class InvalidMetrics(ValueError):
    """The bytes are not a message of this protocol."""


class DataPoint(NamedTuple):
    """One value of a metric. `time_ns` is in nanoseconds since the Unix epoch; `value` is None for a kind other than gauge and sum."""

    attributes: Mapping[str, Scalar]
    time_ns: int
    value: float | None


class Metric(NamedTuple):
    """A metric with its data points. `kind` is one of KINDS, or empty for a metric without data."""

    name: str
    unit: str
    kind: str
    points: list[DataPoint]


def read_metrics(data: bytes) -> list[Metric]:
    """Returns the metrics of a `MetricsData` message in order. Raises InvalidMetrics."""
    return [
        _metric(metric)
        for resource in _messages(memoryview(data), RESOURCE_METRICS)
        for scope in _messages(resource, SCOPE_METRICS)
        for metric in _messages(scope, METRICS)
    ]


def read_pushed(compression_type: int, data: bytes) -> list[Metric]:
    """Returns the metrics of a PushTelemetry request. Raises InvalidMetrics, also for bytes that cannot be decompressed."""
    try:
        return read_metrics(decompress(Compression(compression_type), data, MAX_DECOMPRESSED_BYTES))
    except InvalidCompression as error:
        raise InvalidMetrics(str(error)) from None


def _metric(data: memoryview) -> Metric:
    name = unit = kind = ""
    points: list[DataPoint] = []
    for number, value in _fields(data):
        if number == NAME:
            name = _text(value)
        elif number == UNIT:
            unit = _text(value)
        elif number in KINDS:
            kind = KINDS[number]
            read = _number_point if kind in NUMERIC else _other_point
            points += map(read, _messages(_bytes(value), DATA_POINTS))
    return Metric(name, unit, kind, points)


def _number_point(data: memoryview) -> DataPoint:
    attributes: dict[str, Scalar] = {}
    time_ns, result = 0, None
    for number, value in _fields(data):
        if number == ATTRIBUTES:
            attributes |= [_attribute(_bytes(value))]
        elif number == TIME:
            time_ns = _long(value)
        elif number == AS_DOUBLE:
            result = _double(value)
        elif number == AS_INT:
            result = _long(value)
    return DataPoint(attributes, time_ns, result)


def _other_point(data: memoryview) -> DataPoint:
    """Returns a point of another kind with its time, the only field whose number is the same in all kinds."""
    times = [_long(value) for number, value in _fields(data) if number == TIME]
    return DataPoint({}, times[-1] if times else 0, None)


def _attribute(data: memoryview) -> tuple[str, Scalar]:
    key: str = ""
    result: Scalar = ""
    for number, value in _fields(data):
        if number == KEY:
            key = _text(value)
        elif number == VALUE:
            result = _scalar(_bytes(value))
    return key, result


def _scalar(data: memoryview) -> Scalar:
    """Returns an `AnyValue`; lists, maps and bytes become an empty text."""
    result: Scalar = ""
    for number, value in _fields(data):
        if number == STRING_VALUE:
            result = _text(value)
        elif number == DOUBLE_VALUE:
            result = _double(value)
        elif number in (BOOL_VALUE, INT_VALUE):
            integer = _integer(value)
            result = bool(integer) if number == BOOL_VALUE else integer - (1 << 64) * (integer >> 63)
    return result


# The encoding of Protocol Buffers


def _messages(data: memoryview, wanted: int) -> Iterator[memoryview]:
    """Yields the messages in the repeated field with a number."""
    return (_bytes(value) for number, value in _fields(data) if number == wanted)


def _fields(data: memoryview) -> Iterator[Field]:
    """Yields each field's number and value: an integer for a varint, and otherwise the bytes. Raises InvalidMetrics."""
    position = 0
    while position < len(data):
        tag, position = _varint(data, position)
        wire_type = tag & 7
        if wire_type == VARINT:
            number, position = _varint(data, position)
            yield tag >> 3, number
            continue
        if wire_type == LENGTH_DELIMITED:
            size, position = _varint(data, position)
        elif wire_type in (FIXED64, FIXED32):
            size = 8 if wire_type == FIXED64 else 4
        else:
            raise InvalidMetrics(f"a field of wire type {wire_type} at byte {position}")
        if size > len(data) - position:
            raise InvalidMetrics(f"a field of {size} bytes, of which {len(data) - position} are present")
        yield tag >> 3, data[position : position + size]
        position += size


def _varint(data: memoryview, position: int) -> tuple[int, int]:
    """Returns an unsigned number and the position after it."""
    value = 0
    for index, byte in enumerate(data[position : position + MAX_VARINT_BYTES]):
        value |= (byte & 0x7F) << 7 * index
        if byte < 0x80:
            return value & 0xFFFFFFFFFFFFFFFF, position + index + 1
    raise InvalidMetrics(f"a number without an end at byte {position}")


def _bytes(value: int | memoryview) -> memoryview:
    if isinstance(value, int):
        raise InvalidMetrics("a number in place of a message or a text")
    return value


def _text(value: int | memoryview) -> str:
    return str(_bytes(value), "utf-8", "replace")


def _integer(value: int | memoryview) -> int:
    if not isinstance(value, int):
        raise InvalidMetrics("bytes in place of a number")
    return value


def _double(value: int | memoryview) -> float:
    return float(_DOUBLE.unpack(_eight_bytes(value))[0])


def _long(value: int | memoryview) -> int:
    return int(_LONG.unpack(_eight_bytes(value))[0])


def _eight_bytes(value: int | memoryview) -> memoryview:
    data = _bytes(value)
    if len(data) != _LONG.size:
        raise InvalidMetrics(f"a number of {len(data)} bytes instead of {_LONG.size}")
    return data
