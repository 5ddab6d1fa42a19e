"""`GET /wire/stream`: the record of exchanges as server-sent events, for `odradek trace` and the page.

Each event has the number of an entry as its id, the name "exchange" or "event", and the entry as a JSON object as its data. An event
"missed" says how many entries were dropped before the client read them. A client that reconnects sends the last id and continues there.

Parameters: `since` is the number of the first entry (default: the next one), `filter` selects entries, `verbose` adds the decoded messages,
and `frames` the bytes of the frames. With `sample`, entries are left out if there are too many of them to look at, and an event "left_out"
says how many.

The stream is a generator that is asked for more only while the client reads. It keeps no entries itself, so that a client which does not
read costs no more memory than the buffers of its connection. All streams of a listener share one budget of time, and the text of an entry
is made once for all that have the same parameters, so that many readers take hardly more from the clients of the brokers than one.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncGenerator, AsyncIterator, Iterator
from contextlib import asynccontextmanager
from functools import partial
from http import HTTPStatus
from typing import NamedTuple
from urllib.parse import parse_qsl
from weakref import WeakValueDictionary

from ...control_errors import InvalidControl, unknown
from ...network.server import Server
from ...scheduling.turns import TURN_S
from ...wire.exchange import Entry, Exchange
from ...wire.feed import Feed, SampledFeed, SharedTexts
from ...wire.filters import parse_filter
from ...wire.json_form import json_of_entry
from ...wire.record import WireRecord
from ..wire import record_of
from .requests import Request
from .responses import Problem

POLL_S = 0.05
"""The time between two looks at the record. The broker does not tell the stream of new entries, so that they cost it no time."""
KEEP_ALIVE_S = 15.0
"""A comment is sent after so much time without an event, so that the end of the connection is noticed."""
PIECE_BYTES = 32 * 1024
PARAMETERS = ("since", "filter", "verbose", "frames", "sample")


class Options(NamedTuple):
    """The parameters of a stream. Without `since`, it begins with the next entry."""

    since: int | None
    filter: str
    verbose: bool
    frames: bool
    sample: bool


def options_of(request: Request) -> Options:
    """Returns the parameters in a request. Raises InvalidControl, and Problem for a malformed query."""
    try:
        pairs = parse_qsl(request.target.partition("?")[2], keep_blank_values=True, errors="strict", max_num_fields=10)
    except ValueError as error:
        raise Problem(HTTPStatus.BAD_REQUEST, f"the query is invalid: {error}") from None
    for name, _ in pairs:
        if name not in PARAMETERS:
            raise unknown(name, "parameter", name, PARAMETERS)
    given = dict(pairs)
    since = _number("since", given["since"]) if "since" in given else None
    if "last-event-id" in request.headers:
        since = _number("Last-Event-ID", request.headers["last-event-id"]) + 1
    return Options(since, given.get("filter", ""), _truth("verbose", given), _truth("frames", given), _truth("sample", given))


def _number(name: str, text: str) -> int:
    if not (text.isascii() and text.isdigit() and len(text) <= 18):
        raise InvalidControl(name, f"expected a number, not {text[:50]!r}")
    return int(text)


def _truth(name: str, given: dict[str, str]) -> bool:
    text = given.get(name, "false")
    if text not in ("true", "false"):
        raise InvalidControl(name, f"expected true or false, not {text[:50]!r}")
    return text == "true"


class TimeBudget:
    """The time that all readers may take from the event loop together: they work one after the other, at most half of the time."""

    def __init__(self) -> None:
        self._lock = asyncio.Lock()
        self._worked_s = 0.0

    @asynccontextmanager
    async def turn(self) -> AsyncIterator[float]:
        """Waits for the caller's turn, which must not wait for anything. The value is the time of the loop at which it should end."""
        loop = asyncio.get_running_loop()
        async with self._lock:
            began_s = loop.time()
            try:
                yield began_s + TURN_S
            finally:
                self._worked_s += loop.time() - began_s
            pause_s = self._worked_s if self._worked_s >= TURN_S else 0.0
            self._worked_s -= pause_s
            await asyncio.sleep(pause_s)


class WireStreams:
    """The streams of a control listener. They share one budget, and those with the same options share the texts of entries."""

    def __init__(self) -> None:
        self._budget = TimeBudget()
        self._texts: WeakValueDictionary[tuple[WireRecord, str, bool, bool], SharedTexts] = WeakValueDictionary()

    def open(self, request: Request, server: Server) -> AsyncGenerator[bytes, None]:
        """Returns the events of a stream. Raises InvalidControl, Problem, and ControlRefused if the record is switched off."""
        options = options_of(request)
        record = record_of(server)
        kind = SampledFeed[bytes] if options.sample else Feed[bytes]
        since = record.next_sequence if options.since is None else options.since
        return _events(kind(record, since, self._texts_of(record, options)), self._budget)

    def _texts_of(self, record: WireRecord, options: Options) -> SharedTexts:
        key = record, options.filter, options.verbose, options.frames
        texts = self._texts.get(key)
        if texts is None:
            texts = self._texts[key] = SharedTexts(record, parse_filter(options.filter), partial(_entry, options))
        return texts


async def _events(feed: Feed[bytes], budget: TimeBudget) -> AsyncGenerator[bytes, None]:
    loop = asyncio.get_running_loop()
    yield b"retry: 1000\n\n"
    quiet_since_s = loop.time()
    while True:
        async for piece in _pieces(feed, budget):
            yield piece
            quiet_since_s = loop.time()
        if loop.time() - quiet_since_s >= KEEP_ALIVE_S:
            yield b":\n\n"
            quiet_since_s = loop.time()
        await asyncio.sleep(POLL_S)


async def _pieces(feed: Feed[bytes], budget: TimeBudget) -> AsyncGenerator[bytes, None]:
    """Yields the events for the entries that are complete by now. Other work gets turns in between."""
    if missed := feed.take_missed():
        yield _event("missed", json.dumps({"missed": missed}))
    texts, is_last = feed.take(), False
    while not is_last:
        async with budget.turn() as end_s:
            piece, is_last = _piece(texts, end_s)
        if piece:
            yield piece
    if isinstance(feed, SampledFeed) and (left_out := feed.take_left_out()):
        yield _event("left_out", json.dumps({"left_out": left_out}))


def _piece(texts: Iterator[bytes | None], end_s: float) -> tuple[bytes, bool]:
    """Returns texts of about PIECE_BYTES, or as many as are made until `end_s`, and whether they are the last ones."""
    piece, clock = bytearray(), asyncio.get_running_loop().time
    for text in texts:
        if text is not None:
            piece += text
        if len(piece) >= PIECE_BYTES or clock() > end_s:
            return bytes(piece), False
    return bytes(piece), True


def _entry(options: Options, entry: Entry) -> bytes:
    form = json_of_entry(entry, verbose=options.verbose, frames=options.frames)
    return _event("exchange" if isinstance(entry, Exchange) else "event", json.dumps(form), entry.sequence)


def _event(name: str, data: str, number: int | None = None) -> bytes:
    identifier = "" if number is None else f"id: {number}\n"
    return f"{identifier}event: {name}\ndata: {data}\n\n".encode()
