"""Clusters that tests share: those of `kafka_clusters`, and what happens to a shared cluster that a test stops.

The mark declares further clusters of a test by name: `@pytest.mark.kafka(name="mirror", nodes=1)`. A cluster is started when a test asks
for it, and tests that declare a name with the same options share the cluster. If the next test declares other options, a new one takes its
place.

A test that stops a shared cluster gets a warning, and a new cluster is started before the next test that uses it. The fixtures that depend
on the cluster are set up again too, because they may hold its addresses or clients.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import ExitStack
from typing import TYPE_CHECKING

import pytest

from .options import ClusterOptions
from .watching import watch

if TYPE_CHECKING:
    from .. import AsyncCluster, Cluster


class KafkaClusterStoppedWarning(pytest.PytestWarning):
    """A test has stopped a cluster that it shares with other tests."""


def warn_if_stopped(cluster: Cluster, item: pytest.Item, what: str) -> None:
    """Warns if a test has stopped a cluster that other tests use too. `what` names the cluster."""
    if not cluster.is_running:
        advice = "the next test that uses it gets a new one; to stop a cluster, take one from make_kafka_cluster"
        item.warn(KafkaClusterStoppedWarning(f"{item.nodeid} has stopped {what}, which tests share; {advice}"))


def renew(item: pytest.Item, fixture: str) -> None:
    """Tears a fixture down if its cluster was stopped, with the fixtures that use it, so that the setup of the test makes new ones."""
    request = getattr(item, "_request", None)
    definitions = item._fixtureinfo.name2fixturedefs.get(fixture, ()) if request is not None else ()  # type: ignore[attr-defined]  # noqa: SLF001  (pytest has no public name for it)
    for definition in definitions:
        if definition.cached_result is not None and (cluster := definition.cached_result[0]) is not None and not cluster.is_running:
            definition.finish(request)


class StartedClusters:
    """The named clusters that are running, with their options. They are stopped at the end of the scope of `kafka_cluster`."""

    def __init__(self) -> None:
        self._started: dict[str, tuple[ClusterOptions, Cluster]] = {}

    def get(self, name: str, options: ClusterOptions) -> Cluster:
        """Returns the running cluster of a name with these options, which is started if necessary."""
        found = self._started.get(name)
        if found is not None and found[0] == options and found[1].is_running:
            return found[1]
        self._stop(name)
        cluster = options.cluster().start()
        self._started[name] = options, cluster
        return cluster

    def stop(self) -> None:
        """Stops all clusters."""
        for name in list(self._started):
            self._stop(name)

    def _stop(self, name: str) -> None:
        if name in self._started:
            _, cluster = self._started.pop(name)
            watch().announce_stop(cluster)
            cluster.stop()


class KafkaClusters(Mapping[str, "Cluster"]):
    """The named clusters of one test. `kafka_clusters["mirror"]` returns a running cluster, which is reset first if the options say so."""

    def __init__(self, started: StartedClusters, options: Mapping[str, ClusterOptions], item: pytest.Item, *, resets: bool) -> None:
        self._started, self._options, self._item, self._resets = started, options, item, resets
        self._used: dict[str, Cluster] = {}
        self._end = ExitStack()

    def __getitem__(self, name: str) -> Cluster:
        """Returns the cluster. Raises KeyError for a name that no mark of the test declares."""
        if name not in self._options:
            declared = ", ".join(map(repr, self._options)) or "none"
            raise KeyError(f"no mark declares the cluster {name!r}: add @pytest.mark.kafka(name={name!r}); declared: {declared}")
        if name not in self._used:
            self._used[name] = self._begin(name)
        return self._used[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._options)

    def __len__(self) -> int:
        return len(self._options)

    def _begin(self, name: str) -> Cluster:
        options = self._options[name]
        cluster = self._started.get(name, options)
        watch().add(cluster)
        watch().announce_begin(cluster)
        self._end.callback(warn_if_stopped, cluster, self._item, f"the cluster {name!r}")
        self._end.callback(watch().announce_end, cluster)
        if self._resets:
            cluster.reset()
        if options.freeze:
            cluster.clock.freeze()
            self._end.callback(lambda: cluster.is_running and cluster.clock.run())
        return cluster

    def end(self) -> None:
        """Ends the use of the clusters by the test."""
        self._end.close()


class AsyncKafkaClusters(Mapping[str, "AsyncCluster"]):
    """The same clusters with methods to await."""

    def __init__(self, clusters: KafkaClusters) -> None:
        self._clusters = clusters

    def __getitem__(self, name: str) -> AsyncCluster:
        return self._clusters[name].awaitable

    def __iter__(self) -> Iterator[str]:
        return iter(self._clusters)

    def __len__(self) -> int:
        return len(self._clusters)
