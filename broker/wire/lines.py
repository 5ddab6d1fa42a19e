"""Entries as text: one line for each, and the fields of the messages below it.

    12:30:01.482 node 1 #3 rdkafka      Produce v10 (7) orders 189 B -> 76 B, 0.4 ms
    12:30:01.502 node 2 #4 rdkafka      Fetch v16 (12) orders 102 B -> 62 B, 501.2 ms, waited for records of orders-1
    12:30:02.001 node 2 #4 connection closed: FIN by the client

`#3` is the number of the connection, and `(7)` the correlation id. Names that clients have chosen are shown without control characters,
because these would act on the terminal.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any, Protocol

from ..plurals import counted
from .exchange import Entry, Event, Exchange
from .filters import duration_ms
from .json_form import json_of_entry, json_of_message

MAX_TOPICS = 3
MAX_CHARACTERS = 60
CLIENT_COLUMNS = 12
RED, YELLOW, CYAN, DIM = 31, 33, 36, 2


class Lines:
    """The style of lines: with colours or without, and with the fields of messages if `verbose`."""

    def __init__(self, *, colours: bool = False, verbose: bool = False) -> None:
        self._colours = colours
        self._verbose = verbose

    def of(self, entry: Entry) -> str:
        """Returns the lines for an entry, without a line feed at the end."""
        if isinstance(entry, Event):
            return self._of_event(entry)
        first = self._of_exchange(entry)
        return "\n".join([first, *self._fields(entry)]) if self._verbose else first

    def omission(self, count: int) -> str:
        """Returns the line for entries that were dropped before they could be shown."""
        return self._paint(
            YELLOW, f"... {counted(count, 'entry is', 'entries are')} missing, because the record keeps only the latest ones"
        )

    def _of_event(self, event: Event) -> str:
        place = [*([] if event.node is None else [f"node {event.node}"]), *([] if event.connection is None else [f"#{event.connection}"])]
        return self._paint(DIM, " ".join([_time(event.at.wall_ms), *place, f"{event.kind}: {printable(event.text, 500)}"]))

    def _of_exchange(self, exchange: Exchange) -> str:
        node = "" if exchange.node is None else f"node {exchange.node} "
        client = printable(exchange.client_id or exchange.peer).ljust(CLIENT_COLUMNS)
        start = f"{_time(exchange.received.wall_ms)} {node}#{exchange.connection} {client} "
        return start + self._paint(CYAN, f"{exchange.api} v{exchange.version}") + f" ({exchange.correlation_id})" + self._rest(exchange)

    def _rest(self, exchange: Exchange) -> str:
        names = [*exchange.topics, *exchange.groups]
        subjects = f" {', '.join(map(printable, names[:MAX_TOPICS]))}" if names else ""
        more = f" and {len(names) - MAX_TOPICS} more" if len(names) > MAX_TOPICS else ""
        parts = [f"{subjects}{more} {_sizes(exchange)}"]
        if (duration := duration_ms(exchange)) is not None:
            parts.append(f"{duration:.1f} ms")
        elif not exchange.ended:
            parts.append("not answered yet")
        if exchange.errors:
            parts.append(self._paint(RED, " ".join(exchange.errors)))
        parts += [f"waited for {printable(each)}" for each in exchange.waits]
        parts += [self._paint(YELLOW, printable(each, 200)) for each in exchange.faults]
        parts += [self._paint(RED, printable(exchange.ended, 500))] if exchange.ended else []
        return ", ".join(parts)

    def _fields(self, exchange: Exchange) -> Iterator[str]:
        frames = (("request", exchange.request, exchange.request_frame), ("response", exchange.response, exchange.response_frame))
        for name, message, frame in frames:
            if message is not None:
                yield f"  {name}"
                yield from _nested_fields(json_of_message(message, exchange.version), 2)
            elif frame is not None:
                yield f"  {name}: not decoded; {len(frame.head)} of {frame.size} bytes are known"

    def _paint(self, colour: int, text: str) -> str:
        return f"\x1b[{colour}m{text}\x1b[0m" if self._colours else text


def printable(text: str, most: int = MAX_CHARACTERS) -> str:
    """Returns a text of limited length without control characters."""
    cut = text if len(text) <= most else f"{text[: most - 1]}…"
    return "".join(each if each.isprintable() else each.encode("unicode_escape").decode() for each in cut)


def _time(wall_ms: float) -> str:
    try:
        moment = datetime.fromtimestamp(wall_ms / 1000, UTC).astimezone()
    except (OverflowError, OSError, ValueError):  # in a capture file that is damaged
        return "--:--:--.---"
    return f"{moment:%H:%M:%S}.{moment.microsecond // 1000:03}"


def _sizes(exchange: Exchange) -> str:
    response = exchange.response_frame
    return f"{exchange.request_frame.size} B" + ("" if response is None else f" -> {response.size} B")


def _nested_fields(value: Any, depth: int) -> Iterator[str]:
    """Yields the fields of an object, those of objects in it below their name."""
    indent = "  " * depth
    for name, each in value.items():
        items = each if isinstance(each, list) else [each]
        if items and all(isinstance(item, dict) and not item.keys() & {"base64", "bytes"} for item in items):
            for number, item in enumerate(items):
                yield f"{indent}{name}[{number}]" if isinstance(each, list) else f"{indent}{name}"
                yield from _nested_fields(item, depth + 1)
        else:
            yield f"{indent}{name}: {_plain(each)}"


def _plain(value: Any) -> str:
    if isinstance(value, str):
        return printable(value, 500)
    if isinstance(value, dict):
        return f"{value['bytes']} bytes" if "bytes" in value else f"base64 {value['base64']}"
    if isinstance(value, list):
        return f"[{', '.join(map(_plain, value))}]"
    return "null" if value is None else str(value).lower() if isinstance(value, bool) else str(value)


class Printing(Protocol):
    """A form of output."""

    def of(self, entry: Entry) -> str:
        """Returns the text for an entry, without a line feed at the end."""

    def omission(self, count: int) -> str:
        """Returns the text for entries that were dropped before they could be shown."""


class JsonLines:
    """One JSON object per line, with the decoded messages if `verbose`."""

    def __init__(self, *, verbose: bool) -> None:
        self._verbose = verbose

    def of(self, entry: Entry) -> str:
        """Returns the object for an entry."""
        return json.dumps(json_of_entry(entry, verbose=self._verbose))

    def omission(self, count: int) -> str:
        """Returns an object with the number of entries."""
        return json.dumps({"kind": "missed", "missed": count})


def printing_of(*, verbose: bool, as_json: bool, colours: bool) -> Printing:
    """Returns the form that options select. JSON has no colours."""
    return JsonLines(verbose=verbose) if as_json else Lines(colours=colours, verbose=verbose)
