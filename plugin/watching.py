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
    from .failure_report import ClusterReport


_left: WeakKeyDictionary[Cluster, set[int]] = WeakKeyDictionary()
"""The connections of each cluster that tests have left open, and that no other test uses."""


class Watched:
    """A cluster and the state in which the test has found it.

    `since` is the number of the first entry of the test in the record, None if the record is switched off. `begin_ms` is when the test
    began, by the wall clock, and `foreign` are the connections of clients that earlier tests have left open. `report` was made
    before the cluster was stopped, in case the test fails; otherwise it is None. `ends_with_call` says that nothing of the test uses the
    cluster after its call.
    """

    def __init__(self, cluster: Cluster, *, ends_with_call: bool) -> None:
        self.cluster = cluster
        self.ends_with_call = ends_with_call
        self.before = cluster.connections()
        self.since = mark_of(cluster)
        self.begin_ms = time.time() * 1000
        self.foreign = frozenset(_left.get(cluster, ()))
        self.report: ClusterReport | None = None

    def open_connections(self) -> list[ConnectionInfo]:
        """Returns the open connections that the test has open_connections; none if it has stopped the cluster."""
        before = {each.connection for each in self.before}
        try:
            return [each for each in self.cluster.connections() if each.connection not in before]
        except ValueError:
            return []

    def leave(self, connections: Iterable[ConnectionInfo]) -> None:
        """Excludes connections that the test leaves open from the reports of later tests."""
        _left.setdefault(self.cluster, set()).update(each.connection for each in connections)


Told = Callable[[Watched], None]


def _nothing(watched: Watched) -> None:
    pass


class Watch:
    """The clusters of one test, in the order in which the test got them.

    `on_add`, `on_begin`, `on_end` and `on_stop` are called with a cluster: when it is added, when only fixtures of the test's own scope use
    it from then on, when nothing of the test uses it any more, and before it is stopped. `failed` is set once a phase of the test has
    failed. `sets_up_others` is set if a fixture of a wider scope that uses a cluster was set up during the test.
    """

    def __init__(
        self, test: str = "", on_add: Told = _nothing, on_end: Told = _nothing, on_stop: Told = _nothing, on_begin: Told = _nothing
    ) -> None:
        self.test = test
        self.clusters: list[Watched] = []
        self.failed = False
        self.sets_up_others = False
        self._on_add, self._on_begin, self._on_end, self._on_stop = on_add, on_begin, on_end, on_stop

    def add(self, cluster: Cluster, *, ends_with_call: bool = False) -> Watched:
        """Returns the watched cluster, which is added if the test does not have it yet."""
        for each in self.clusters:
            if each.cluster is cluster:
                return each
        added = Watched(cluster, ends_with_call=ends_with_call)
        self.clusters.append(added)
        self._on_add(added)
        return added

    def announce_begin(self, cluster: Cluster) -> None:
        """Calls `on_begin`, because all fixtures of wider scopes that use a cluster have been set up."""
        self._tell(cluster, self._on_begin)

    def announce_end(self, cluster: Cluster) -> None:
        """Calls `on_end`, because nothing of the test uses a cluster any more."""
        self._tell(cluster, self._on_end)

    def announce_stop(self, cluster: Cluster) -> None:
        """Calls `on_stop`, because a cluster is about to be stopped."""
        self._tell(cluster, self._on_stop)

    def _tell(self, cluster: Cluster, told: Told) -> None:
        for each in self.clusters:
            if each.cluster is cluster:
                told(each)


_running: list[Watch] = []
"""The watch of the running test. There are several while a test runs pytest itself."""


def watch() -> Watch:
    """Returns the watch of the running test. Without a test that pytest runs, it is a new one, which nobody reads."""
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
