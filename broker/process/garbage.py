"""When a process that serves a cluster collects cyclic garbage. CPython's collector stops all requests while it runs.

Requests leave no cyclic garbage, and what a deleted topic or group leaves is small. CPython's thresholds fit programs that leave more of
it: during a Fetch of 10,000 partitions they visit each new object several times, and a full collection of 5,000 topics takes 0.1 s.
Therefore

* nothing is collected during the start, and what exists at its end is frozen, so that no collection visits it;
* young objects are collected YOUNG_OBJECTS at a time, which takes about 2 ms, and nothing starts a collection of old objects by itself;
* once a second, `OldObjects` looks whether there are old objects to collect. While the event loop is at rest, it collects among all
  objects, unless there are more than MAX_OBJECTS_AT_REST, because the next request may come at any moment. Of more objects, and under
  load after MAX_COLLECTIONS of the middle generation, it collects among those that have become old since, and freezes the rest, so that the
  next collection does not visit them again. When the frozen objects have doubled, it visits all once more. Garbage is therefore bounded by
  the number of live objects.

A cluster that a program embeds leaves the collector as it is, because collections concern all objects of that program.
"""

from __future__ import annotations

import gc
from collections.abc import Callable, Iterator
from contextlib import contextmanager

YOUNG_OBJECTS, YOUNG_COLLECTIONS = 20_000, 1
"""Thresholds of the first two generations: how many new objects start a collection, and how many of these one of the middle generation."""
NEVER = 2**31 - 1
MAX_COLLECTIONS = 20
MAX_OBJECTS_AT_REST = 100_000
"""About those of 3,000 topics; visiting them takes 10 to 20 ms."""
LOOK_S, REST_S = 1.0, 0.05


@contextmanager
def no_collection() -> Iterator[None]:
    """Collects nothing in the body of the `with` until it calls `begin_serving`. Afterwards, the thresholds are as they were before."""
    thresholds = gc.get_threshold()
    gc.disable()
    try:
        yield
    finally:
        gc.set_threshold(*thresholds)
        gc.enable()


def begin_serving() -> None:
    """Freezes the objects that exist now, because they stay, and begins to collect young objects."""
    gc.freeze()
    gc.set_threshold(YOUNG_OBJECTS, YOUNG_COLLECTIONS, NEVER)
    gc.enable()


class OldObjects:
    """Decides once a second which old objects are collected. `rest_s` returns for how long the event loop has been at rest."""

    def __init__(self, rest_s: Callable[[], float]) -> None:
        self._rest_s = rest_s
        self._frozen = gc.get_freeze_count()

    def look(self) -> None:
        """Collects among all objects, among those that have become old since the last time, or not at all (see above)."""
        _, _, collections = gc.get_count()
        if not collections:
            return
        rests = self._rest_s() >= REST_S
        if rests and gc.get_freeze_count() <= MAX_OBJECTS_AT_REST:
            self._collect_all()
        elif rests or collections >= MAX_COLLECTIONS:
            gc.collect()
            gc.freeze()
            if gc.get_freeze_count() > 2 * self._frozen:
                self._collect_all()

    def _collect_all(self) -> None:
        gc.unfreeze()
        gc.collect()
        gc.freeze()
        self._frozen = gc.get_freeze_count()
