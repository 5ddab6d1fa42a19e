"""The record: the latest exchanges and events of a cluster, bounded in number and bytes.

Entries are kept in the form that costs least; `Exchange`s are made from them when someone looks.

* A `Flight` is a request that a handler serves. It is added when the request arrives, and completed as it is answered and written.
* A `Run` is a number of requests in a row that a shortcut answered at once: the bytes of the requests as they were received together, and
  those of the responses as they were written together. It is a plain tuple, and the bytes of many runs are kept together, because one is
  added for each small Produce, or for several that a client has pipelined.
* An `Event` is kept as it is.

Everything is first added to `latest`, at the cost of an append. When `latest` is full or someone looks, `seal` gives its entries their
numbers, of which a run takes one for each request, and drops the oldest entries as a whole until the limits are kept.

Two times are kept of each moment: milliseconds of the cluster, and seconds of the monotonic clock, from which the wall clock's follow.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Hashable, Iterator, Mapping
from itertools import chain, islice, takewhile
from typing import TYPE_CHECKING, Any, NamedTuple

from ...protocol.frame import LENGTH, Buffer
from ...protocol.messages import load_api
from .exchange import HEAD_BYTES, Entry, Event, Exchange, Frame, Moment, client_id_of
from .packets import FAULT, WAITED
from .redaction import redact_request, redact_response

if TYPE_CHECKING:
    from ..topics.partition import Partition, Topic

OVERHEAD_BYTES = 200
"""The bytes that an entry counts in addition to its frames."""
MAX_LATEST = 1000
LATEST_BYTES = 1024 * 1024
"""About the most bytes that `latest` contains, unless the record is small. They are not counted in `_bytes` yet."""
MAX_FORMER_NAMES = 10_000
_REQUEST_ID, _RESPONSE_ID = slice(4, 8), slice(0, 4)  # the correlation id in the frames


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
        if len(self._former) > MAX_FORMER_NAMES:
            del self._former[next(iter(self._former))]


class Told(NamedTuple):
    """An event without its number."""

    kind: str
    at: tuple[float, float]
    text: str
    node: int | None
    connection: int | None
    fields: Mapping[str, str | int]


Kept = Flight | Run | Told


class Chunk(NamedTuple):
    """Entries in order. `first` is the number of the first one, `end` that after the last one."""

    first: int
    end: int
    bytes: int
    kept: list[Kept]


class Record:
    """The entries. `wall_offset_ms` is the wall clock's time when the monotonic clock showed 0, in milliseconds.

    `latest` are entries without numbers. `count` is how many numbers they take, and `size` their bytes; `seal` has to be called when these
    are more than MAX_LATEST and `latest_bytes`.
    """

    def __init__(self, wall_offset_ms: float, max_exchanges: int, max_bytes: int) -> None:
        self._wall_offset_ms = wall_offset_ms
        self._max_exchanges, self._max_bytes = max_exchanges, max_bytes
        self.latest_bytes = min(LATEST_BYTES, max_bytes // 16)
        self.latest: list[Kept] = []
        self.run_bytes = bytearray()
        """The bytes of the latest runs, together, because appending to them takes less time than allocating some for each run."""
        self.count = 0
        self.size = 0
        self._chunks: deque[Chunk] = deque()
        self._end = 1
        self._bytes = 0
        self.topic_names = TopicNames()
        self.on_drop: Callable[[Chunk], None] | None = None
        """A function that is called with entries that are dropped."""

    # Writing down

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
        self.add(Told(kind, at, text, node, connection, fields), len(text))

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

    def seal(self) -> None:
        """Numbers the latest entries and drops the oldest ones beyond the limits."""
        if self.latest:
            first, self._end = self._end, self._end + self.count
            size = self.size + OVERHEAD_BYTES * len(self.latest)
            self._chunks.append(Chunk(first, self._end, size, self.latest))
            self._bytes += size
            self.latest, self.run_bytes, self.count, self.size = [], bytearray(), 0, 0
            self._drop_oldest()

    def _drop_oldest(self) -> None:
        chunks, first = self._chunks, self._end - self._max_exchanges
        while chunks and (self._bytes > self._max_bytes or chunks[0].end <= first):
            dropped = chunks.popleft()
            self._bytes -= dropped.bytes
            if self.on_drop is not None:
                self.on_drop(dropped)

    # Looking

    @property
    def bytes(self) -> int:
        """The number of bytes that are kept."""
        self.seal()
        return self._bytes

    @property
    def next_sequence(self) -> int:
        """The number of the next entry."""
        self.seal()
        return self._end

    @property
    def first_sequence(self) -> int:
        """The number of the oldest entry that is kept."""
        self.seal()
        return max(self._chunks[0].first, self._end - self._max_exchanges) if self._chunks else self._end

    def entries(self, since: int = 0) -> Iterator[Entry]:
        """Yields the entries with numbers from `since` on, in order."""
        since = max(since, self.first_sequence)
        for sequence, kept in self.kept_since(since):
            yield from (entry for entry in self.resolved(sequence, kept) if entry.sequence >= since)

    def kept_since(self, since: int, most: int | None = None) -> list[tuple[int, Kept]]:
        """Returns what is kept of the entries with numbers from `since` on, in order, each with its first number; at most the first `most`.

        The first one may begin before `since`.
        """
        self.seal()
        chunks = list(takewhile(lambda chunk: chunk.end > since, reversed(self._chunks)))
        return list(islice(chain.from_iterable(_numbered(chunk, since) for chunk in reversed(chunks)), most))

    def resolved(self, sequence: int, kept: Kept) -> Iterator[Entry]:
        """Yields the entries that something kept stands for, of which the first has the number `sequence`."""
        if isinstance(kept, Told):
            yield Event(
                sequence=sequence,
                at=self._moment(kept.at),
                kind=kept.kind,
                node=kept.node,
                connection=kept.connection,
                text=kept.text,
                fields=kept.fields,
            )
        elif isinstance(kept, Flight):
            yield self._exchange_of(sequence, kept)
        else:
            yield from self._exchanges_of(sequence, kept)

    def _moment(self, time: tuple[float, float]) -> Moment:
        return Moment(float(time[0]), self._wall_offset_ms + time[1] * 1000)

    def _exchange_of(self, sequence: int, flight: Flight) -> Exchange:
        response = None
        if flight.response is not None:
            size = max(flight.response_bytes - LENGTH.size, 0)
            response = Frame(b"" if flight.is_token else flight.response[LENGTH.size :], size)
        return self._exchange(
            sequence,
            flight.peer,
            Frame(flight.head, flight.size),
            response,
            received=self._moment(flight.received),
            answered=None if flight.answered is None else self._moment(flight.answered),
            written=None if flight.written is None else self._moment(flight.written),
            waits=tuple(each if isinstance(each, str) else f"records of {each!r}" for each in flight.waits),
            faults=flight.faults,
            ended=flight.ended,
        )

    def _exchanges_of(self, sequence: int, run: Run) -> Iterator[Exchange]:
        """Yields the exchanges of a run. A request with acks=0 has no response; the others have theirs in order."""
        peer, _, kept, start, middle, end, time_ms, received_s, written_s = run
        received, written = self._moment((time_ms, received_s)), self._moment((time_ms, written_s))
        responses = iter(_frames(bytes(kept[middle:end])))
        response = next(responses, None)
        for request in _frames(bytes(kept[start:middle])):
            own = None
            if response is not None and response.head[_RESPONSE_ID] == request.head[_REQUEST_ID]:
                own, response = response, next(responses, None)
            yield self._exchange(
                sequence, peer, request, own, received=received, answered=written, written=None if own is None else written
            )
            sequence += 1

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
    """Returns how many numbers something kept has."""
    return 1 if isinstance(kept, Flight | Told) else kept[1]


def _numbered(chunk: Chunk, since: int) -> Iterator[tuple[int, Kept]]:
    """Yields the entries of a chunk with their numbers, without those that end before `since`."""
    sequence = chunk.first
    for kept in chunk.kept:
        following = sequence + count_of(kept)
        if following > since:
            yield sequence, kept
        sequence = following


def _frames(data: bytes) -> list[Frame]:
    """Returns the frames in bytes that contain them with their lengths."""
    frames, position = [], 0
    while position < len(data):
        (size,) = LENGTH.unpack_from(data, position)
        position += LENGTH.size
        frames.append(Frame(data[position : position + min(size, HEAD_BYTES)], size))
        position += size
    return frames
