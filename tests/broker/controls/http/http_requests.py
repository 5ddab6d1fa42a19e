"""Requests to a control listener in tests."""

from __future__ import annotations

import json
import socket
from collections.abc import Mapping
from http.client import HTTPConnection, HTTPResponse
from typing import Any, NamedTuple
from urllib.parse import urlencode


class Answer(NamedTuple):
    """A response with its decoded body."""

    status: int
    body: Any
    headers: Mapping[str, str]


def connected(address: str) -> socket.socket:
    host, port = address.rsplit(":", 1)
    return socket.create_connection((host, int(port)), 10)


def ask(address: str, method: str, path: str, body: Any = None, **headers: str) -> Answer:
    """Sends a request on a connection of its own. A body other than bytes is sent as JSON."""
    connection = HTTPConnection(address, timeout=30)
    try:
        return ask_on(connection, method, path, body, **headers)
    finally:
        connection.close()


def ask_on(connection: HTTPConnection, method: str, path: str, body: Any = None, **headers: str) -> Answer:
    if body is not None and not isinstance(body, bytes):
        body, headers = json.dumps(body).encode(), {"Content-Type": "application/json"} | headers
    connection.request(method, path, body, {name.replace("_", "-"): value for name, value in headers.items()})
    return answer_of(connection.getresponse())


def answer_of(response: HTTPResponse) -> Answer:
    text = response.read()
    return Answer(response.status, json.loads(text) if text else None, dict(response.getheaders()))


def get(address: str, path: str, **parameters: Any) -> Answer:
    return ask(address, "GET", f"{path}?{urlencode(parameters, doseq=True)}" if parameters else path)


def post(address: str, path: str, **parameters: Any) -> Answer:
    return ask(address, "POST", path, parameters)
