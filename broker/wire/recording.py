"""Adds the requests of one connection to the record, with their responses, what they wait for, and how the connection ends."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

from ...protocol.frame import LENGTH, Buffer
from ..api.context import Client
from ..scheduling.waiting import NEXT_TURN, Wait
from .exchange import HEAD_BYTES
from .record import MAX_LATEST, Flight, Peer, Record, beginning

if TYPE_CHECKING:
    from ..cluster.broker import Broker
    from ..connections.core import Core

MAX_NAMED = 3
"""How many of the things that a request waits for are named."""
MAX_WAITS = 20
_SETTING = re.compile(r"\b[a-z]+(?:\.[a-z]+){2,}\b")


class Recording:
    """The part of the record that belongs to one connection.

    `flight` is the request that is being served, or None. `received` is set while requests are served that were received in an earlier
    turn. `unwritten` are the requests whose responses have not been passed to the socket.
    """

    __slots__ = ("_client", "_core", "_node", "flight", "peer", "received", "record", "unwritten")

    def __init__(self, record: Record, client: Client, broker: Broker, core: Core) -> None:
        self.record = record
        self._client = client
        self._node = broker.node_id
        self._core = core
        self.flight: Flight | None = None
        self.received: tuple[int, float] | None = None
        self.unwritten: list[Flight] = []
        self.peer = self._present_peer()
        self.tell("connection opened", f"{self.peer.address} connects to {client.listener_name}", {"peer": self.peer.address})

    def _present_peer(self) -> Peer:
        client = self._client
        return Peer(self._node, client.listener_name, client.connection_id, client.address, client.software, client.principal)

    @property
    def _now(self) -> tuple[int, float]:
        return self._core.timers.now_ms, self._core.clock()

    @property
    def _arrival(self) -> tuple[int, float]:
        """When the bytes that are being served were received."""
        return self.received or (self._core.timers.now_ms, self._core.now_s)

    def tell(self, kind: str, text: str, fields: dict[str, str | int]) -> None:
        """Adds an event of this connection."""
        self.record.tell(kind, self._now, text, self._node, self._client.connection_id, fields)

    # Requests

    def run(self, data: memoryview, count: int, responses: list[Buffer]) -> None:
        """Adds requests that a shortcut has answered at once, as bytes that contain them with their lengths. Some may have no response."""
        size = len(data)
        if size > HEAD_BYTES or self.received is not None:
            return self._long_run(data, responses)
        core, record = self._core, self.record
        kept = record.run_bytes
        start = len(kept)
        kept += data
        kept += b"".join(responses)
        record.latest.append((self.peer, count, kept, start, start + size, len(kept), core.timers.now_ms, core.now_s, core.clock()))
        record.count += count
        record.size += len(kept) - start
        if record.count > MAX_LATEST or record.size > record.latest_bytes:
            record.seal()

    def answered(self, data: memoryview, response: list[Buffer], write: Callable[[list[Buffer]], None]) -> None:
        """Writes the response to one request that a shortcut has answered at once, and adds both. Of the response, a beginning is kept."""
        write(response)
        self.run(data, 1, [beginning(response, LENGTH.size + HEAD_BYTES)])

    def _long_run(self, data: memoryview, responses: list[Buffer]) -> None:
        """Adds requests one by one, because single ones may have to be shortened."""
        rest = iter(responses)
        response = next(rest, b"")
        for request in frames_of(data):
            self.begin(request)
            if response[4:8] == request[4:8]:
                self.respond([response], len(response))
                response = next(rest, b"")
            self.finish()

    def begin(self, frame: memoryview, is_token: bool = False) -> None:
        """Adds a request that is going to be served."""
        peer, client = self.peer, self._client
        if peer.principal is not client.principal or not peer.software.endswith(client.software_version):
            self.peer = self._present_peer()
        head = b"" if is_token else frame[:HEAD_BYTES].tobytes()
        self.flight = Flight(self.peer, self._arrival, head, len(frame), is_token)
        self.record.add(self.flight, len(head))

    def respond(self, parts: list[Buffer], size: int) -> None:
        """Adds bytes to the response of the request that is being served. `size` is the sum of their lengths."""
        flight = self.flight
        if flight is None:
            return
        if flight.response is None or flight.written is not None:
            self.unwritten.append(flight)
            flight.written = None
        self.record.size += flight.respond(parts, size)
        flight.answered = self._core.timers.now_ms, self._core.clock()

    def finish(self) -> None:
        """Ends the request that is being served. It has no response unless there is one by now."""
        flight, self.flight = self.flight, None
        if flight is not None and flight.answered is None:
            flight.answered = self._now

    def wait(self, wait: Wait) -> None:
        """Adds what the request that is being served begins to wait for."""
        flight = self.flight
        if flight is not None and wait is not NEXT_TURN and len(flight.waits) < MAX_WAITS:
            keys = wait.keys
            waited = wait.what or (keys[0] if keys.__class__ is tuple and len(keys) == 1 else _named(wait))
            if waited not in flight.waits:
                flight.waits += (waited,)

    def struck(self, fault: str) -> None:
        """Adds a fault that has hit the request that is being served."""
        if self.flight is not None:
            self.flight.faults += (fault,)

    # Output

    def taken(self, left_bytes: int = 0) -> None:
        """Called when output has been passed to the socket, with the number of bytes that are left of it."""
        if self.unwritten:
            now = self._core.timers.now_ms, self._core.clock()
            written, self.unwritten = self._divided(left_bytes) if left_bytes else (self.unwritten, [])
            for flight in written:
                flight.written = now

    def _divided(self, left_bytes: int) -> tuple[list[Flight], list[Flight]]:
        """Returns the requests whose responses have been written completely, and the others, whose bytes are the last `left_bytes`."""
        written, unwritten = self.unwritten, []
        while written and left_bytes > 0:
            unwritten.append(written.pop())
            left_bytes -= unwritten[-1].response_bytes
        return written, unwritten[::-1]

    def notes(self) -> list[str]:
        """Returns comments for a capture on the responses that are not written completely."""
        return [note for flight in self.unwritten for note in flight.notes]

    def notes_of_unanswered(self) -> list[str]:
        """Returns comments for a capture on the request that is being served."""
        return [] if self.flight is None else self.flight.notes

    # The end

    def ended(self, reason: str, *, by_client: bool, resets: bool) -> None:
        """Adds the end of the connection, and by whom and why it was ended, also to the request that was being served."""
        how = "RST" if resets else "FIN"
        text = f"{how} by the client" if by_client else f"{how} by the broker: {reason}"
        if self.flight is not None:
            self.flight.ended, self.flight = text, None
        fields: dict[str, str | int] = {"peer": self.peer.address, "by": "client" if by_client else "broker", "how": how}
        if not by_client:
            fields["reason"] = reason
            if setting := _SETTING.search(reason):
                fields["setting"] = setting[0]
        self.tell("connection closed", text, fields)


def _named(wait: Wait) -> str:
    """Returns what a request waits for whose handler does not say: records of partitions, or some time."""
    names = [repr(key) for _, key in zip(range(MAX_NAMED + 1), wait.keys, strict=False)]
    if not names:
        return "some time"
    return f"records of {', '.join(names[:MAX_NAMED])}{' and others' if len(names) > MAX_NAMED else ''}"


def frames_of(data: memoryview) -> Iterator[memoryview]:
    """Yields the frames in bytes that contain them with their lengths."""
    position = 0
    while position < len(data):
        (size,) = LENGTH.unpack_from(data, position)
        position += LENGTH.size + size
        yield data[position - size : position]
