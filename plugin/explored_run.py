"""One run of a test that is explored: the fault is added to its clusters, and its requests and its failure are kept."""

from __future__ import annotations

from collections.abc import Callable, MutableMapping, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING

import pytest

from ..broker.exploring.damage import StoredData
from ..broker.exploring.points import RequestPoint, points_of
from ..broker.exploring.topology import ClusterTopology, topology_of
from ..broker.exploring.verdicts import MAX_FINDINGS, Evidence, RunOutcome, RunResult
from .failure_report import without
from .left_open import own_connections
from .options import timeout_s
from .running_test import RunningTest
from .stored_data import stored_data

if TYPE_CHECKING:
    from .. import Cluster
    from ..broker.exploring.plan import Trial
    from ..broker.snapshots.handle import Snapshot
    from ..simulation.seeds import Test
    from .explored_simulation import ExploredSimulation
    from .watching import Watched


class ExploredRun(RunningTest):
    """A run with the faults of a trial, or without any. `snapshots` has the states to which the clusters of the test return before it.

    `limit_s` is how long it may take if --kafka-timeout does not say it, and `summary` returns what is known so far, if the process has to
    end.
    """

    def __init__(
        self,
        item: pytest.Item,
        trial: Trial | None,
        snapshots: MutableMapping[Cluster, Snapshot],
        limit_s: float,
        summary: Callable[[], str],
    ) -> None:
        self._trial = trial
        super().__init__(item)
        self._snapshots = snapshots
        self._default_limit_s = limit_s
        self._summary = summary
        self._requests: list[RequestPoint] = []
        self._topology = ClusterTopology(0, {})
        self._stored = StoredData({}, {}, [])
        self._observed: set[int] = set()
        self._evidence = Evidence()
        self._simulation: ExploredSimulation | None = None

    def simulate(self, test: Test, seed: int) -> bool:
        """Runs a simulated test with one seed and the faults of the trial."""
        from .explored_simulation import ExploredSimulation

        self._simulation = simulation = ExploredSimulation(test, self._points, "" if self._trial is None else self._trial.damage)
        try:
            self._run_simulation(simulation, seed)
        finally:
            self._evidence = simulation.evidence
            if self._trial is None:
                self._requests, self._topology, self._stored = simulation.points, simulation.topology, simulation.stored
        return True

    def result(self, reports: Sequence[pytest.TestReport]) -> RunResult:
        """Returns how the run has ended, from pytest's reports."""
        for watched in self.watch.clusters:
            self._observe(watched)
        failed = next((each for each in reports if each.failed), None)
        if self._trial is not None and not self.reached:
            outcome = RunOutcome.UNREACHED
        elif failed is None:
            outcome = RunOutcome.PASSED
        else:
            outcome = RunOutcome.HUNG if self._has_hung else RunOutcome.FAILED
        return RunResult(
            outcome,
            "" if failed is None else _message(failed),
            points=tuple(self._requests),
            topology=self._topology,
            uses_cluster=bool(self.watch.clusters) or (self._simulation is not None and self._simulation.uses_cluster),
            leaks=0 if self._trial is not None else sum(len(self._connected_clients(each)) for each in self.watch.clusters),
            stored=self._stored,
            evidence=self._evidence,
        )

    @property
    def _has_hung(self) -> bool:
        if self._simulation is not None:
            return self._simulation.hangs
        return self._timeout is not None and self._timeout.has_expired

    def replace_clusters_in_use(self, *, sets_up_others: bool) -> None:
        """Stops the clusters to which clients of the run are still connected, so that the next run gets others."""
        for watched in self.watch.clusters:
            if watched.cluster.is_running and own_connections(watched, sets_up_others=sets_up_others):
                watched.cluster.stop()

    def end_call(self) -> None:
        """Keeps the data of a run without faults, before fixtures delete it.

        Clients that are left open and a point that was not reached are reported by the summary.
        """
        for watched in self.watch.clusters if self._trial is None else ():
            if watched.cluster.is_running:
                topology = topology_of(watched.cluster.topics(), len(watched.cluster.nodes()))
                self._topology = ClusterTopology(max(self._topology.nodes, topology.nodes), {**self._topology.topics, **topology.topics})
                self._stored = _stored_data(watched.cluster, self._stored)

    def failed(self, report: pytest.TestReport) -> None:
        super().failed(report)
        with suppress(ValueError, RuntimeError):  # the cluster is stopped, or keeps no record
            for watched in self.watch.clusters:
                self._evidence = _evidence_of(watched)

    def last_words(self) -> str:
        return f"{super().last_words()}\n{self._summary()}"

    @property
    def _name(self) -> str:
        return super()._name if self._trial is None else f"{super()._name} {self._trial.text}"

    def _arm(self, watched: Watched) -> None:
        super()._arm(watched)
        if self._trial is not None and self._trial.damage:
            self._add_fault(watched.cluster.damage(self._trial.damage))

    @property
    def _limit_s(self) -> float:
        return timeout_s(self._item.config) or self._default_limit_s

    @property
    def _points(self) -> list[str]:
        return [*super()._points, *([] if self._trial is None else map(str, self._trial.specifications))]

    def _begins(self, watched: Watched) -> None:
        """Returns the cluster to the state that it had when the first run began."""
        snapshot = self._snapshots.get(watched.cluster)
        if snapshot is None:
            self._snapshots[watched.cluster] = watched.cluster.snapshot()
        else:
            watched.cluster.restore(snapshot)

    def _ended(self, watched: Watched) -> None:
        self._observe(watched)

    def _stopping(self, watched: Watched) -> None:
        super()._stopping(watched)
        self._observe(watched)

    def _observe(self, watched: Watched) -> None:
        """Keeps the requests of a run without faults, while the cluster is running."""
        if self._trial is not None or id(watched) in self._observed or watched.since is None or not watched.cluster.is_running:
            return
        self._observed.add(id(watched))
        entries = [each for each in watched.cluster.wire.since(watched.since) if each.connection not in watched.foreign]
        self._requests += points_of(entries)

    def _connected_clients(self, watched: Watched) -> set[str]:
        """Returns the ids of the clients that are still connected."""
        return {each.client_id for each in own_connections(watched, sets_up_others=self.watch.sets_up_others)}


def _evidence_of(watched: Watched) -> Evidence:
    cluster, since = watched.cluster, watched.since
    if since is None:
        return Evidence()
    foreign = without(watched.foreign)
    findings = cluster.doctor(since)[:MAX_FINDINGS]
    return Evidence(
        tuple(f"{each.name}: {each.problem}" for each in findings),
        cluster.wire.diagram("html", since, foreign),
        cluster.wire.story(since, foreign, watched.begin_ms),
    )


def _message(report: pytest.TestReport) -> str:
    """Returns the message of a failure without the lines of the test."""
    crash = getattr(report.longrepr, "reprcrash", None)
    text = report.longreprtext if crash is None else str(crash.message)
    return text.strip()


def _stored_data(cluster: Cluster, known: StoredData) -> StoredData:
    """Returns the data of a cluster together with that of others."""
    records = {
        (topic.name, part.partition): cluster.records(topic.name, partition=part.partition) if part.end_offset else []
        for topic in cluster.topics()
        if not topic.internal
        for part in topic.partitions
    }
    return stored_data(records, cluster.groups(), known, has_certificates=_has_certificates(cluster))


def _has_certificates(cluster: Cluster) -> bool:
    """Returns whether the certificates of a cluster are generated, so that its clients trust their CA."""
    with suppress(ValueError):
        return bool(cluster.tls)
    return False
