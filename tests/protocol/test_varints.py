"""Unsigned varints, compared with the encoder in `reference.py`."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from odradek.protocol.schema import ProtocolError
from odradek.protocol.varints import put_uvarint, uvarint_rest
from tests.protocol.reference import uvarint


@given(st.integers(128, 0xFFFFFFFF))
def test_uvarint_random_value_round_trips(value: int) -> None:
    out = bytearray()
    put_uvarint(out, value)
    assert bytes(out) == uvarint(value)
    assert uvarint_rest(bytes(out), out[0], 1) == (value - (1 << 32) if value >> 31 else value, len(out))


def test_put_uvarint_below_128_is_one_byte() -> None:
    for value in range(128):
        out = bytearray()
        put_uvarint(out, value)
        assert out == bytes([value])


def test_uvarint_rest_of_six_bytes_raises() -> None:
    assert uvarint_rest(b"\xff\xff\xff\xff\x7f", 0xFF, 1) == (-1, 5)
    with pytest.raises(ProtocolError, match="5 bytes"):
        uvarint_rest(b"\xff\xff\xff\xff\xff\x00", 0xFF, 1)
