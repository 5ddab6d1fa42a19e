"""Answers one request: finds what it is for, converts its arguments, carries out the control, and encodes the result.

Large bodies are decoded and documents rendered in a thread, and long results and reports are written in slices, so that no turn of the
event loop is long.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Iterable, Iterator
from http import HTTPStatus
from itertools import chain

from ...control_errors import ControlError
from ..cluster_controls import ClusterControls
from ..declaration import Control
from ..interface.results import json_pieces
from ..interface.signatures import result_of
from ..waiting import in_turns
from .requests import Request
from .responses import Problem, Response, Streaming, problem_of, response_of
from .routes import JSON, Document, Report, Resources, Stream, arguments_of, route

log = logging.getLogger("odradek.control")

LARGE_BODY_BYTES = 64 * 1024


async def answer(request: Request, controls: ClusterControls, resources: Resources) -> Response | Streaming:
    """Returns the response to a request. An internal error is logged, and its details stay in the log."""
    try:
        found = route(request, resources)
        if isinstance(found, Document):
            return Response(HTTPStatus.OK, found.content_type, await asyncio.to_thread(found.render), found.headers)
        if isinstance(found, Report):
            status, content_type, pieces = found.render(request)
            return Response(status, content_type, await _join(pieces))
        if isinstance(found, Stream):
            return Streaming(found.content_type, found.open(request, controls))
        return await _carry_out(found, request, controls)
    except Problem as problem:
        return response_of(problem)
    except ControlError as error:
        return response_of(problem_of(error))
    except Exception:
        log.exception("an internal error while answering %s", request)
        return response_of(Problem(HTTPStatus.INTERNAL_SERVER_ERROR, "an internal error, which the log of the cluster describes"))


async def _carry_out(control: Control, request: Request, controls: ClusterControls) -> Response:
    large = len(request.body) > LARGE_BODY_BYTES
    arguments = await asyncio.to_thread(arguments_of, control, request) if large else arguments_of(control, request)
    owner = getattr(controls, control.owner) if control.owner else controls
    result = await control.method(owner, **arguments)
    if result is None and result_of(control) is type(None):
        return Response(HTTPStatus.NO_CONTENT)
    return Response(HTTPStatus.OK, JSON, await _join(chain(json_pieces(result), ["\n"])))


async def _join(pieces: Iterable[str]) -> bytearray:
    """Returns the pieces as one text in UTF-8. Other work gets turns in between."""
    joined = bytearray()

    def lengths() -> Iterator[int]:
        for piece in pieces:
            joined.extend(piece.encode())
            yield len(joined)

    await in_turns(lengths())
    return joined
