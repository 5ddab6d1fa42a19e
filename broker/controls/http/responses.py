"""Responses of the control listener and their bytes in HTTP/1.1."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Mapping
from email.utils import formatdate
from http import HTTPStatus
from types import MappingProxyType
from typing import NamedTuple

from .problems import PROBLEM_TYPE, Problem

CONTINUE = b"HTTP/1.1 100 Continue\r\n\r\n"
NO_HEADERS: Mapping[str, str] = MappingProxyType({})


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


def response_of(problem: Problem) -> Response:
    """Returns the response for an error."""
    return Response(problem.status, PROBLEM_TYPE, problem.as_json().encode(), problem.headers)


def encoded_head(streaming: Streaming) -> bytes:
    """Returns the head of a response without a length."""
    return encoded(Response(HTTPStatus.OK, headers={"Content-Type": streaming.content_type}), keep_alive=False)


def encoded(response: Response, *, keep_alive: bool, with_body: bool = True) -> bytes:
    """Returns the bytes of a response. Without its body, it is the response to a HEAD request."""
    headers = {"Date": formatdate(usegmt=True), "Cache-Control": "no-store", "X-Content-Type-Options": "nosniff", **response.headers}
    if response.content_type is not None:
        headers |= {"Content-Type": response.content_type, "Content-Length": str(len(response.body))}
    if not keep_alive:
        headers["Connection"] = "close"
    lines = [f"HTTP/1.1 {response.status.value} {response.status.phrase}", *(f"{name}: {value}" for name, value in headers.items())]
    return "\r\n".join([*lines, "", ""]).encode("latin-1") + (response.body if with_body else b"")
