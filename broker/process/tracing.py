"""`odradek serve --trace`: prints the entries of the record to standard output as they become complete.

A thread writes, because a pipe or terminal that is not read blocks the writer. The event loop prepares no more text until the last one is
written, so that a slow reader costs no memory; entries that the record drops meanwhile are counted in the output.
"""

from __future__ import annotations

import asyncio
import os
import sys
import threading
from collections.abc import Callable
from contextlib import suppress
from queue import SimpleQueue
from typing import TYPE_CHECKING

from ..scheduling.turns import TurnTime
from ..wire.exchange import Entry
from ..wire.feed import Feed, show_selected
from ..wire.filters import Filter
from ..wire.lines import printing_of
from .terminal import has_colours

if TYPE_CHECKING:
    from ..network.server import Server

POLL_S = 0.05
PIECE_CHARACTERS = 32 * 1024
LAST_PIECE_S = 1.0


class Tracer:
    """Prints the entries that a filter selects. `write` takes a text and may block; it raises OSError if nobody can read any more."""

    def __init__(self, selects: Filter, *, verbose: bool, as_json: bool, write: Callable[[str], object] | None = None) -> None:
        self._selects = selects
        self._style = printing_of(verbose=verbose, as_json=as_json, colours=write is None and has_colours(sys.stdout, os.environ))
        self._write = write or _print
        self._reader_has_gone = False
        self._texts: SimpleQueue[tuple[str, Callable[[], None]]] = SimpleQueue()

    def start(self, server: Server) -> None:
        """Begins with the next entry of the record. Raises ValueError if the record is switched off."""
        record = server.core.record
        if record is None:
            raise ValueError("there is no record of exchanges to print")
        self._feed: Feed[Entry] = Feed(record, record.next_sequence, show_selected(record, self._selects))
        self._loop = asyncio.get_running_loop()
        threading.Thread(target=self._run, name="odradek-trace", daemon=True).start()
        self._task = self._loop.create_task(self._follow())

    async def stop(self) -> None:
        """Prints what is complete, unless the reader is too slow, and ends."""
        self._task.cancel()
        with suppress(asyncio.CancelledError):
            await self._task
        with suppress(TimeoutError):
            await asyncio.wait_for(self._print_complete(), LAST_PIECE_S)

    async def _follow(self) -> None:
        while not self._reader_has_gone:
            await self._print_complete()
            await asyncio.sleep(POLL_S)

    async def _print_complete(self) -> None:
        if missed := self._feed.take_missed():
            await self._write_text(self._style.omission(missed) + "\n")
        lines: list[str] = []
        size, turn = 0, TurnTime(self._loop.time)
        for entry in self._feed.take():
            if entry is not None:
                lines.append(self._style.of(entry) + "\n")
                size += len(lines[-1])
            if size >= PIECE_CHARACTERS:
                await self._write_text("".join(lines))
                lines, size = [], 0
            if turn.is_over:
                await turn.begin_next()
        if lines:
            await self._write_text("".join(lines))

    async def _write_text(self, text: str) -> None:
        if self._reader_has_gone:
            return
        written = self._loop.create_future()

        def report() -> None:
            if not written.done():
                written.set_result(None)

        self._texts.put((text, report))
        await written

    def _run(self) -> None:
        """Writes the texts in a thread. Once the reader has gone, no more texts arrive."""
        while True:
            text, report = self._texts.get()
            try:
                self._write(text)
            except OSError:
                self._reader_has_gone = True
            with suppress(RuntimeError):  # the loop has ended
                self._loop.call_soon_threadsafe(report)


def _print(text: str) -> None:
    sys.stdout.write(text)
    sys.stdout.flush()
