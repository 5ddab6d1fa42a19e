"""Malicious bytes: a decoder returns a message or raises ProtocolError, and allocates memory in proportion to the frame."""

from __future__ import annotations

import tracemalloc
from collections import deque
from collections.abc import Iterator
from contextlib import suppress
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from odradek.protocol.schema import Float64, Message, ProtocolError, Uuid, field
from tests.protocol.reference import CASES, Case, Token, encode, joined, length_token
from tests.protocol.strategies import empty, full, messages


class Arrays(Message):
    """Kinds of arrays that no served message has."""

    flexible_from = 1
    uuids: list[Uuid]
    texts: list[str]
    flags: list[bool] | None
    ratios: list[Float64] = field(since=1, tag=0, default_factory=list)


UNSERVED = [Case(Arrays, 0), Case(Arrays, 1)]
MANY = settings(max_examples=30 * settings().max_examples)
# In the worst case a structure takes one byte on the wire, and is decoded to an object with a dictionary.
BYTES_FOR_ANY_FRAME, BYTES_PER_BYTE = 64 << 10, 1 << 10


@pytest.fixture(scope="module")
def measured() -> Iterator[None]:
    tracemalloc.start(1)
    yield
    tracemalloc.stop()


def attempt(case: Case, data: bytes | bytearray) -> Any:
    """Returns the message or the ProtocolError, which a sliced decoder gives too."""
    try:
        return case.cls.decode(case.version, data)
    except ProtocolError as error:
        with pytest.raises(ProtocolError):
            deque(case.cls.sliced_decoders[case.version](memoryview(data), 0), maxlen=0)
        return error


@pytest.mark.parametrize("case", [*CASES, *UNSERVED], ids=str)
def test_decode_proper_prefix_raises(case: Case) -> None:
    for make in (full, empty):
        data = joined(encode(make(case.cls, case.version), case.version, unknown_tags=True))
        for end in range(len(data)):
            assert isinstance(attempt(case, data[:end]), ProtocolError), data[:end]


def falsified(tokens: list[Token]) -> Iterator[bytes]:
    """Yields the message with each of its lengths in turn replaced by several wrong ones."""
    for index, token in enumerate(tokens):
        if token.length:
            before, after = joined(tokens[:index]), joined(tokens[index + 1 :])
            for length in (-2, -1, 0, len(after), len(after) + 1, 0x7FFFFFFF):
                yield before + length_token(length, token.length).data + after


@pytest.mark.parametrize("case", [*CASES, *UNSERVED], ids=str)
def test_decode_false_length_allocates_little(case: Case, measured: None) -> None:
    decode = case.cls.decoders[case.version]  # compiled here, so that its memory is not measured
    for data in falsified(encode(full(case.cls, case.version, items=1), case.version, unknown_tags=True)):
        tracemalloc.reset_peak()
        before, _ = tracemalloc.get_traced_memory()
        with suppress(ProtocolError):
            decode(memoryview(data), 0)
        _, peak = tracemalloc.get_traced_memory()
        assert peak - before <= BYTES_FOR_ANY_FRAME + BYTES_PER_BYTE * len(data), data


@given(st.sampled_from(CASES), st.binary(max_size=200))
@MANY
def test_decode_random_bytes_raise_only_protocol_error(case: Case, data: bytes) -> None:
    attempt(case, data)


@given(st.sampled_from(CASES), st.lists(st.tuples(st.integers(0, 500), st.integers(0, 255)), min_size=1, max_size=4))
@MANY
def test_decode_changed_bytes_give_a_writable_message(case: Case, changes: list[tuple[int, int]]) -> None:
    """If changed bytes are decoded to a message, that can be encoded and decoded again."""
    data = bytearray(joined(encode(full(case.cls, case.version), case.version)) + b"\0")  # never empty
    for position, value in changes:
        data[position % len(data) : position % len(data) + 1] = bytes([value])
    message = attempt(case, data)
    if not isinstance(message, ProtocolError):
        assert case.cls.decode(case.version, message.encode(case.version)) == message


@given(st.sampled_from(CASES), st.data())
def test_decode_at_position_returns_the_end(case: Case, data: st.DataObject) -> None:
    """A message after other bytes is decoded at its position, and the position after it is returned."""
    message = data.draw(messages(case.cls, case.version))
    written = message.encode(case.version)
    decoded, position = case.cls.decoders[case.version](memoryview(b"before" + written + b"after"), 6)
    assert (decoded, position) == (message, 6 + len(written))
