"""Exchanges that were not received."""

from __future__ import annotations

from typing import Any

from odradek.broker.wire.exchange import Exchange, Frame, Moment, client_id_of
from odradek.protocol.frame import encode_request, encode_response
from odradek.protocol.schema import Api, Message

THEN = Moment(1000.0, 2000.0)


def frame_of(parts: list[Any], head_bytes: int = 4096) -> Frame:
    data = b"".join(parts)[4:]
    return Frame(data[:head_bytes], len(data))


def exchange(
    api: Api, version: int, request: Message, response: Message | None = None, *, head_bytes: int = 4096, **values: Any
) -> Exchange:
    """Returns an exchange with the correlation id 7 of the client "app"."""
    answer = None if response is None else frame_of(encode_response(api, version, 7, response), head_bytes)
    return an_exchange(frame_of(encode_request(api, version, 7, "app", request), head_bytes), answer, **values)


def an_exchange(request: Frame, response: Frame | None = None, **values: Any) -> Exchange:
    fixed: dict[str, Any] = {
        "sequence": 1,
        "node": 1,
        "listener": "PLAINTEXT",
        "connection": 1,
        "peer": "127.0.0.1:50000",
        "client_id": client_id_of(request),
        "software": "",
        "principal": "User:ANONYMOUS",
        "received": THEN,
        "answered": THEN,
        "written": THEN,
    }
    return Exchange(**(fixed | values), request_frame=request, response_frame=response)
