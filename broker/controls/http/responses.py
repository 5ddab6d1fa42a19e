"""Responses of the control listener and their bytes in HTTP/1.1. Errors are problem details of RFC 9457."""

from __future__ import annotations

import json
import time
from collections.abc import AsyncGenerator, Mapping
from email.utils import formatdate
from functools import lru_cache
from http import HTTPStatus
from types import MappingProxyType
from typing import Any, NamedTuple

from ...control_errors import ControlError, ControlRefused, ControlTimeout, InvalidControl

PROBLEM_TYPE = "application/problem+json"
CONTINUE = b"HTTP/1.1 100 Continue\r\n\r\n"
NO_HEADERS: Mapping[str, str] = MappingProxyType({})


class Problem(Exception):
    """The error with which a request is answered. `fields` are members of the problem besides status, title and detail."""

    def __init__(self, status: HTTPStatus, detail: str, headers: Mapping[str, str] | None = None, **fields: str) -> None:
        super().__init__(detail)
        self.status = status
        self.detail = detail
        self.headers = headers or {}
        self.fields = fields

    def as_json(self) -> str:
        """Returns the body of the response."""
        problem: dict[str, Any] = {"title": self.status.phrase, "status": self.status.value, "detail": self.detail, **self.fields}
        return json.dumps(problem) + "\n"


class Response(NamedTuple):
    """A response. Without a content type, it has no body."""

    status: HTTPStatus
    content_type: str | None = None
    body: bytes | bytearray = b""
    headers: Mapping[str, str] = NO_HEADERS


class Streaming(NamedTuple):
    """A response whose body has no known length. It ends with the connection."""

    content_type: str
    pieces: AsyncGenerator[bytes, None]


def problem_of(error: ControlError) -> Problem:
    """Returns the problem for an error of a control: 400 for an argument, 409 if the cluster refused, 504 after a time-out."""
    if isinstance(error, InvalidControl):
        return Problem(HTTPStatus.BAD_REQUEST, str(error), parameter=error.parameter)
    if isinstance(error, ControlRefused):
        return Problem(HTTPStatus.CONFLICT, str(error), code=error.code)
    status = HTTPStatus.GATEWAY_TIMEOUT if isinstance(error, ControlTimeout) else HTTPStatus.CONFLICT
    return Problem(status, str(error))


def response_of(problem: Problem) -> Response:
    """Returns the response for an error."""
    return Response(problem.status, PROBLEM_TYPE, problem.as_json().encode(), problem.headers)


def encode_head(streaming: Streaming) -> bytes:
    """Returns the head of a response without a length."""
    return encode(Response(HTTPStatus.OK, headers={"Content-Type": streaming.content_type}), keep_alive=False)


def encode(response: Response, *, keep_alive: bool, with_body: bool = True) -> bytes:
    """Returns the bytes of a response. Without its body, it is the response to a HEAD request."""
    headers = {"Date": _date(int(time.time())), "Cache-Control": "no-store", "X-Content-Type-Options": "nosniff", **response.headers}
    if response.content_type is not None:
        headers |= {"Content-Type": response.content_type, "Content-Length": str(len(response.body))}
    if not keep_alive:
        headers["Connection"] = "close"
    lines = [f"HTTP/1.1 {response.status.value} {response.status.phrase}", *(f"{name}: {value}" for name, value in headers.items())]
    return "\r\n".join([*lines, "", ""]).encode("latin-1") + (response.body if with_body else b"")


@lru_cache(maxsize=1)
def _date(time_s: int) -> str:
    """Returns a time as a header contains it. The latest one is kept, because it is the same for all responses of a second."""
    return formatdate(time_s, usegmt=True)
