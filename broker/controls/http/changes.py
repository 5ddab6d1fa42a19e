"""`GET /changes/stream`: an event whenever the cluster may have changed, after which the page reads its view again.

An event says only that there was a turn of the event loop in which something could change. A comment is sent while there is none, so that
the end of the connection is noticed.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator

from ..cluster_controls import ClusterControls
from .requests import Request

CHANGES_PATH = "/changes/stream"
CHANGE = b"event: change\ndata: {}\n\n"
KEEP_ALIVE = b":\n\n"
PAUSE_S = 0.25
"""Changes within this time are one event, because a busy cluster changes thousands of times in a second."""
KEEP_ALIVE_S = 15.0


async def changes(request: Request, controls: ClusterControls) -> AsyncGenerator[bytes, None]:
    """Yields an event at once, and then one for each change, at most four in a second."""
    while True:
        changed = controls._server.driver.next_change()
        yield CHANGE
        await asyncio.sleep(PAUSE_S)
        while not changed.done():
            await asyncio.wait([changed], timeout=KEEP_ALIVE_S)
            if not changed.done():
                yield KEEP_ALIVE
