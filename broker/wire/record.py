"""The record: the latest exchanges and events of a cluster, bounded in number and bytes.

Entries are kept as `recording.py` adds them; `Exchange`s are made from them when someone looks. When `latest` is full or someone looks,
`seal` gives its entries their numbers, of which a run takes one for each request, and drops the oldest entries as a whole until the limits
are kept.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator, Mapping
from itertools import chain, islice, takewhile
from typing import TYPE_CHECKING, Any, NamedTuple

from ...protocol.frame import LENGTH
from ...protocol.messages import load_api
from .exchange import HEAD_BYTES, Entry, Event, Exchange, Frame, Moment, client_id_of
from .recording import Flight, Kept, Latest, Peer, Run, Told, count_of
from .redaction import redact_request, redact_response

if TYPE_CHECKING:
    from ..topics.partition import Topic

OVERHEAD_BYTES = 200
"""The bytes that an entry counts in addition to its frames."""
LATEST_BYTES = 1024 * 1024
"""About the most bytes that `latest` contains, unless the record is small. They are not counted in `_bytes` yet."""
MAX_FORMER_NAMES = 10_000
_REQUEST_ID, _RESPONSE_ID = slice(4, 8), slice(0, 4)  # the correlation id in the frames


class TopicIdNames(Mapping[bytes, str]):
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


class Chunk(NamedTuple):
    """Entries in order. `first` is the number of the first one, `end` that after the last one."""

    first: int
    end: int
    bytes: int
    kept: list[Kept]


class WireRecord(Latest):
    """The entries. `wall_offset_ms` is the wall clock's time when the monotonic clock showed 0, in milliseconds."""

    def __init__(self, wall_offset_ms: float, max_exchanges: int, max_bytes: int) -> None:
        super().__init__(min(LATEST_BYTES, max_bytes // 16))
        self._wall_offset_ms = wall_offset_ms
        self._max_exchanges, self._max_bytes = max_exchanges, max_bytes
        self._chunks: deque[Chunk] = deque()
        self._end = 1
        self._bytes = 0
        self.topic_names = TopicIdNames()
        self.on_drop: Callable[[Chunk], None] | None = None
        """A function that is called with entries that are dropped."""

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
            yield from (entry for entry in self.resolve(sequence, kept) if entry.sequence >= since)

    def kept_since(self, since: int, most: int | None = None) -> list[tuple[int, Kept]]:
        """Returns what is kept of the entries with numbers from `since` on, in order, each with its first number; at most the first `most`.

        The first one may begin before `since`.
        """
        self.seal()
        chunks = list(takewhile(lambda chunk: chunk.end > since, reversed(self._chunks)))
        return list(islice(chain.from_iterable(_number(chunk, since) for chunk in reversed(chunks)), most))

    def resolve(self, sequence: int, kept: Kept) -> Iterator[Entry]:
        """Yields the entries of a flight, a run or an event, the first of which has the number `sequence`."""
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


def _number(chunk: Chunk, since: int) -> Iterator[tuple[int, Kept]]:
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
