"""Bytes of an enemy: whatever comes in, a decoder answers with a message or ProtocolError, and takes memory in proportion to it."""

from __future__ import annotations

import tracemalloc
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
    """Kinds of array that no served message has."""

    flexible_from = 1
    uuids: list[Uuid]
    texts: list[str]
    flags: list[bool] | None
    ratios: list[Float64] = field(since=1, tag=0, default_factory=list)


UNSERVED = [Case(Arrays, 0), Case(Arrays, 1)]
MANY = settings(max_examples=30 * settings.default.max_examples)
# An object with its dictionary, for a structure that takes one byte, is the worst there is.
BYTES_FOR_ANY_FRAME, BYTES_PER_BYTE = 64 << 10, 1 << 10


@pytest.fixture(scope="module")
def measured() -> Iterator[None]:
    tracemalloc.start(1)
    yield
    tracemalloc.stop()


def attempt(case: Case, data: bytes | bytearray) -> Any:
    """The message or the refusal."""
    try:
        return case.cls.decode(case.version, data)
    except ProtocolError as error:
        return error


@pytest.mark.parametrize("case", [*CASES, *UNSERVED], ids=str)
def test_every_proper_prefix_is_refused(case: Case) -> None:
    for make in (full, empty):
        data = joined(encode(make(case.cls, case.version), case.version, unknown_tags=True))
        for end in range(len(data)):
            assert isinstance(attempt(case, data[:end]), ProtocolError), data[:end]


def falsified(tokens: list[Token]) -> Iterator[bytes]:
    """The message with each of its lengths in turn set to what hurts."""
    for index, token in enumerate(tokens):
        if token.length:
            before, after = joined(tokens[:index]), joined(tokens[index + 1 :])
            for length in (-2, -1, 0, len(after), len(after) + 1, 0x7FFFFFFF):
                yield before + length_token(length, token.length).data + after


@pytest.mark.parametrize("case", [*CASES, *UNSERVED], ids=str)
def test_no_length_allocates_more_than_the_frame(case: Case, measured: None) -> None:
    decode = case.cls.decoders[case.version]  # compiled here: its memory is not the frame's
    for data in falsified(encode(full(case.cls, case.version, items=1), case.version, unknown_tags=True)):
        tracemalloc.reset_peak()
        before, _ = tracemalloc.get_traced_memory()
        with suppress(ProtocolError):
            decode(memoryview(data), 0)
        _, peak = tracemalloc.get_traced_memory()
        assert peak - before <= BYTES_FOR_ANY_FRAME + BYTES_PER_BYTE * len(data), data


@given(st.sampled_from(CASES), st.binary(max_size=200))
@MANY
def test_random_bytes(case: Case, data: bytes) -> None:
    attempt(case, data)


@given(st.sampled_from(CASES), st.lists(st.tuples(st.integers(0, 500), st.integers(0, 255)), min_size=1, max_size=4))
@MANY
def test_random_changes(case: Case, changes: list[tuple[int, int]]) -> None:
    """What a changed message is taken for is a message: written again, it is read again."""
    data = bytearray(joined(encode(full(case.cls, case.version), case.version)) + b"\0")  # never empty
    for position, value in changes:
        data[position % len(data) : position % len(data) + 1] = bytes([value])
    message = attempt(case, data)
    if not isinstance(message, ProtocolError):
        assert case.cls.decode(case.version, message.encode(case.version)) == message


@given(st.sampled_from(CASES), st.data())
def test_what_is_decoded_is_no_copy_of_a_longer_frame(case: Case, data: st.DataObject) -> None:
    """A decoder that is told where to begin reads the same message there, and says where it ends."""
    message = data.draw(messages(case.cls, case.version))
    written = message.encode(case.version)
    decoded, position = case.cls.decoders[case.version](memoryview(b"before" + written + b"after"), 6)
    assert (decoded, position) == (message, 6 + len(written))
