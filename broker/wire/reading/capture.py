"""The exchanges and events in a capture file.

Entries are returned in the order in which requests were received and events happened. An exchange is known when its response is, so that
entries wait for those before them, but not for more than MAX_WAITING others: a response that comes later still is out of order.

Memory is bounded: the connections that were quiet for the longest time are given up when there are more than MAX_CONNECTIONS, or when their
incomplete frames have more than MAX_HELD_BYTES.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from heapq import heappop, heappush
from itertools import count
from typing import BinaryIO

from ..exchange import Entry
from ..packets import ACK, SYN, Address
from .conversation import KAFKA_PORT, Conversation, may_be_request
from .file_format import CaptureFile, Packet
from .segments import TcpSegment, segment_of

MAX_CONNECTIONS = 10_000
MAX_HELD_BYTES = 512 * 1024 * 1024
MAX_WAITING = 10_000

Key = frozenset[Address]


class CaptureReader:
    """The entries of an open capture file. Raises NotACapture."""

    def __init__(self, stream: BinaryIO) -> None:
        self._file = CaptureFile(stream)
        self._conversations: dict[Key, Conversation] = {}
        """The connections, those with the latest packets last."""
        self._sequence = count(1)
        self._connections = count(1)
        self._topic_names: dict[bytes, str] = {}
        self._held_bytes = 0
        self._time_ns = 0
        self.encrypted = 0
        """The number of connections that use TLS, so that they cannot be read."""

    @property
    def problem(self) -> str | None:
        """Why reading ended before the end of the file, None if it did not."""
        return self._file.problem

    def entries(self) -> Iterator[Entry]:
        """Yields the entries in order."""
        yield from in_order(self._entries())

    def _entries(self) -> Iterator[Entry]:
        for packet in self._file.packets():
            self._time_ns = max(self._time_ns, packet.time_ns)
            segment = segment_of(packet.link_type, packet.data)
            if segment is not None:
                yield from self._add(segment, packet)
        for key in list(self._conversations):
            yield from self._give_up(key)

    def _add(self, segment: TcpSegment, packet: Packet) -> Iterator[Entry]:
        key = frozenset((segment.source, segment.destination))
        conversation = self._conversations.pop(key, None)
        if conversation is not None and conversation.has_ended and segment.flags & SYN:
            self._held_bytes -= conversation.held_bytes
            yield from conversation.rest(packet.time_ns)
            conversation = None  # the client uses its port again
        if conversation is None:
            conversation = self._new(segment, packet)
            if conversation is None:
                return
        held_bytes, was_encrypted = conversation.held_bytes, conversation.is_encrypted
        yield from conversation.add(segment, packet)
        self._conversations[key] = conversation
        self._held_bytes += conversation.held_bytes - held_bytes
        self.encrypted += conversation.is_encrypted - was_encrypted
        if len(self._conversations) > MAX_CONNECTIONS or self._held_bytes > MAX_HELD_BYTES:
            yield from self._give_up(next(iter(self._conversations)))

    def _new(self, segment: TcpSegment, packet: Packet) -> Conversation | None:
        """Returns a connection that begins with a segment, None if it is not clear which side is the client."""
        client = _client_of(segment)
        if client is None:
            return None
        broker = segment.destination if client == segment.source else segment.source
        number, next_sequence = next(self._connections), self._sequence.__next__
        return Conversation(client, broker, number, packet.interface, next_sequence, self._topic_names)

    def _give_up(self, key: Key) -> list[Entry]:
        conversation = self._conversations.pop(key)
        self._held_bytes -= conversation.held_bytes
        return conversation.rest(self._time_ns)


def _client_of(segment: TcpSegment) -> Address | None:
    """Returns the side that connects, sends a request, or is not at Kafka's port; None if it is unknown."""
    source, destination = segment.source, segment.destination
    if segment.flags & SYN:
        return destination if segment.flags & ACK else source
    if (source.port == KAFKA_PORT) != (destination.port == KAFKA_PORT):
        return destination if source.port == KAFKA_PORT else source
    payload = segment.payload[:64].tobytes()
    return source if may_be_request(payload[4:], int.from_bytes(payload[:4], "big", signed=True)) else None


def in_order(entries: Iterable[Entry]) -> Iterator[Entry]:
    """Yields entries by their numbers, which have no gaps, as far as no more than MAX_WAITING entries wait for one that is missing."""
    waiting: list[tuple[int, Entry]] = []
    expected = 1
    for entry in entries:
        heappush(waiting, (entry.sequence, entry))
        while waiting and (waiting[0][0] <= expected or len(waiting) > MAX_WAITING):
            number, first = heappop(waiting)
            expected = max(expected, number + 1)
            yield first
    while waiting:
        yield heappop(waiting)[1]
