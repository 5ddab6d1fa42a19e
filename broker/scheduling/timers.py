"""Named, replaceable timers over a clock that is handed in.

The time-outs of groups, transactions and waiting requests are all of this one kind. Setting a key that is set already
replaces its deadline, so a heartbeat that renews a session leaves nothing behind (the idea of Kafka's `CoordinatorTimer`).
"""

from __future__ import annotations

import heapq
import logging
from collections.abc import Callable, Hashable, Iterator
from contextlib import contextmanager
from itertools import count

from ..short_repr import short_repr

log = logging.getLogger("kafka.utils.KafkaScheduler")


class Timers:
    """Deadlines by name. Times are milliseconds since the Unix epoch; `now_ms` is the moment that is being run."""

    def __init__(self, now_ms: int) -> None:
        self.now_ms = now_ms
        self._armed: dict[Hashable, tuple[int, int, Callable[[], None]]] = {}
        self._heap: list[tuple[int, int, Hashable]] = []
        self._order = count()
        self._replaced: dict[Hashable, tuple[int, int, Callable[[], None]] | None] | None = None
        """What `taken_back_on_failure` would set again: key -> how it was set; None: it was not. None: nothing is noted."""

    def __contains__(self, key: Hashable) -> bool:
        return key in self._armed

    def __len__(self) -> int:
        return len(self._armed)

    def set(self, key: Hashable, delay_ms: int, action: Callable[[], None]) -> None:
        """Runs `action` once in `delay_ms`, unless `key` is set again or cancelled before."""
        if self._replaced is not None:
            self._replaced.setdefault(key, self._armed.get(key))
        deadline_ms, order = self.now_ms + delay_ms, next(self._order)
        self._armed[key] = (deadline_ms, order, action)
        heapq.heappush(self._heap, (deadline_ms, order, key))
        # Replaced deadlines stay in the heap until they come up; rebuilding at twice the size keeps that bounded.
        if len(self._heap) > 64 + 2 * len(self._armed):
            self._heap = [(deadline, n, name) for name, (deadline, n, _) in self._armed.items()]
            heapq.heapify(self._heap)

    def cancel(self, key: Hashable) -> None:
        """Forgets `key`; a key that is not set is no error."""
        armed = self._armed.pop(key, None)
        if self._replaced is not None:
            self._replaced.setdefault(key, armed)

    @contextmanager
    def taken_back_on_failure(self) -> Iterator[None]:
        """Takes back what is set and cancelled meanwhile if it ends with an exception. Not to be used within itself."""
        self._replaced = {}
        try:
            yield
        except BaseException:
            self._take_back(self._replaced)
            raise
        finally:
            self._replaced = None

    def _take_back(self, replaced: dict[Hashable, tuple[int, int, Callable[[], None]] | None]) -> None:
        for key, armed in replaced.items():
            if armed is None:
                self._armed.pop(key, None)
            else:
                self._armed[key] = armed
                heapq.heappush(self._heap, (*armed[:2], key))  # it may have gone from the heap when that was rebuilt

    def next_deadline(self) -> int | None:
        """When `advance` has something to do, or None."""
        while self._heap:
            deadline_ms, order, key = self._heap[0]
            armed = self._armed.get(key)
            if armed is not None and armed[1] == order:
                return deadline_ms
            heapq.heappop(self._heap)
        return None

    def advance(self, now_ms: int) -> None:
        """Fires what is due, in order and each at its own moment, then stands at `now_ms`. Time never goes back.

        An action that raises is logged and does not keep the others from being run.
        """
        while (deadline_ms := self.next_deadline()) is not None and deadline_ms <= now_ms:
            _, _, key = heapq.heappop(self._heap)
            self.now_ms = max(self.now_ms, deadline_ms)
            _, _, action = self._armed.pop(key)
            try:
                action()
            except Exception:
                log.exception("the action of the timer %s has failed", short_repr(key))
        self.now_ms = max(self.now_ms, now_ms)
