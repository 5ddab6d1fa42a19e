"""The trace of a run: what happened on the network, with its virtual time, as one digest."""

from __future__ import annotations

from collections.abc import Callable
from hashlib import sha256


class Trace:
    """Adds up what happens. Two runs are equal if their digests are."""

    def __init__(self, clock: Callable[[], float]) -> None:
        self._clock = clock
        self._digest = sha256()
        self.events = 0

    def add(self, what: str, data: bytes = b"") -> None:
        """Adds an event, with the bytes of a segment."""
        self.events += 1
        self._digest.update(f"{self._clock():.9f} {what} {len(data)}\n".encode())
        self._digest.update(data)

    @property
    def digest(self) -> str:
        """The digest in hexadecimal form."""
        return self._digest.hexdigest()
