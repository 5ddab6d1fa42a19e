"""The clusters that the running test uses, with the point at which the test began on each of them.

Fixtures and the mix-in add clusters to the `Watch` of the running test, if pytest runs one with the plugin. The report of a failed test,
the files that it leaves, its time-out and the connections that it leaves open are made from the watch.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING
from weakref import WeakKeyDictionary

if TYPE_CHECKING:
    from .. import Cluster
    from ..broker.controls.connections import ConnectionInfo
    from .failure_report import Report


_left: WeakKeyDictionary[Cluster, set[int]] = WeakKeyDictionary()
"""The connections of each cluster that tests have left open which no other test uses."""


class Watched:
    """A cluster and the state in which the test has found it.

    `since` is the number of the first entry of the test in the record, None if the record is switched off. `begin_ms` is when the test
    began, by the wall clock, and `foreign` are the connections of clients that earlier tests have left open. `report` is the report for the
    case that the test fails, if it was made before the cluster was stopped. `ends_with_call` says that nothing of the test uses the cluster
    after its call.
    """

    def __init__(self, cluster: Cluster, *, ends_with_call: bool) -> None:
        self.cluster = cluster
        self.ends_with_call = ends_with_call
        self.before = cluster.connections()
        self.since = mark_of(cluster)
        self.begin_ms = time.time() * 1000
        self.foreign = frozenset(_left.get(cluster, ()))
        self.report: Report | None = None

    def opened(self) -> list[ConnectionInfo]:
        """Returns the open connections that the test has opened; none if it has stopped the cluster."""
        before = {each.connection for each in self.before}
        try:
            return [each for each in self.cluster.connections() if each.connection not in before]
        except ValueError:
            return []

    def leave(self, connections: Iterable[ConnectionInfo]) -> None:
        """Makes connections foreign to later tests."""
        _left.setdefault(self.cluster, set()).update(each.connection for each in connections)


Told = Callable[[Watched], None]


def _nothing(watched: Watched) -> None:
    pass


class Watch:
    """The clusters of one test, in the order in which the test got them.

    `on_add`, `on_end` and `on_stop` are called with a cluster: when it is added, when nothing of the test uses it any more, and before it
    is stopped. `failed` is set once a phase of the test has failed. `sets_up_others` is set if a fixture of a wider scope that uses one
    was set up during the test.
    """

    def __init__(self, test: str = "", on_add: Told = _nothing, on_end: Told = _nothing, on_stop: Told = _nothing) -> None:
        self.test = test
        self.clusters: list[Watched] = []
        self.failed = False
        self.sets_up_others = False
        self._on_add, self._on_end, self._on_stop = on_add, on_end, on_stop

    def add(self, cluster: Cluster, *, ends_with_call: bool = False) -> Watched:
        """Returns the watched cluster, which is added if the test does not have it yet."""
        for each in self.clusters:
            if each.cluster is cluster:
                return each
        added = Watched(cluster, ends_with_call=ends_with_call)
        self.clusters.append(added)
        self._on_add(added)
        return added

    def ending(self, cluster: Cluster) -> None:
        """Tells that nothing of the test uses a cluster any more."""
        self._tell(cluster, self._on_end)

    def stopping(self, cluster: Cluster) -> None:
        """Tells that a cluster is about to be stopped."""
        self._tell(cluster, self._on_stop)

    def _tell(self, cluster: Cluster, told: Told) -> None:
        for each in self.clusters:
            if each.cluster is cluster:
                told(each)


_running: list[Watch] = []
"""The watch of the running test. There are several while a test runs pytest itself."""


def watch() -> Watch:
    """Returns the watch of the running test; outside of tests that pytest runs, one that nobody reads."""
    return _running[-1] if _running else Watch()


@contextmanager
def watching(watch: Watch) -> Iterator[None]:
    """Makes a watch the one of the running test, until the end of the block."""
    _running.append(watch)
    try:
        yield
    finally:
        _running.pop()


def mark_of(cluster: Cluster) -> int | None:
    """Returns the number of the next entry in the record of a cluster, None if the record is switched off."""
    try:
        return cluster.wire.mark()
    except RuntimeError:
        return None
