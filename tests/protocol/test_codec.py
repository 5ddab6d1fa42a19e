"""The compiled codec, with kinds of fields that no served message has."""

from __future__ import annotations

from typing import ClassVar

import pytest

from odradek.protocol.schema import (
    ZERO_UUID,
    EncodedItems,
    Float64,
    Int16,
    Int32,
    Int64,
    Message,
    ProtocolError,
    Records,
    UInt16,
    Uuid,
    field,
)
from odradek.protocol.varints import uvarint_rest
from tests.protocol.reference import Token, encode, joined, uvarint


class Inner(Message):
    flexible_from = 1  # it is also encoded on its own
    number: Int32 = 7
    text: str = "seven"


class Everything(Message):
    """v0 is not flexible, v1 is, and v2 lacks the fields without a default."""

    flexible_from = 1
    constant: ClassVar[int] = 1
    flag: bool = field(until=1)
    port: UInt16 = 0
    ratio: Float64 = field(until=1)
    uuid: Uuid = field(until=1)
    data: bytes | None
    name: str = field(until=1)
    names: list[str] | None = None
    numbers: list[Int64] | None
    uuids: list[Uuid] = field(default_factory=list)
    inner: Inner | None = None
    inners: list[Inner] = field(until=1, encoded=True)
    made: Inner = field(until=1, default_factory=Inner)
    records: Records | None = None
    tagged_text: str | None = field(since=1, tag=3, default=None)
    tagged_numbers: list[Int16] = field(since=1, tag=1, default_factory=list)
    tagged_inner: Inner | None = field(since=1, tag=2, default=None)
    tagged_uuid: Uuid = field(since=1, tag=200, default=ZERO_UUID)


def everything(**changes: object) -> Everything:
    values: dict[str, object] = {
        "flag": True,
        "port": 65535,
        "ratio": 0.5,
        "uuid": bytes(range(16)),
        "data": b"data",
        "name": "näme",
        "names": ["a", "b"],
        "numbers": [1, -(1 << 63)],
        "uuids": [bytes(16), bytes(range(16))],
        "inner": Inner(number=1),
        "inners": [Inner(), Inner(text="")],
    }
    return Everything(**{**values, **changes})  # type: ignore[arg-type]


TAGGED = {"tagged_text": "", "tagged_numbers": [1, 2], "tagged_inner": Inner(text="x" * 200), "tagged_uuid": bytes(range(16))}


@pytest.mark.parametrize("version", [0, 1])
@pytest.mark.parametrize(
    "message",
    [
        everything(),
        everything(data=None, names=None, numbers=None, inner=None, records=b"batch"),
        everything(data=bytes(200), name="x" * 130, names=["y" * 127] * 200, records=bytes(300)),
    ],
    ids=["plain", "null", "long"],
)
def test_codec_every_kind_of_field_round_trips(version: int, message: Everything) -> None:
    assert Everything.decode(version, message.encode(version)) == message
    assert joined(encode(message, version)) == message.encode(version)


@pytest.mark.parametrize("version", [0, 1])
@pytest.mark.parametrize("bad", [b"\xff", b"\xc3", b"\xed\xa0\x80", b"\xc0\x80"], ids=["byte", "cut", "surrogate", "overlong"])
def test_decode_string_not_utf8_raises(version: int, bad: bytes) -> None:
    good = everything(name="#" * len(bad)).encode(version)
    with pytest.raises(ProtocolError, match="not UTF-8"):
        Everything.decode(version, good.replace(b"#" * len(bad), bad))


def test_codec_longest_string_round_trips() -> None:
    message = everything(name="x" * 32_767)
    assert Everything.decode(0, message.encode(0)) == Everything.decode(1, message.encode(1)) == message


def test_decode_string_longer_than_int16_raises() -> None:
    short = everything(name="x" * 32_767).encode(1)
    start = short.index(b"x")
    length = short[start - 3 : start]
    assert length == b"\x80\x80\x02"
    longer = short[: start - 3] + b"\x81\x80\x02" + b"x" + short[start:]
    with pytest.raises(ProtocolError, match="32768"):
        Everything.decode(1, longer)


def test_codec_tagged_fields_round_trip_if_flexible() -> None:
    message = everything(**TAGGED)
    written = message.encode(1)
    assert Everything.decode(1, written) == message
    assert joined(encode(message, 1)) == written
    assert Everything.decode(0, message.encode(0)) == everything()


def test_decode_absent_fields_get_defaults() -> None:
    message = Everything.decode(2, everything(**TAGGED).encode(2))
    assert (message.flag, message.ratio, message.uuid, message.name, message.inners) == (False, 0.0, ZERO_UUID, "", [])
    assert message.made == Inner(number=7, text="seven")
    assert message.tagged_inner == TAGGED["tagged_inner"]


def test_default_factory_is_called_for_each_message() -> None:
    first, second = everything(), everything()
    assert first.made is not second.made
    assert first.uuids is not Everything.decode(1, second.encode(1)).tagged_numbers
    assert everything(made=Inner(number=9)).made.number == 9


def test_decode_records_returns_slice_of_frame() -> None:
    frame = bytearray(everything(records=b"batch").encode(1))
    records = Everything.decode(1, frame).records
    assert isinstance(records, memoryview)
    assert records.obj is frame


@pytest.mark.parametrize("version", [0, 1])
@pytest.mark.parametrize("length", [0, 2, 200])
def test_encode_encoded_items_equals_items(version: int, length: int) -> None:
    inner = Inner(number=5, text="text")
    message = everything(inners=EncodedItems(length, [inner.encode(version)] * length), **TAGGED)
    assert message.encode(version) == everything(inners=[inner] * length, **TAGGED).encode(version)


def test_encode_encoded_items_are_not_copied() -> None:
    block = bytes(20)
    parts: list[object] = []
    Everything.encoders[1](everything(inners=EncodedItems(4, iter([block]))), bytearray(), parts)
    assert any(part is block for part in parts)


def test_encode_records_are_not_copied() -> None:
    first, second = memoryview(b"first"), memoryview(b"second")
    parts: list[object] = []
    message = everything(records=[first, second], **TAGGED)
    parts.append(Everything.encoders[1](message, bytearray(b"header"), parts))
    assert any(part is first for part in parts)
    assert any(part is second for part in parts)
    assert b"".join(parts) == b"header" + everything(records=b"firstsecond", **TAGGED).encode(1)  # type: ignore[arg-type]


@pytest.mark.parametrize("version", [0, 1])
@pytest.mark.parametrize(
    "changes",
    [
        {"port": 65536},
        {"port": "80"},
        {"ratio": "much"},
        {"uuid": None},
        {"data": 5},
        {"name": None},
        {"name": 5},
        {"name": "x" * 32768},
        {"name": "\ud800"},
        {"numbers": [1 << 63]},
        {"numbers": ["one"]},
        {"names": [None]},
        {"inner": "inner"},
        {"inners": [None]},
        {"made": None},
        {"records": 5},
    ],
    ids=str,
)
def test_encode_wrong_value_raises(version: int, changes: dict[str, object]) -> None:
    with pytest.raises(ProtocolError):
        everything(**changes).encode(version)


@pytest.mark.parametrize("version", [1, 2])
@pytest.mark.parametrize("tag", [1, 2, 3, 200])
def test_decode_tagged_field_of_wrong_size_raises(version: int, tag: int) -> None:
    tokens = encode(everything(**TAGGED), version)
    (start,) = (i for i, token in enumerate(tokens) if token == Token(uvarint(tag)) and tokens[i + 1].length == "plain")
    for change in (-1, 1):
        size = tokens[start + 1].data
        tokens[start + 1] = Token(uvarint(uvarint_rest(size, size[0], 1)[0] + change if size[0] > 127 else size[0] + change))
        with pytest.raises(ProtocolError):
            Everything.decode(version, joined(tokens))
        tokens[start + 1] = Token(size)
