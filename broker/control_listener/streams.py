"""Streams of server-sent events: responses that end when their client closes the connection.

A stream is an asynchronous iterator of events. It is asked for the next one only after the client has read enough of the former ones, so
that a client that does not read costs no memory. A comment is sent while there are no events, because writing reveals a lost connection.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator, Callable
from typing import NamedTuple

from ..controls.cluster_controls import ClusterControls
from .requests import Request

EVENT_STREAM = "text/event-stream"
KEEP_ALIVE_S = 15.0
KEEP_ALIVE = b": no events\n\n"
CHANGES_PATH = "/changes/stream"
CHANGES_PAUSE_S = 0.25
"""Changes within this time are one event, because a busy cluster changes thousands of times in a second."""


class Stream(NamedTuple):
    """A resource that is a stream. `events` returns the encoded events for a request, and raises Problem for an invalid one."""

    events: Callable[[Request, ClusterControls], AsyncIterator[bytes]]


def event(kind: str, data: str) -> bytes:
    """Returns an encoded event. `data` is one line."""
    return f"event: {kind}\ndata: {data}\n\n".encode()


async def changes(request: Request, controls: ClusterControls) -> AsyncIterator[bytes]:
    """Yields an event at once, and then one whenever the cluster may have changed, at most four in a second."""
    while True:
        changed = controls._server.next_change()
        yield event("change", "{}")
        await asyncio.sleep(CHANGES_PAUSE_S)
        await changed


async def with_keep_alives(events: AsyncIterator[bytes]) -> AsyncGenerator[bytes, None]:
    """Yields the events, and a comment for each time without one."""
    following = asyncio.ensure_future(anext(events))
    try:
        while True:
            done, _ = await asyncio.wait([following], timeout=KEEP_ALIVE_S)
            if not done:
                yield KEEP_ALIVE
                continue
            try:
                yield following.result()
            except StopAsyncIteration:
                return
            following = asyncio.ensure_future(anext(events))
    finally:
        following.cancel()
