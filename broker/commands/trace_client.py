"""The client of the control listener's stream of entries."""

from __future__ import annotations

import json
import socket
import threading
from collections.abc import Callable, Generator, Iterable, Iterator
from contextlib import closing, suppress
from http import HTTPStatus
from http.client import HTTPConnection, HTTPException
from queue import Empty, Queue
from typing import NamedTuple
from urllib.parse import urlencode

from ..wire.exchange import Entry
from ..wire.json_form import entry_of
from .ctl_client import CONNECT_TIMEOUT_S, ControlAnswer

MAX_LINE_BYTES = 1024 * 1024
QUEUED_LINES = 100
INTERRUPT_S = 0.5
"""The longest time after which Ctrl-C acts."""


class Missed(NamedTuple):
    """Entries were dropped from the record before they could be read."""

    entries: int


class NoStream(Exception):
    """The control listener did not answer, or its answer is not a stream of entries."""


class TraceRefused(Exception):
    """The call is wrong."""


def follow(host: str, port: int, token: str | None, *, filter_text: str, since: int | None) -> Iterator[Entry | Missed]:
    """Yields the entries of a cluster's record until the cluster ends. Raises Refused or NoStream."""
    query = {"frames": "true", "filter": filter_text, **({} if since is None else {"since": str(since)})}
    headers = {} if token is None else {"Authorization": f"Bearer {token}"}
    connection = HTTPConnection(host, port, timeout=CONNECT_TIMEOUT_S)
    try:
        connection.connect()
        sock = connection.sock
        sock.settimeout(None)
        connection.request("GET", f"/wire/stream?{urlencode(query)}", headers=headers)
        response = connection.getresponse()
        if response.status != HTTPStatus.OK:
            detail = ControlAnswer(response.status, response.read().decode(errors="replace")).detail
            raise TraceRefused(detail) if response.status == HTTPStatus.BAD_REQUEST else NoStream(detail)
        with closing(interruptible(iter(lambda: response.readline(MAX_LINE_BYTES), b""), lambda: _end(sock))) as lines:
            yield from entries_of(lines)
    except (OSError, HTTPException) as error:
        reason = error.strerror if isinstance(error, OSError) and error.strerror else str(error) or type(error).__name__
        text = f"no control listener answers at {host}:{port}: {reason}; start one with: odradek serve --control {host}:{port}"
        raise NoStream(text) from None
    finally:
        connection.close()


def interruptible(lines: Iterable[bytes], end: Callable[[], None]) -> Generator[bytes, None, None]:
    """Yields lines that a thread reads. `end` makes the thread end; it is called when no more lines are wanted.

    The main thread must not wait for a line without a time limit: a signal that arrives immediately before the system call that waits does
    not interrupt it, so that Ctrl-C would act only after the next entry.
    """
    found: Queue[bytes | Exception] = Queue(QUEUED_LINES)

    def read() -> None:
        try:
            for line in lines:
                found.put(line)
            found.put(b"")
        except Exception as error:  # noqa: BLE001  (the main thread raises it)
            found.put(error)

    threading.Thread(target=read, name="odradek-trace", daemon=True).start()
    try:
        while True:
            try:
                line = found.get(timeout=INTERRUPT_S)
            except Empty:
                continue
            if isinstance(line, Exception):
                raise line
            if not line:
                return
            yield line
    finally:
        end()


def _end(sock: socket.socket) -> None:
    with suppress(OSError):
        sock.shutdown(socket.SHUT_RDWR)


def entries_of(lines: Iterable[bytes]) -> Iterator[Entry | Missed]:
    """Yields the entries in the lines of an event stream. Raises NoStream for other lines."""
    for line in lines:
        if not line.startswith(b"data: "):
            continue
        try:
            form = json.loads(line.removeprefix(b"data: "))
            yield Missed(form["missed"]) if "missed" in form else entry_of(form)
        except (ValueError, TypeError, KeyError):
            raise NoStream("the answer is no control listener's") from None
