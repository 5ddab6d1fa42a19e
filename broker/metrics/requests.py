"""Counts of requests, from the record of exchanges: by API, version and error, their durations and bytes, and connections.

The record drops its oldest entries. `RequestCounts` counts those that are dropped and those that are there when metrics are asked for, so
that each is counted once. No request is counted, and no response is decoded for it, before metrics are asked for the first time.

Labels do not depend on what clients choose: an unknown API or version has one label, whatever its number.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter, deque
from collections.abc import Callable, Iterator, Mapping

from ...protocol.errors import ErrorCode
from ...protocol.frame import LENGTH
from ...protocol.messages import load_api
from ..scheduling.waiting import NEXT_TURN, Background
from ..wire.exchange import TOKEN_API, Frame, decoded_response, error_names
from ..wire.record import Chunk, WireRecord
from ..wire.recording import Flight, Kept, Run, Told
from .openmetrics import Family, counter, labels, samples

UNKNOWN_API, UNKNOWN_VERSION, NO_RESPONSE = "Unknown", "unsupported", "NO_RESPONSE"
BUCKETS_S = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0)
SLICE = 20
"""The entries that are counted in one turn. That takes less than a millisecond."""
MAX_WAITING = 2_000
"""The most dropped entries that wait to be counted. Beyond them, each drop counts some at once."""
_ID_BYTES = 4

REQUESTS = counter("odradek_requests", "Requests that were answered, by the first error of the response; NONE for success.")
DURATIONS = Family("odradek_request_duration_seconds", "histogram", "Time from the arrival of a request to its response.")
REQUEST_BYTES = counter("odradek_request_bytes", "Bytes of requests with their lengths.")
RESPONSE_BYTES = counter("odradek_response_bytes", "Bytes of responses with their lengths.")
OPENED = counter("odradek_connections_opened", "Connections that were accepted.")
CLOSED = counter("odradek_connections_closed", "Connections that were closed, by the side that did so.")


class Histogram:
    """Numbers of durations by bucket, and their sum."""

    def __init__(self) -> None:
        self.counts = [0] * (len(BUCKETS_S) + 1)
        self.sum_s = 0.0

    def add(self, duration_s: float, count: int = 1) -> None:
        self.counts[bisect_left(BUCKETS_S, duration_s)] += count
        self.sum_s += duration_s * count


class RequestCounts:
    """The counts of a record. `background` runs a generator in slices between turns."""

    def __init__(self, record: WireRecord, background: Callable[[Background], None]) -> None:
        self._record = record
        self._background = background
        self._next = 0
        """The number of the first entry that is not counted and does not wait."""
        self._waiting: deque[Kept] = deque()
        self._is_working = False
        self._open: list[Flight] = []
        self._requests: Counter[tuple[str, str, str]] = Counter()
        self._durations: dict[str, Histogram] = {}
        self._bytes: dict[Family, Counter[str]] = {REQUEST_BYTES: Counter(), RESPONSE_BYTES: Counter()}
        self._connections: dict[Family, Counter[str]] = {OPENED: Counter(), CLOSED: Counter()}
        record.on_drop = self._dropped

    def pieces(self) -> Iterator[str]:
        """Counts what is in the record, and yields the text, each piece in about a millisecond."""
        self._waiting.extend(kept for _, kept in self._record.kept_since(self._next))
        self._next = self._record.next_sequence
        while self._waiting:
            self._count_some()
            yield ""
        self._count_open()
        requests = sorted(self._requests.items())
        by_error = ((labels(api=api, version=version, error=error), count) for (api, version, error), count in requests)
        yield REQUESTS.head + samples(f"{REQUESTS.name}_total", by_error)
        yield DURATIONS.head
        yield from (_histogram_text(api, histogram) for api, histogram in sorted(self._durations.items()))
        yield from _totals("api", self._bytes)
        yield from _totals("node", {OPENED: self._connections[OPENED]})
        yield from _totals("by", {CLOSED: self._connections[CLOSED]})

    # Which entries are counted when

    def _dropped(self, chunk: Chunk) -> None:
        """Keeps entries that the record drops until they are counted. All entries of a chunk have been counted, or none."""
        if chunk.first < self._next:
            return
        self._waiting.extend(chunk.kept)
        self._next = chunk.end
        while len(self._waiting) > MAX_WAITING:
            self._count_some()
        if not self._is_working:
            self._is_working = True
            self._background(self._work())

    def _work(self) -> Background:
        try:
            while self._waiting:
                self._count_some()
                yield NEXT_TURN
        finally:
            self._is_working = False

    def _count_some(self) -> None:
        for _ in range(min(SLICE, len(self._waiting))):
            self._count(self._waiting.popleft())

    def _count_open(self) -> None:
        """Counts requests that were not answered when they were seen first, if they are by now."""
        still_open, self._open = self._open, []
        for flight in still_open:
            self._count(flight)

    # Counting

    def _count(self, kept: Kept) -> None:
        if isinstance(kept, Told):
            self._count_event(kept)
        elif not isinstance(kept, Flight):
            self._count_run(kept)
        elif kept.is_over:
            self._count_flight(kept)
        else:
            self._open.append(kept)

    def _count_event(self, event: Told) -> None:
        if event.kind == "connection opened":
            self._connections[OPENED][str(event.node)] += 1
        elif event.kind == "connection closed":
            self._connections[CLOSED][str(event.fields.get("by", ""))] += 1

    def _count_flight(self, flight: Flight) -> None:
        response = None
        if flight.response is not None:
            response = Frame(flight.response[LENGTH.size :], max(0, flight.response_bytes - LENGTH.size))
        api, version = (TOKEN_API, "") if flight.is_token else _labels_of(flight.head)
        error = NO_RESPONSE if response is None and flight.ended else _error(flight.head, response)
        end_s = flight.received[1] if flight.answered is None else flight.answered[1]
        self._add(api, version, error, end_s - flight.received[1], flight.size + LENGTH.size, flight.response_bytes)

    def _count_run(self, run: Run) -> None:
        _, _, kept, start, middle, end, _, received_s, answered_s = run
        responses = {bytes(frame[:_ID_BYTES]): frame for frame in _frames(bytes(kept[middle:end]))}
        for request in _frames(bytes(kept[start:middle])):
            response = responses.get(bytes(request[_ID_BYTES : 2 * _ID_BYTES]))
            frame = None if response is None else Frame(bytes(response), len(response))
            api, version = _labels_of(request)
            size = 0 if frame is None else frame.size + LENGTH.size
            self._add(api, version, _error(request, frame), answered_s - received_s, len(request) + LENGTH.size, size)

    def _add(self, api: str, version: str, error: str, duration_s: float, request_bytes: int, response_bytes: int) -> None:
        self._requests[api, version, error] += 1
        if api not in self._durations:
            self._durations[api] = Histogram()
        self._durations[api].add(duration_s)
        self._bytes[REQUEST_BYTES][api] += request_bytes
        self._bytes[RESPONSE_BYTES][api] += response_bytes


def _labels_of(head: bytes | memoryview) -> tuple[str, str]:
    """Returns the names of the API and the version of a request that begins with `head`."""
    api = load_api(int.from_bytes(head[:2], "big", signed=True))
    if api is None or len(head) < _ID_BYTES:
        return UNKNOWN_API, UNKNOWN_VERSION
    version = int.from_bytes(head[2:4], "big", signed=True)
    return api.name, str(version) if version in api.versions else UNKNOWN_VERSION


def _error(head: bytes | memoryview, response: Frame | None) -> str:
    """Returns the first error of a response; of one that is longer than its beginning, the first error in that."""
    if response is None:
        return ErrorCode.NONE.name
    api = load_api(int.from_bytes(head[:2], "big", signed=True))
    message = decoded_response(api, int.from_bytes(head[2:4], "big", signed=True), response)
    names = () if message is None else error_names(message)
    return names[0] if names else ErrorCode.NONE.name


def _frames(data: bytes) -> Iterator[memoryview]:
    """Yields the frames in bytes that contain them with their lengths."""
    view, position = memoryview(data), 0
    while position < len(data):
        (size,) = LENGTH.unpack_from(data, position)
        position += LENGTH.size
        yield view[position : position + size]
        position += size


def _histogram_text(api: str, histogram: Histogram) -> str:
    total, lines = 0, []
    for bound, count in zip((*BUCKETS_S, "+Inf"), histogram.counts, strict=True):
        total += count
        lines.append((labels(api=api, le=bound), total))
    ends = samples(f"{DURATIONS.name}_count", [(labels(api=api), total)]) + samples(
        f"{DURATIONS.name}_sum", [(labels(api=api), histogram.sum_s)]
    )
    return samples(f"{DURATIONS.name}_bucket", lines) + ends


def _totals(label: str, counted: Mapping[Family, Counter[str]]) -> Iterator[str]:
    for family, counts in counted.items():
        yield family.head + samples(f"{family.name}_total", ((labels(**{label: name}), count) for name, count in sorted(counts.items())))
