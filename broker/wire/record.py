"""The record: the latest exchanges and events of a cluster, bounded in number and bytes.

What is kept is what costs least to write down; `Exchange`s are made from it when someone looks.

* A `Flight` is a request that a handler serves. It is added when the request arrives, and completed as it is answered and written.
* A run is a number of requests in a row that a shortcut answered at once: the bytes of the requests as they were received together, and the
  responses. It is a plain list, because one is written down for each small Produce, or for several that a client has pipelined. Its fields
  are named by the constants below.
* An `Event` is kept as it is.

Every entry has a number, of which a run takes one for each of its requests. The oldest entries are dropped when there are more than
`max_exchanges` of them, or when the bytes kept exceed `max_bytes`.

Two times are kept of each moment: milliseconds of the cluster, and seconds of the monotonic clock, from which the wall clock's follow.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

from ...protocol.frame import LENGTH, Buffer
from ...protocol.messages import load_api
from .exchange import HEAD_BYTES, Entry, Event, Exchange, Frame, Moment, client_id_of
from .redaction import redact_request, redact_response

if TYPE_CHECKING:
    from ..topics.topic import Topic

EVENT_BYTES = 200
"""What an event counts towards the bytes that are kept, and each request or response in addition to its own bytes."""
MOST_FORMER_NAMES = 10_000
_CORRELATION_ID = slice(4, 8)

Run = list[Any]
SEQUENCE, COUNT, PEER, REQUESTS, RESPONSES, BYTES, RECEIVED_MS, RECEIVED_S, ANSWERED_S, WRITTEN_MS, WRITTEN_S = range(11)
"""The fields of a run. REQUESTS are the bytes of all requests with their lengths, or a list of `Frame`s; RESPONSES are whole frames too."""


class Peer(NamedTuple):
    """A client as it was known when it sent a request."""

    node: int
    listener: str
    connection: int
    address: str
    software: str
    principal: str


class Flight:
    """A request that is being served, or has been. Its response and the times are set as they become known.

    `response` is the beginning of the response's frame with its length field, and `response_bytes` the size of all of it. Of a `token`,
    a SASL token without a header, only the size is kept.
    """

    __slots__ = (
        "answered",
        "bytes",
        "ended",
        "faults",
        "head",
        "is_token",
        "peer",
        "received",
        "response",
        "response_bytes",
        "sequence",
        "size",
        "waits",
        "written",
    )

    def __init__(self, sequence: int, peer: Peer, received: tuple[float, float], head: bytes, size: int, is_token: bool) -> None:
        self.sequence = sequence
        self.peer = peer
        self.received = received
        self.head = head
        self.size = size
        self.is_token = is_token
        self.bytes = len(head) + EVENT_BYTES
        self.response: bytes | None = None
        self.response_bytes = 0
        self.answered: tuple[float, float] | None = None
        self.written: tuple[float, float] | None = None
        self.waits: tuple[str, ...] = ()
        self.faults: tuple[str, ...] = ()
        self.ended = ""

    @property
    def is_over(self) -> bool:
        """Whether nothing more will become known of it."""
        return bool(self.ended) or (self.answered is not None and (self.response is None or self.written is not None))


class TopicNames(Mapping[bytes, str]):
    """The names of topic ids: those of the present cluster, and those of topics that were deleted."""

    def __init__(self) -> None:
        self.topics: Mapping[bytes, Topic] = {}
        self._former: dict[bytes, str] = {}

    def __getitem__(self, topic_id: bytes) -> str:
        topic = self.topics.get(topic_id)
        return self._former[topic_id] if topic is None else topic.name

    def __iter__(self) -> Iterator[bytes]:
        return iter({**self._former, **self.topics})

    def __len__(self) -> int:
        return len({**self._former, **self.topics})

    def remember(self, topic: Topic) -> None:
        """Keeps the name of a topic that is going to be deleted. The number of names is limited."""
        self._former[topic.id] = topic.name
        if len(self._former) > MOST_FORMER_NAMES:
            del self._former[next(iter(self._former))]


class Record:
    """The entries. `wall_offset_ms` is the wall clock's time when the monotonic clock showed 0, in milliseconds."""

    def __init__(self, wall_offset_ms: float, max_exchanges: int, max_bytes: int) -> None:
        self._wall_offset_ms = wall_offset_ms
        self._max_exchanges, self._max_bytes = max_exchanges, max_bytes
        self._kept: deque[Flight | Run | Event] = deque()
        self.next_sequence = 1
        self.bytes = 0
        self.topic_names = TopicNames()

    @property
    def first_sequence(self) -> int:
        """The number of the oldest entry that is kept."""
        return _sequence_of(self._kept[0]) if self._kept else self.next_sequence

    # Writing down

    def add_run(
        self, peer: Peer, data: memoryview, count: int, responses: list[Buffer], response_bytes: int, received_ms: int, received_s: float
    ) -> Run:
        """Adds requests that were answered at once. `data` contains them with their lengths."""
        size = len(data)
        requests: bytes | list[Frame]
        if size <= HEAD_BYTES:
            requests = data.tobytes()
        else:
            requests = _frames(data)
            size = sum(len(frame.head) for frame in requests)
        size += response_bytes + EVENT_BYTES
        sequence = self.next_sequence
        run = [sequence, count, peer, requests, responses, size, received_ms, received_s, 0.0, 0, None]
        self._kept.append(run)
        self.next_sequence = sequence + count
        self.bytes += size
        if self.bytes > self._max_bytes or sequence - self._max_exchanges > 0:
            self._drop_oldest()
        return run

    def begin(self, peer: Peer, received: tuple[float, float], frame: memoryview, is_token: bool) -> Flight:
        """Adds a request that has arrived."""
        head = b"" if is_token else frame[:HEAD_BYTES].tobytes()
        flight = Flight(self.next_sequence, peer, received, head, len(frame), is_token)
        self._add(flight, flight.bytes)
        return flight

    def respond(self, flight: Flight, parts: list[Buffer]) -> None:
        """Adds bytes to the response of a request. The parts are not kept, because they may belong to large blocks of memory."""
        known = b"" if flight.response is None else flight.response
        room = (LENGTH.size if flight.is_token else LENGTH.size + HEAD_BYTES) - len(known)
        for part in parts:
            size = len(part)
            flight.response_bytes += size
            if room > 0:
                known += bytes(part) if size <= room else bytes(part[:room])
                room -= size
        added, flight.response = len(known) - len(flight.response or b""), known
        if flight.sequence >= self.first_sequence:
            flight.bytes += added
            self.bytes += added
            if self.bytes > self._max_bytes:
                self._drop_oldest()

    def tell(
        self, kind: str, at: tuple[float, float], text: str, node: int | None, connection: int | None, fields: Mapping[str, str | int]
    ) -> None:
        """Adds an event."""
        event = Event(
            sequence=self.next_sequence, at=self._moment(at), kind=kind, node=node, connection=connection, text=text, fields=fields
        )
        self._add(event, _event_bytes(event))

    def _add(self, entry: Flight | Event, size: int) -> None:
        self._kept.append(entry)
        self.next_sequence += 1
        self.bytes += size
        if self.bytes > self._max_bytes or self.next_sequence - self._max_exchanges > 1:
            self._drop_oldest()

    def _drop_oldest(self) -> None:
        """Drops entries until the limits are kept. A run is dropped when all of its requests may be."""
        kept, first_sequence = self._kept, self.next_sequence - self._max_exchanges
        while kept and (self.bytes > self._max_bytes or _end_of(kept[0]) <= first_sequence):
            self.bytes -= _bytes_of(kept.popleft())

    # Looking

    def entries(self, since: int = 0) -> Iterator[Entry]:
        """Yields the entries with numbers from `since` on, in order. Entries must not be added meanwhile."""
        since = max(since, self.next_sequence - self._max_exchanges)
        for kept in self.kept_since(since):
            yield from (entry for entry in self.resolved(kept) if entry.sequence >= since)

    def kept_since(self, since: int) -> list[Flight | Run | Event]:
        """Returns what is kept of the entries with numbers from `since` on, in order."""
        found = []
        for kept in reversed(self._kept):
            if _end_of(kept) <= since:
                break
            found.append(kept)
        return found[::-1]

    def resolved(self, kept: Flight | Run | Event) -> Iterator[Entry]:
        """Yields the entries that something kept stands for."""
        if isinstance(kept, Event):
            yield kept
        elif isinstance(kept, Flight):
            yield self._exchange_of(kept)
        else:
            yield from self._exchanges_of(kept)

    def _moment(self, time: tuple[float, float]) -> Moment:
        return Moment(float(time[0]), self._wall_offset_ms + time[1] * 1000)

    def _exchange_of(self, flight: Flight) -> Exchange:
        response = None
        if flight.response is not None:
            size = max(flight.response_bytes - LENGTH.size, 0)
            response = Frame(b"" if flight.is_token else flight.response[LENGTH.size :], size)
        return self._exchange(
            flight.sequence,
            flight.peer,
            Frame(flight.head, flight.size),
            response,
            received=self._moment(flight.received),
            answered=None if flight.answered is None else self._moment(flight.answered),
            written=None if flight.written is None else self._moment(flight.written),
            waits=flight.waits,
            faults=flight.faults,
            ended=flight.ended,
        )

    def _exchanges_of(self, run: Run) -> Iterator[Exchange]:
        """Yields the exchanges of a run. A request with acks=0 has no response; the others have theirs in order."""
        received = self._moment((run[RECEIVED_MS], run[RECEIVED_S]))
        answered = self._moment((run[RECEIVED_MS], run[ANSWERED_S]))
        written = None if run[WRITTEN_S] is None else self._moment((run[WRITTEN_MS], run[WRITTEN_S]))
        responses = iter(run[RESPONSES])
        response = next(responses, None)  # a frame with its length, so that its correlation id has the place of that of a request
        requests = run[REQUESTS] if isinstance(run[REQUESTS], list) else _frames(memoryview(run[REQUESTS]))
        for sequence, request in enumerate(requests, run[SEQUENCE]):
            own = None
            if response is not None and response[_CORRELATION_ID] == request.head[_CORRELATION_ID]:
                own, response = Frame(bytes(response[LENGTH.size :]), len(response) - LENGTH.size), next(responses, None)
            yield self._exchange(
                sequence, run[PEER], request, own, received=received, answered=answered, written=None if own is None else written
            )

    def _exchange(self, sequence: int, peer: Peer, request: Frame, response: Frame | None, **known: Any) -> Exchange:
        shown = request if not request.head else Frame(bytes(redact_request(request.head)), request.size)
        if response is not None and response.head:
            key, version = int.from_bytes(request.head[:2], "big"), int.from_bytes(request.head[2:4], "big")
            response = Frame(bytes(redact_response(load_api(key), version, response.head)), response.size)
        return Exchange(
            sequence=sequence,
            node=peer.node,
            listener=peer.listener,
            connection=peer.connection,
            peer=peer.address,
            client_id=client_id_of(shown),
            software=peer.software,
            principal=peer.principal,
            request_frame=shown,
            response_frame=response,
            topic_names=self.topic_names,
            **known,
        )


def _sequence_of(kept: Flight | Run | Event) -> int:
    sequence: int = kept[SEQUENCE] if isinstance(kept, list) else kept.sequence
    return sequence


def _end_of(kept: Flight | Run | Event) -> int:
    """Returns the number after the last entry that something kept stands for."""
    return kept[SEQUENCE] + kept[COUNT] if isinstance(kept, list) else kept.sequence + 1


def _bytes_of(kept: Flight | Run | Event) -> int:
    if isinstance(kept, list):
        size: int = kept[BYTES]
        return size
    return kept.bytes if isinstance(kept, Flight) else _event_bytes(kept)


def _event_bytes(event: Event) -> int:
    return EVENT_BYTES + len(event.text)


def _frames(data: memoryview) -> list[Frame]:
    """Returns the frames in bytes that contain them with their lengths."""
    frames, position = [], 0
    while position < len(data):
        (size,) = LENGTH.unpack_from(data, position)
        position += LENGTH.size
        frames.append(Frame(data[position : position + min(size, HEAD_BYTES)].tobytes(), size))
        position += size
    return frames
