"""The texts of entries for several readers that follow a record with the same options: each is rendered once, as long as it is remembered.

Decoding and rendering an entry takes much longer than sending its text. The latest texts are remembered, because readers are usually at
about the same place; one that is far behind renders again.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Final

from .exchange import Entry
from .filters import Filter
from .record import Record
from .recording import Kept, count_of

REMEMBERED_BYTES = 1 << 20
UNSELECTED_BYTES = 100
"""The size that is assumed for an entry that is not selected, of which only the number is remembered, and for the number of any other."""
_UNKNOWN: Final = b""


class SharedTexts:
    """Shows entries to a `Feed` as texts that `render` returns, which are never empty."""

    def __init__(self, record: Record, selects: Filter, render: Callable[[Entry], bytes]) -> None:
        self._record, self._selects, self._render = record, selects, render
        self._texts: dict[int, bytes | None] = {}
        self._bytes = 0

    def __call__(self, sequence: int, kept: Kept) -> Iterator[tuple[int, bytes | None]]:
        """Yields the number and the text of each entry of `kept`, None for one that is not selected."""
        entries: Iterator[Entry] | None = None
        for number in range(sequence, sequence + count_of(kept)):
            entry = next(entries) if entries is not None else None
            text = self._texts.get(number, _UNKNOWN)
            if text is _UNKNOWN:
                if entry is None:
                    entries = self._record.resolve(sequence, kept)
                    entry = next(each for each in entries if each.sequence == number)
                text = self._remembered(number, self._render(entry) if self._selects(entry) else None)
            yield number, text

    def _remembered(self, number: int, text: bytes | None) -> bytes | None:
        self._texts[number] = text
        self._bytes += _size(text)
        while self._bytes > REMEMBERED_BYTES:
            oldest = next(iter(self._texts))
            self._bytes -= _size(self._texts.pop(oldest))
        return text


def _size(text: bytes | None) -> int:
    return UNSELECTED_BYTES if text is None else UNSELECTED_BYTES + len(text)
