"""Puts the segments of one direction of a TCP connection in order.

Repeated bytes are left out, and segments that arrive early are kept until those before them have come. If bytes are missing for good,
because the peer has acknowledged them or too many segments wait for them, their number is returned in their place.

Sequence numbers have 32 bits; internally positions count the bytes from the first one on.
"""

from __future__ import annotations

from heapq import heappop, heappush
from typing import NamedTuple

MAX_EARLY_BYTES = 4 * 1024 * 1024
MAX_EARLY_SEGMENTS = 4096
_MODULUS, _HALF = 1 << 32, 1 << 31


class ReadBytes(NamedTuple):
    """The next bytes of a direction, and the number of bytes that are missing before them."""

    data: bytes
    missing: int


class Direction:
    """The received part of one direction."""

    def __init__(self) -> None:
        self._first: int | None = None  # the sequence number of position 0
        self._position = 0
        self._early: list[tuple[int, int, bytes, int]] = []  # a heap of position, number, bytes and size
        self._number = 0
        self.held_bytes = 0
        """The bytes that wait for others."""

    def begin(self, sequence: int) -> None:
        """Sets the sequence number of the first byte, that of a SYN plus one. Has no effect if it is known."""
        if self._first is None:
            self._first = sequence % _MODULUS

    def add(self, sequence: int, payload: memoryview, size: int) -> list[ReadBytes]:
        """Returns what can be read now that a segment of `size` bytes has come, of which `payload` was captured."""
        self.begin(sequence)
        position = self._position_of(sequence)
        if position > self._position:
            heappush(self._early, (position, self._number, payload.tobytes(), size))
            self._number += 1
            self.held_bytes += len(payload)
            is_full = self.held_bytes > MAX_EARLY_BYTES or len(self._early) > MAX_EARLY_SEGMENTS
            return self._read_early(skips=True) if is_full else []
        return [*self._read(position, payload.tobytes(), size), *self._read_early()]

    def acknowledge(self, number: int) -> list[ReadBytes]:
        """Returns what can be read behind bytes that the peer has acknowledged, so that they are missing from the capture."""
        if not self._early or self._position_of(number) < self._early[0][0]:
            return []
        return self._read_early(skips=True)

    def rest(self) -> list[ReadBytes]:
        """Returns all that can be read, because the connection has ended."""
        found = []
        while self._early:
            found += self._read_early(skips=True)
        return found

    def _position_of(self, sequence: int) -> int:
        """Returns the position of a sequence number, which is within 2 GiB of the present one."""
        distance = (sequence - (self._first or 0) - self._position) % _MODULUS
        return self._position + distance - (_MODULUS if distance >= _HALF else 0)

    def _read_early(self, *, skips: bool = False) -> list[ReadBytes]:
        """Returns the early segments that are next. If it `skips`, the bytes before the first of them are missing."""
        found: list[ReadBytes] = []
        if skips and self._early[0][0] > self._position:
            found.append(ReadBytes(b"", self._early[0][0] - self._position))
            self._position = self._early[0][0]
        while self._early and self._early[0][0] <= self._position:
            position, _, payload, size = heappop(self._early)
            self.held_bytes -= len(payload)
            found += self._read(position, payload, size)
        return found

    def _read(self, position: int, payload: bytes, size: int) -> list[ReadBytes]:
        """Returns the new bytes of a segment. The bytes that were not captured are missing after them."""
        old = self._position - position
        if old >= size:
            return []
        self._position += size - old
        found = [ReadBytes(payload[old:], 0)] if len(payload) > old else []
        missing = size - max(len(payload), old)
        return [*found, ReadBytes(b"", missing)] if missing else found
