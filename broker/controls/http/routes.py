"""The routes of the control listener: one for each control, the OpenAPI document, static resources, and reports.

The control `node stop` has the route `POST /node/stop` with its parameters as a JSON object. The control `record list`, which only reads,
has the route `GET /record/list` with its parameters in the query.
"""

from __future__ import annotations

import re
from collections.abc import AsyncGenerator, Callable, Iterable, Mapping
from http import HTTPStatus
from typing import Any, NamedTuple
from urllib.parse import parse_qsl

from ...control_errors import InvalidControl, unknown
from ..cluster_controls import ClusterControls
from ..declaration import CONTROLS, Control
from ..interface.shapes import parse_json, short_json
from ..interface.signatures import bind, bind_texts
from .requests import MAX_SHOWN_CHARACTERS, Request
from .responses import NO_HEADERS, Problem

JSON = "application/json"
MAX_PARAMETERS = 1000
MAX_VALUES = 200_000
"""The most values in a body. Decoding more would stop the event loop for long, because the decoder keeps the interpreter's lock."""
_VALUE_OR_TEXT = re.compile(rb'[,\[{]|"(?:[^"\\]|\\.)*"?', re.DOTALL)


class Document(NamedTuple):
    """A document that a GET returns. A public one is available without a token and to any origin, such as a page for browsers."""

    content_type: str
    render: Callable[[], bytes]
    public: bool = False
    headers: Mapping[str, str] = NO_HEADERS


class Rendered(NamedTuple):
    """A text in pieces, each of which takes at most about a millisecond."""

    status: HTTPStatus
    content_type: str
    pieces: Iterable[str]


class Report(NamedTuple):
    """A text about the present state of the cluster that a GET returns. It is made on the event loop, one piece after the other."""

    render: Callable[[Request], Rendered]
    public: bool = False


class Stream(NamedTuple):
    """A resource that a GET follows. `open` returns the pieces of the body; it raises what controls raise."""

    content_type: str
    open: Callable[[Request, ClusterControls], AsyncGenerator[bytes, None]]
    public: bool = False


Resources = Mapping[str, Document | Report | Stream]


def path_of(control: Control) -> str:
    return "/" + "/".join(control.words)


def resource_of(request: Request, resources: Resources) -> Document | Report | Stream | None:
    """Returns the document, the report or the stream that a request is for, None if it is for something else."""
    return resources.get(request.target.partition("?")[0])


def route(request: Request, resources: Resources) -> Document | Report | Stream | Control:
    """Returns the document, the report, the stream or the control that a request is for.

    Raises Problem for an unknown path, and for another method than that of the path.
    """
    path = request.target.partition("?")[0]
    found = resources.get(path) or CONTROLS.get(tuple(path.removeprefix("/").split("/")))
    if found is None:
        error = unknown("path", "path", path[:MAX_SHOWN_CHARACTERS], [*resources, *map(path_of, CONTROLS.values())])
        raise Problem(HTTPStatus.NOT_FOUND, error.reason)
    reads = not isinstance(found, Control) or found.reads
    allowed = ("GET", "HEAD") if reads else ("POST",)
    if request.method not in allowed:
        raise Problem(HTTPStatus.METHOD_NOT_ALLOWED, f"use {allowed[0]} {path}", {"Allow": ", ".join(allowed)})
    return found


def arguments_of(control: Control, request: Request) -> dict[str, Any]:
    """Returns the arguments for the control that a request is for. Raises InvalidControl, and Problem for a body of another type."""
    query = request.target.partition("?")[2]
    if control.reads:
        if request.body:
            raise Problem(HTTPStatus.BAD_REQUEST, "a GET has no body; write the parameters into the query")
        return bind_texts(control, _pairs(query))
    if query:
        raise Problem(HTTPStatus.BAD_REQUEST, "a POST has no query; write the parameters into the body, as a JSON object")
    media_type = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if media_type != JSON and (request.body or media_type):
        raise Problem(HTTPStatus.UNSUPPORTED_MEDIA_TYPE, f"the body must have Content-Type: {JSON}, not {media_type or 'none'}")
    return bind(control, _json_object(request.body))


def _pairs(query: str) -> list[tuple[str, str]]:
    try:
        return parse_qsl(query, keep_blank_values=True, errors="strict", max_num_fields=MAX_PARAMETERS)
    except ValueError as error:
        raise Problem(HTTPStatus.BAD_REQUEST, f"the query is invalid: {error}") from None


def _json_object(body: bytes) -> dict[str, Any]:
    _check_number_of_values(body)
    try:
        value = parse_json("the body", body or b"{}")
    except InvalidControl as error:
        raise Problem(HTTPStatus.BAD_REQUEST, str(error)) from None
    if not isinstance(value, dict):
        raise Problem(HTTPStatus.BAD_REQUEST, f"the body must be a JSON object, not {short_json(value)}")
    return value


def _check_number_of_values(body: bytes) -> None:
    """Raises Problem if decoding a body would take too long. Separators within texts do not count."""
    if len(body) <= MAX_VALUES:
        return
    values = 0
    for match in _VALUE_OR_TEXT.finditer(body):
        values += body[match.start()] != ord('"')
        if values > MAX_VALUES:
            reason = f"the body has more than {MAX_VALUES} values; send them in several requests"
            raise Problem(HTTPStatus.REQUEST_ENTITY_TOO_LARGE, reason)


def may_be_cancelled(request: Request) -> bool:
    """Returns whether a request may be cancelled: it changes nothing, or its control may stop anywhere."""
    control = CONTROLS.get(tuple(request.target.removeprefix("/").split("/")))
    return request.method in ("GET", "HEAD") or (control is not None and control.may_stop)
