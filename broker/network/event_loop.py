"""The event loop of a cluster: uvloop's if it is installed, otherwise asyncio's."""

from __future__ import annotations

import asyncio
import os
from types import ModuleType
from typing import cast

uvloop: ModuleType | None
try:
    import uvloop
except ImportError:  # on Windows, or without the extra; asyncio works too, but is slower
    uvloop = None


def new_event_loop() -> asyncio.AbstractEventLoop:
    """Returns a uvloop event loop if uvloop is installed, unless ODRADEK_LOOP=asyncio is set, and otherwise one of asyncio."""
    if uvloop is None or os.environ.get("ODRADEK_LOOP") == "asyncio":
        # The default loop of Windows reads ahead, which would overwrite the buffer that the connections share.
        return asyncio.SelectorEventLoop()
    return cast(asyncio.AbstractEventLoop, uvloop.new_event_loop())
