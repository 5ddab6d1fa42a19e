"""Writes a capture of all connections to a pcapng file or to a pipe, in a thread of its own.

The event loop only queues what happened, and the bytes. The thread finds the frames, removes secrets and writes. If it is too slow, at most
QUEUE_BYTES are kept; further bytes are left out until the connection that they belong to is at rest, and the packet after the gap has a
comment. If writing fails, for example because the disk is full, the capture ends with one log entry, and the brokers continue.

A capture that is rotated consists of the file, which is the newest part, and the part before it: `orders.pcapng`, `orders.1.pcapng`.
"""

from __future__ import annotations

import logging
import os
import threading
from collections.abc import Callable
from pathlib import Path
from queue import SimpleQueue

from ...protocol.regular_files import check_regular, open_to_write
from ..logs import write_all
from ..wire.capture_options import PIPE, CaptureOptions
from ..wire.captured_connection import Section

QUEUE_BYTES = 32 * 1024 * 1024
BATCH_BYTES = 256 * 1024
"""The bytes that are written at once, by which a file may become larger than its limit."""
ENTRY_BYTES = 256
"""The size that an entry of the queue counts in addition to its bytes."""
CLOSE_S = 5.0
"""The longest time for which closing waits until everything is written, because the reader of a pipe may not read."""
Action = Callable[[], None]
"""A function that adds what happened to the section."""

log = logging.getLogger("odradek.capture")


class CaptureWriter:
    """A capture that is being written from its creation on. Raises OSError if the file cannot be opened."""

    def __init__(self, options: CaptureOptions) -> None:
        self.options = options
        self._descriptor = _open(options)
        self.section = Section("odradek")
        self.written_bytes = 0
        """The bytes that have been written to all files."""
        self._file_bytes = 0
        self._queue: SimpleQueue[tuple[int, Action | None]] = SimpleQueue()
        # Each of these counters is changed by one thread, so that no lock is needed.
        self._put_bytes = self._done_bytes = 0
        self.ended = False
        """Whether nothing more is written, because the capture was closed or writing has failed."""
        self.error: str | None = None
        """The reason for which writing has failed, None if it has not."""
        self._thread = threading.Thread(target=self._run, name="odradek-capture", daemon=True)
        self._thread.start()

    def has_room(self) -> bool:
        """Returns whether more can be queued."""
        return self._put_bytes - self._done_bytes < QUEUE_BYTES

    def put(self, size: int, action: Action) -> None:
        """Queues an action that refers to `size` bytes."""
        self._put_bytes += ENTRY_BYTES + size
        self._queue.put((ENTRY_BYTES + size, action))

    def close(self) -> None:
        """Writes what is queued and closes the file. Takes at most CLOSE_S."""
        self._queue.put((0, None))
        self._thread.join(CLOSE_S)
        self.ended = True

    def _run(self) -> None:
        try:
            self._write()
            while self._write_batch():
                pass
        except OSError as error:
            self.error = error.strerror or str(error)
            log.error("the capture %s has ended: %s; the brokers continue", self.options.file, self.error)
        except Exception as error:
            self.error = repr(error)
            log.exception("the capture %s has ended because of an internal error; the brokers continue", self.options.file)
        self.ended = True
        os.close(self._descriptor)

    def _write_batch(self) -> bool:
        """Writes what is queued, at least one entry. Returns False if the capture was closed."""
        size, action = self._queue.get()
        total = size
        while action is not None:
            action()
            if total >= BATCH_BYTES or self._queue.empty():
                break
            size, action = self._queue.get()
            total += size
        self._write()
        self._done_bytes += total
        return action is not None

    def _write(self) -> None:
        blocks, self.section.blocks = self.section.blocks, []
        data = b"".join(blocks)
        write_all(self._descriptor, data)
        self._file_bytes += len(data)
        self.written_bytes += len(data)
        if self.options.max_bytes is not None and self._file_bytes >= self.options.max_bytes:
            self._rotate()

    def _rotate(self) -> None:
        path = Path(self.options.file)
        before = path.with_suffix(f".1{path.suffix}")
        check_regular(before)
        path.replace(before)
        os.close(self._descriptor)
        self._descriptor = _open(self.options)
        self._file_bytes = 0
        self.section.restart()
        self._write()


def _open(options: CaptureOptions) -> int:
    """Returns a descriptor of the file or of standard output. Raises OSError if the file cannot be opened or is not regular."""
    return os.dup(1) if options.file == PIPE else open_to_write(options.file)
