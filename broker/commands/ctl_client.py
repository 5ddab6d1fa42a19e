"""The HTTP client of `odradek ctl`: one request to a control listener."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from http.client import HTTPConnection, HTTPException
from typing import Any, NamedTuple
from urllib.parse import urlencode

from ..controls.declaration import Control
from ..controls.interface.results import json_of

CONNECT_TIMEOUT_S = 10.0


class NoControlAnswer(Exception):
    """The control listener did not answer."""


class ControlAnswer(NamedTuple):
    """A response of a control listener."""

    status: int
    body: str

    @property
    def detail(self) -> str:
        """The description of an error."""
        try:
            return str(json.loads(self.body)["detail"])
        except (ValueError, KeyError, TypeError):
            return f"the answer is no control listener's (HTTP status {self.status})"


def send(
    host: str, port: int, token: str | None, control: Control, pairs: Sequence[tuple[str, str]], arguments: Mapping[str, Any]
) -> ControlAnswer:
    """Returns the response to a control with these arguments, which a control that only reads takes from the pairs of texts.

    Raises NoAnswer. There is no time limit after the connection has been opened, because a control may wait for long.
    """
    path = "/" + "/".join(control.words)
    headers = {} if token is None else {"Authorization": f"Bearer {token}"}
    connection = HTTPConnection(host, port, timeout=CONNECT_TIMEOUT_S)
    try:
        connection.connect()
        connection.sock.settimeout(None)
        if control.reads:
            connection.request("GET", f"{path}?{urlencode(pairs)}" if pairs else path, headers=headers)
        else:
            connection.request("POST", path, json_of(arguments).encode(), headers | {"Content-Type": "application/json"})
        response = connection.getresponse()
        return ControlAnswer(response.status, response.read().decode())
    except (OSError, HTTPException, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) and error.strerror else str(error) or type(error).__name__
        text = f"no control listener answers at {host}:{port}: {reason}; start one with: odradek serve --control {host}:{port}"
        raise NoControlAnswer(text) from None
    finally:
        connection.close()
