"""`odradek serve --exit-with-parent`: the cluster ends when the process that has started it ends, however that happens.

The parent holds the other end of the pipe that is the standard input, and the system closes it even if the parent gets SIGKILL. A thread
reads, because an event loop can watch neither files nor the null device.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable
from contextlib import suppress

STANDARD_INPUT = 0
READ_BYTES = 4096


def end_with_parent(end: Callable[[], object]) -> None:
    """Calls `end`, in a thread, when the standard input has ended. Bytes that the parent writes to it are read and ignored."""
    threading.Thread(target=_read_to_the_end, args=(end,), name="odradek-parent", daemon=True).start()


def _read_to_the_end(end: Callable[[], object]) -> None:
    with suppress(OSError):  # of a standard input that was closed before the start
        while os.read(STANDARD_INPUT, READ_BYTES):
            pass
    end()
