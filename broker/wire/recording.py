"""Adds the requests of connections to the record, with their responses, what they wait for, and how each connection ends.

Entries are kept in the form that costs least:

* A `Flight` is a request that a handler serves. It is added when the request arrives, and completed as it is answered and written.
* A `Run` is a number of requests in a row that a shortcut answered at once: the bytes of the requests as they were received together, and
  those of the responses as they were written together. It is a plain tuple, and the bytes of many runs are kept together, because one is
  added for each small Produce, or for several that a client has pipelined.
* An event is kept as it is (`Told`).

Everything is first added to `Latest`, at the cost of an append.

Two times are kept of each moment: milliseconds of the cluster, and seconds of the monotonic clock, from which the wall clock's follow.
"""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections.abc import Callable, Hashable, Iterator, Mapping
from typing import TYPE_CHECKING, NamedTuple, Protocol

from ...protocol.frame import LENGTH, Buffer
from ..scheduling.waiting import NEXT_TURN, Wait
from .exchange import HEAD_BYTES
from .packets import FAULT, WAITED

if TYPE_CHECKING:
    from ..api.context import Client
    from ..scheduling.timers import Timers
    from ..topics.partition import Partition

MAX_LATEST = 1000
FIELD_BYTES = 50
"""The bytes that each field of an event counts in addition to its text."""
MAX_NAMED = 3
"""How many of the things that a request waits for are named."""
MAX_WAITS = 20
_SETTING = re.compile(r"\b[a-z]+(?:\.[a-z]+){2,}\b")


class Clocks(Protocol):
    """The clocks of a cluster, and the time of the monotonic one at the beginning of the present turn."""

    timers: Timers
    clock: Callable[[], float]
    now_s: float


class Peer(NamedTuple):
    """A client as it was known when it sent a request."""

    node: int
    listener: str
    connection: int
    address: str
    software: str
    principal: str


Run = tuple[Peer, int, bytearray, int, int, int, int, float, float]
"""A client; the number of its requests; bytes that belong to several runs, with the positions at which the requests of this one begin, at
which its responses begin, and at which they end, each with its length; when the requests were received by the cluster's and by the
monotonic clock; and when the responses were complete. They are written in the same turn, so that no other time is kept."""


class Flight:
    """A request that is being served, or has been. Its response and the times are set as they become known.

    `response` is the beginning of the response's frame with its length field, and `response_bytes` the size of all of it. Of a `token`,
    a SASL token without a header, only the size is kept. `waits` are texts, and partitions for whose records it has waited; these become
    text only when someone looks, because consumers wait for most of their requests.
    """

    # Defaults of the class, because most requests have few of these values and setting them takes time.
    response: bytes | None = None
    response_bytes = 0
    answered: tuple[float, float] | None = None
    written: tuple[float, float] | None = None
    waits: tuple[Hashable, ...] = ()
    faults: tuple[str, ...] = ()
    ended = ""

    def __init__(self, peer: Peer, received: tuple[float, float], head: bytes, size: int, is_token: bool) -> None:
        self.peer = peer
        self.received = received
        self.head = head
        self.size = size
        self.is_token = is_token

    def respond(self, parts: list[Buffer], size: int) -> int:
        """Adds bytes to the response, and returns how many of them are kept.

        The parts are not kept, because they may belong to large blocks of memory.
        """
        if self.response is None and size <= HEAD_BYTES and not self.is_token:
            self.response, self.response_bytes = b"".join(parts), size
            return size
        known = self.response or b""
        added = beginning(parts, (LENGTH.size if self.is_token else LENGTH.size + HEAD_BYTES) - len(known))
        self.response = known + added
        self.response_bytes += size
        return len(added)

    @property
    def notes(self) -> list[str]:
        """Comments on the request in a capture: what it has waited for, and the faults that hit it."""
        return [*(f"{WAITED}{each}" for each in self.waits), *(f"{FAULT}{each}" for each in self.faults)]

    @property
    def is_over(self) -> bool:
        """Whether nothing more will become known of it."""
        return bool(self.ended) or (self.answered is not None and (self.response is None or self.written is not None))


class Told(NamedTuple):
    """An event without its number."""

    kind: str
    at: tuple[float, float]
    text: str
    node: int | None
    connection: int | None
    fields: Mapping[str, str | int]


Kept = Flight | Run | Told


class Latest(ABC):
    """Entries without numbers. `count` is how many numbers they will take, and `size` their bytes.

    `seal` has to be called when `count` is more than MAX_LATEST or `size` more than `latest_bytes`.
    """

    def __init__(self, latest_bytes: int) -> None:
        self.latest_bytes = latest_bytes
        self.latest: list[Kept] = []
        self.run_bytes = bytearray()
        """The bytes of the latest runs, together, because appending to them takes less time than allocating some for each run."""
        self.count = 0
        self.size = 0

    def add(self, kept: Flight | Told, size: int) -> None:
        """Adds an entry of `size` bytes."""
        self.latest.append(kept)
        self.count += 1
        self.size += size
        if self.count > MAX_LATEST or self.size > self.latest_bytes:
            self.seal()

    def tell(
        self, kind: str, at: tuple[float, float], text: str, node: int | None, connection: int | None, fields: Mapping[str, str | int]
    ) -> None:
        """Adds an event."""
        texts = sum(len(value) for value in fields.values() if isinstance(value, str))
        self.add(Told(kind, at, text, node, connection, fields), len(text) + texts + FIELD_BYTES * len(fields))

    def tell_leader(self, at: tuple[float, float], partition: Partition) -> None:
        """Adds the event that a partition has another leader. Partitions that get the same leader at the same time are one event."""
        last = self.latest[-1] if self.latest else None
        if isinstance(last, Told) and last.kind == "leader" and (last.at[0], last.fields["leader"]) == (at[0], partition.leader):
            fields = {"leader": partition.leader, "partitions": int(last.fields.get("partitions", 1)) + 1}
            text = f"{last.text.partition(' and ')[0]} and {fields['partitions'] - 1} others"
            self.latest[-1] = last._replace(text=text, fields=fields)
            return
        name, leader, epoch = repr(partition), partition.leader, partition.leader_epoch
        led = f"node {leader} leads {name} from epoch {epoch}" if leader >= 0 else f"{name} has no leader from epoch {epoch}"
        topic, index = partition.topic.name, partition.index
        self.tell("leader", at, led, None, None, {"topic": topic, "partition": index, "leader": leader, "epoch": epoch})

    @abstractmethod
    def seal(self) -> None:
        """Numbers the latest entries."""


class Recording:
    """The part of the record that belongs to one connection.

    `flight` is the request that is being served, or None. `received` is set while requests are served that were received in an earlier
    turn. `unwritten` are the requests whose responses have not been passed to the socket.
    """

    __slots__ = ("_client", "_clocks", "_node", "flight", "peer", "received", "record", "unwritten")

    def __init__(self, record: Latest, client: Client, node_id: int, times: Clocks) -> None:
        self.record = record
        self._client = client
        self._node = node_id
        self._clocks = times
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
        return self._clocks.timers.now_ms, self._clocks.clock()

    def tell(self, kind: str, text: str, fields: dict[str, str | int]) -> None:
        """Adds an event of this connection."""
        self.record.tell(kind, self._now, text, self._node, self._client.connection_id, fields)

    # Requests

    def run(self, data: memoryview, count: int, responses: list[Buffer]) -> None:
        """Adds requests that a shortcut has answered at once, as bytes that contain them with their lengths. Some may have no response."""
        size = len(data)
        if size > HEAD_BYTES or self.received is not None:
            return self._record_each(data, responses)
        clocks, record = self._clocks, self.record
        kept = record.run_bytes
        start = len(kept)
        kept += data
        kept += b"".join(responses)
        record.latest.append((self.peer, count, kept, start, start + size, len(kept), clocks.timers.now_ms, clocks.now_s, clocks.clock()))
        record.count += count
        record.size += len(kept) - start
        if record.count > MAX_LATEST or record.size > record.latest_bytes:
            record.seal()

    def write_answer(self, data: memoryview, response: list[Buffer], write: Callable[[list[Buffer]], None]) -> None:
        """Writes the response to one request that a shortcut has answered at once, and adds both. Of the response, a beginning is kept."""
        write(response)
        self.run(data, 1, [beginning(response, LENGTH.size + HEAD_BYTES)])

    def _record_each(self, data: memoryview, responses: list[Buffer]) -> None:
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
        received = self.received or (self._clocks.timers.now_ms, self._clocks.now_s)
        self.flight = Flight(self.peer, received, head, len(frame), is_token)
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
        flight.answered = self._clocks.timers.now_ms, self._clocks.clock()

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
            waited = wait.what or (keys[0] if keys.__class__ is tuple and len(keys) == 1 else _names_of_keys(wait))
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
            now = self._clocks.timers.now_ms, self._clocks.clock()
            written, self.unwritten = self._divide(left_bytes) if left_bytes else (self.unwritten, [])
            for flight in written:
                flight.written = now

    def _divide(self, left_bytes: int) -> tuple[list[Flight], list[Flight]]:
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


def beginning(parts: list[Buffer], most: int) -> bytes:
    """Returns a copy of the first bytes of a response, at most `most`."""
    taken: list[Buffer] = []
    for part in parts:
        if len(part) >= most:
            taken.append(part[: max(most, 0)])
            break
        taken.append(part)
        most -= len(part)
    return b"".join(taken)


def count_of(kept: Kept) -> int:
    """Returns how many numbers a flight, a run or an event takes."""
    return 1 if isinstance(kept, Flight | Told) else kept[1]


def _names_of_keys(wait: Wait) -> str:
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
