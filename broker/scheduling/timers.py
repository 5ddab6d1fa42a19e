"""Named timers over an injected clock, for the time-outs of groups, transactions, connections and waiting requests.

Setting a timer whose key is already set replaces its deadline, as in Kafka's CoordinatorTimer. So a heartbeat that renews a session is one
`set`, without a cancellation. The replaced entry stays in the heap until its deadline and is then ignored.

The clock only moves when `advance` is called, so tests control the time and never sleep.
"""

from __future__ import annotations

import heapq
import logging
from collections.abc import Callable, Hashable, Iterator
from contextlib import contextmanager
from itertools import count
from math import inf

from ..short_repr import short_repr

log = logging.getLogger("kafka.utils.KafkaScheduler")


class Timers:
    """Actions with deadlines, by key. Times are milliseconds since the Unix epoch; `now_ms` is the current time.

    No timer is due before `earliest_ms`. It is the next deadline, or an earlier time if the next timer was cancelled or replaced.
    """

    def __init__(self, now_ms: int) -> None:
        self.now_ms = now_ms
        self.earliest_ms: float = inf
        self._armed: dict[Hashable, tuple[int, int, Callable[[], None]]] = {}
        self._heap: list[tuple[int, int, Hashable]] = []
        self._order = count()
        self._replaced: dict[Hashable, tuple[int, int, Callable[[], None]] | None] | None = None
        """During `reverted_on_failure`: the former entry (None: not set) of each key that was changed. None at other times."""

    def __contains__(self, key: Hashable) -> bool:
        return key in self._armed

    def __len__(self) -> int:
        return len(self._armed)

    def remaining(self) -> list[tuple[Hashable, int]]:
        """Returns the key of each timer and the time (ms) until its deadline, in the order in which the timers will fire."""
        entries = sorted((deadline_ms, order, key) for key, (deadline_ms, order, _) in self._armed.items())
        return [(key, deadline_ms - self.now_ms) for deadline_ms, _, key in entries]

    def set(self, key: Hashable, delay_ms: int, action: Callable[[], None]) -> None:
        """Runs `action` once after `delay_ms`, unless `key` is set again or cancelled before that."""
        if self._replaced is not None:
            self._replaced.setdefault(key, self._armed.get(key))
        deadline_ms, order = self.now_ms + delay_ms, next(self._order)
        if deadline_ms < self.earliest_ms:
            self.earliest_ms = deadline_ms
        self._armed[key] = (deadline_ms, order, action)
        heapq.heappush(self._heap, (deadline_ms, order, key))
        # Replaced entries stay in the heap until their deadline. Rebuilding it at twice the needed size keeps its size bounded.
        if len(self._heap) > 64 + 2 * len(self._armed):
            self._heap = [(deadline, n, name) for name, (deadline, n, _) in self._armed.items()]
            heapq.heapify(self._heap)

    def cancel(self, key: Hashable) -> None:
        """Cancels the timer `key` if it is set."""
        armed = self._armed.pop(key, None)
        if self._replaced is not None:
            self._replaced.setdefault(key, armed)

    @contextmanager
    def reverted_on_failure(self) -> Iterator[None]:
        """Reverts all `set` and `cancel` calls in the body of the `with` if it raises. It cannot be nested."""
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
                heapq.heappush(self._heap, (*armed[:2], key))  # the heap may have been rebuilt without it
                self.earliest_ms = min(self.earliest_ms, armed[0])

    def next_deadline(self) -> int | None:
        """Returns the earliest deadline, None if no timer is set."""
        while self._heap:
            deadline_ms, order, key = self._heap[0]
            armed = self._armed.get(key)
            if armed is not None and armed[1] == order:
                self.earliest_ms = deadline_ms
                return deadline_ms
            heapq.heappop(self._heap)
        self.earliest_ms = inf
        return None

    def advance(self, now_ms: int) -> None:
        """Runs the actions that are due in the order of their deadlines, each with `now_ms` at its deadline, then sets `now_ms`.

        Time never goes back. An exception raised by an action is logged, and the other actions are still run.
        """
        while (deadline_ms := self.next_deadline()) is not None and deadline_ms <= now_ms:
            _, _, key = heapq.heappop(self._heap)
            self.now_ms = max(self.now_ms, deadline_ms)
            _, _, action = self._armed.pop(key)
            try:
                action()
            except Exception:
                log.exception("the action of timer %s failed", short_repr(key))
        self.now_ms = max(self.now_ms, now_ms)
