"""The client of the control listener's stream of entries."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from http import HTTPStatus
from http.client import HTTPConnection, HTTPException
from typing import NamedTuple
from urllib.parse import urlencode

from ..wire.exchange import Entry
from ..wire.json_form import entry_of
from .ctl_client import CONNECT_TIMEOUT_S, Answer

MAX_LINE_BYTES = 1024 * 1024


class Missed(NamedTuple):
    """Entries were dropped from the record before they could be read."""

    entries: int


class NoStream(Exception):
    """The control listener did not answer, or its answer is no stream of entries."""


class Refused(Exception):
    """The call is wrong."""


def follow(host: str, port: int, token: str | None, *, filter_text: str, since: int | None) -> Iterator[Entry | Missed]:
    """Yields the entries of a cluster's record until the cluster ends. Raises Refused or NoStream."""
    query = {"frames": "true", "filter": filter_text, **({} if since is None else {"since": str(since)})}
    headers = {} if token is None else {"Authorization": f"Bearer {token}"}
    connection = HTTPConnection(host, port, timeout=CONNECT_TIMEOUT_S)
    try:
        connection.connect()
        connection.sock.settimeout(None)
        connection.request("GET", f"/wire/stream?{urlencode(query)}", headers=headers)
        response = connection.getresponse()
        if response.status != HTTPStatus.OK:
            detail = Answer(response.status, response.read().decode(errors="replace")).detail
            raise Refused(detail) if response.status == HTTPStatus.BAD_REQUEST else NoStream(detail)
        yield from entries_of(iter(lambda: response.readline(MAX_LINE_BYTES), b""))
    except (OSError, HTTPException) as error:
        reason = error.strerror if isinstance(error, OSError) and error.strerror else str(error) or type(error).__name__
        text = f"no control listener answers at {host}:{port}: {reason}; start one with: odradek serve --control {host}:{port}"
        raise NoStream(text) from None
    finally:
        connection.close()


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
