"""A test while pytest runs it: its clusters, its files, its time limit, and the section of its report if it fails."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING

import pytest

from .options import MARK, artifacts_folder, fault_of, timeout_s
from .watching import Watch, Watched, watching

if TYPE_CHECKING:
    from ..broker.controls.fault_handles import AnyFaultHandle, FaultHandle
    from ..simulation.seeds import Test
    from .artifacts import Artifacts
    from .explored_simulation import ExploredSimulation
    from .failure_report import ClusterReport
    from .timeout import Timeout


TITLE = "kafka exchanges"


class RunningTest:
    """One test. The modules for its report are imported when it uses a cluster, because other tests are not touched."""

    def __init__(self, item: pytest.Item) -> None:
        self._item = item
        self.watch = Watch(item.nodeid, self._added, self._ended, self._stopping, self._begins)
        self.is_in_phase = False
        """Whether setup, call or teardown is running, in which pytest expects failures."""
        self._artifacts: Artifacts | None = None
        self._failures: dict[str, str] = {}
        """The texts of failures by the phases of the test."""
        self._timeout: Timeout | None = None
        self._faults: list[AnyFaultHandle] = []
        """The faults at points of the clusters of the test."""
        self._added_faults: list[FaultHandle] = []
        """The part of them that is in clusters of fixtures, and not of simulations."""

    @contextmanager
    def running(self) -> Iterator[None]:
        """Makes this the running test until the end of the block."""
        with watching(self.watch):
            try:
                yield
            finally:
                self.end_timeout()
                self._remove_faults()
                if self._artifacts is not None and not self.watch.failed:
                    self._artifacts.discard()

    @contextmanager
    def phase(self) -> Iterator[None]:
        """Makes the body of the block a phase of the test."""
        self.is_in_phase = True
        try:
            yield
        finally:
            self.is_in_phase = False

    def end_call(self) -> None:
        """Ends the use of the clusters that the test does not use after its call."""
        for watched in self.watch.clusters:
            if watched.ends_with_call:
                self._ended(watched)
        if self._faults and not self.watch.failed and not self.reached:
            pytest.fail(f"the test has not reached the point of its fault: {'; '.join(map(str, self._faults))}", pytrace=False)

    @property
    def reached(self) -> bool:
        """Whether each fault at a point has hit a request of one of the clusters."""
        hit = {each.described().options for each in self._faults if each.hits}
        return all(each.described().options in hit for each in self._faults)

    def simulate(self, test: Test, seed: int) -> bool:
        """Runs a simulated test with one seed and the faults at points of this test. Returns False if there are none."""
        if not self._points:
            return False
        from .explored_simulation import ExploredSimulation

        self._run_simulation(ExploredSimulation(test, self._points, ""), seed)
        return True

    def _run_simulation(self, simulation: ExploredSimulation, seed: int) -> None:
        """Runs a simulation. Raises what it raises."""
        try:
            simulation.run(seed)
        finally:
            self._faults += simulation.handles

    def end_timeout(self) -> None:
        """Ends the time limit, because the test has ended or a debugger was entered."""
        if self._timeout is not None:
            self._timeout.end()

    def failed(self, report: pytest.TestReport) -> None:
        """Adds the section to the report of a phase that has failed. An error while it is made is part of the section."""
        self.watch.failed = True
        if self.watch.clusters:
            self._failures[report.when] = report.longreprtext
            report.sections.append((TITLE, self.section()))

    def last_words(self) -> str:
        """Returns what is printed if the process has to be ended, because the test hangs."""
        return self.section()

    def section(self) -> str:
        """Returns what the clusters of the test have seen, and the names of the files that are kept."""
        texts = [self._section(watched) for watched in self.watch.clusters]
        page = self._attempt(lambda artifacts: [artifacts.write_page(self._item.nodeid, self._failures)])
        return "\n".join(["\n\n".join(texts), *page])

    def _section(self, watched: Watched) -> str:
        report = self._report(watched)
        return "\n".join([report.text, *self._attempt(lambda artifacts: artifacts.complete(watched, report))])

    def _report(self, watched: Watched) -> ClusterReport:
        from .failure_report import report_of

        return watched.report if watched.report is not None else report_of(watched)

    def _attempt(self, write: Callable[[Artifacts], list[str]]) -> list[str]:
        """Returns the lines about files that a function writes, none if no files are wanted."""
        try:
            return [] if self._artifacts is None else write(self._artifacts)
        except Exception as error:  # noqa: BLE001  (the failure of the test must be reported in any case)
            return [f"(the files of --kafka-artifacts cannot be written: {error!r})"]

    def _added(self, watched: Watched) -> None:
        config = self._item.config
        if (folder := artifacts_folder(config)) is not None:
            if self._artifacts is None:
                from .artifacts import Artifacts, file_name

                self._artifacts = Artifacts(folder, file_name(self._name, os.environ.get("PYTEST_XDIST_WORKER", "main")))
            self._artifacts.begin(watched)
        if self._timeout is None and (limit_s := self._limit_s) is not None:
            from .timeout import Timeout

            self._timeout = Timeout(self, limit_s, config)
            self._timeout.begin()
        self._arm(watched)

    def _arm(self, watched: Watched) -> None:
        """Adds the faults at points of the test to a cluster."""
        for point in self._points:
            self._add_fault(watched.cluster.fault_at(point))

    def _add_fault(self, fault: FaultHandle) -> None:
        self._faults.append(fault)
        self._added_faults.append(fault)

    def _remove_faults(self) -> None:
        """Removes the faults at points from clusters that other tests use as well."""
        for each in self._added_faults:
            with suppress(ValueError):  # the cluster is stopped
                each.remove()

    @property
    def _name(self) -> str:
        """The name of the test, from which those of its files are made."""
        return self._item.nodeid

    @property
    def _limit_s(self) -> float | None:
        """The time limit of the test."""
        return timeout_s(self._item.config)

    @property
    def _points(self) -> list[str]:
        """The faults at points that the mark of the test names."""
        fault = fault_of(self._item.iter_markers(MARK))
        if not fault:
            return []
        from .explore import split_points

        return split_points(fault)

    def _begins(self, watched: Watched) -> None:
        """Called when only fixtures of the test's own scope use a cluster from now on."""

    def _ended(self, watched: Watched) -> None:
        """Warns of clients that the test has left open. A test that has failed keeps them alive by its traceback."""
        from .left_open import KafkaClientLeftOpenWarning, describe_open_clients, own_connections

        if self.watch.failed:
            watched.leave(own_connections(watched, sets_up_others=self.watch.sets_up_others))
            return
        for text in describe_open_clients(watched, sets_up_others=self.watch.sets_up_others):
            self._item.warn(KafkaClientLeftOpenWarning(f"{self._item.nodeid}: {text}"))

    def _stopping(self, watched: Watched) -> None:
        """Makes the report while the cluster is running, because a later part of the teardown may fail."""
        if watched.report is None and not self.watch.failed:
            watched.report = report = self._report(watched)
            self._attempt(lambda artifacts: artifacts.complete(watched, report))


RUNNING = pytest.StashKey[RunningTest]()
"""The running test of an item, and of the session."""
