"""Named timers over an injected clock, for the time-outs of groups, transactions, connections and waiting requests.

Setting a timer whose key is already set replaces its deadline, as in Kafka's CoordinatorTimer. So a heartbeat that renews a session is one
`set`, without a cancellation. The replaced entry stays in the heap until its deadline and is then ignored.

The clock only moves when `advance` is called, so tests control the time and never sleep.

A task that looks at intervals whether something is due, such as retention, is a `Check`. When the time moves over several of its deadlines,
those at which it would find nothing are left out, so that the cost of a move depends on what happens in it, not on its length.
"""

from __future__ import annotations

import heapq
import logging
from collections.abc import Callable, Hashable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import count
from math import ceil, inf

from ..short_repr import short_repr

log = logging.getLogger("kafka.utils.KafkaScheduler")


@dataclass(frozen=True, slots=True, eq=False)
class Check:
    """The action of a timer that looks at intervals whether something is due, and sets the timer again itself.

    `due_ms` returns the time from which `run` will find something if nothing else happens before, `inf` if it will not. A time that is too
    early costs a superfluous run. Calling it changes nothing. `interval_ms` returns the time between two runs.
    """

    run: Callable[[], None]
    interval_ms: Callable[[], int]
    due_ms: Callable[[], float]

    def __call__(self) -> None:
        self.run()


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
        self._postponed: dict[Hashable, tuple[int, Check]] = {}
        """The first deadline that was left out of each check whose timer `next_event` has postponed."""
        self._due_order = -1  # of the timer that `next_event` has returned last, which need not be asked again

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

    def next_event(self, until_ms: float) -> int | None:
        """Returns the next deadline up to `until_ms` at which something may happen, None if there is none.

        Checks that would find nothing are postponed until `resume_checks` is called, which must be done before anything else happens.
        """
        while (deadline_ms := self.next_deadline()) is not None and deadline_ms <= until_ms:
            _, order, key = self._heap[0]
            check = self._armed[key][2]
            if not isinstance(check, Check) or order == self._due_order or (due_ms := check.due_ms()) <= deadline_ms:
                self._due_order = order
                return deadline_ms
            self._postponed.setdefault(key, (deadline_ms, check))
            self._set_check(key, deadline_ms, check, min(due_ms, until_ms + 1))
        return None

    def resume_checks(self) -> None:
        """Sets the timers of postponed checks to the first of their intervals after `now_ms`."""
        postponed, self._postponed = self._postponed, {}
        for key, (deadline_ms, check) in postponed.items():
            armed = self._armed.get(key)
            if armed is not None and armed[2] is check:
                self._set_check(key, deadline_ms, check, self.now_ms + 1)

    def _set_check(self, key: Hashable, deadline_ms: int, check: Check, from_ms: float) -> None:
        """Sets a check to its first deadline from `from_ms` on, where `deadline_ms` is one of its deadlines."""
        interval_ms = max(1, check.interval_ms())
        intervals = max(0, ceil((from_ms - deadline_ms) / interval_ms))
        self.set(key, deadline_ms + intervals * interval_ms - self.now_ms, check)

    def advance(self, now_ms: int) -> None:
        """Runs the actions that are due in the order of their deadlines, each with `now_ms` at its deadline, then sets `now_ms`.

        Time never goes back. An exception raised by an action is logged, and the other actions are still run.
        """
        while (deadline_ms := self.next_event(now_ms)) is not None:
            self._run_next(deadline_ms)
            self.resume_checks()
        self.now_ms = max(self.now_ms, now_ms)
        self.resume_checks()

    def _run_next(self, deadline_ms: int) -> None:
        _, _, key = heapq.heappop(self._heap)
        self.now_ms = max(self.now_ms, deadline_ms)
        _, _, action = self._armed.pop(key)
        try:
            action()
        except Exception:
            log.exception("the action of timer %s failed", short_repr(key))
