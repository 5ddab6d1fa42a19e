"""The hooks of exploration. They are registered if an option or a mark asks for it."""

from __future__ import annotations

import sys

import pytest

from .explorations import begin, summary_in_report
from .explore import MARK, SHARE, Explorer, share_id
from .options import EXPLORING_OPTIONS
from .pytest_plugin import FOUND

_COLUMNS = 160


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_protocol(item: pytest.Item, nextitem: pytest.Item | None) -> bool | None:
    """Explores a test instead of running it once."""
    if not _is_explored(item):
        return None
    item.ihook.pytest_runtest_logstart(nodeid=item.nodeid, location=item.location)
    progress = Progress(item.config)
    explorer = Explorer(item, progress.show)
    begin(explorer.search.found)
    try:
        found = explorer.explore(nextitem)
    finally:
        progress.end()
    by_itself = found.uses_no_cluster and item.get_closest_marker(MARK) is None
    for report in explorer.reports:
        if report.when == "call" and found.is_broken and not by_itself:
            report.outcome = "failed"
            report.longrepr = summary_in_report(found)
        if report is explorer.reports[-1]:
            setattr(report, FOUND, found.as_json())
        item.ihook.pytest_runtest_logreport(report=report)
    item.ihook.pytest_runtest_logfinish(nodeid=item.nodeid, location=item.location)
    return True


@pytest.hookimpl(optionalhook=True, tryfirst=True)
def pytest_timeout_set_timer(item: pytest.Item) -> bool | None:
    """Leaves the time limit to each run, because that of pytest-timeout would be one for all runs together."""
    return True if _is_explored(item) else None


def share_among_workers(metafunc: pytest.Metafunc) -> None:
    """Makes one test of each worker of pytest-xdist, which tries its share of the faults."""
    workers: int = getattr(metafunc.config, "workerinput", {}).get("workercount", 1)
    if workers > 1 and _is_chosen(metafunc.definition) and not metafunc.config.getoption("--kafka-explore-only"):
        metafunc.fixturenames.append(SHARE)
        shares = [(number, workers) for number in range(workers)]
        metafunc.parametrize(SHARE, shares, indirect=True, ids=[share_id(*each) for each in shares])


def _is_explored(item: pytest.Item) -> bool:
    return _is_chosen(item) and not (item.config.getoption("setuponly", False) or item.config.getoption("usepdb", False))


def _is_chosen(item: pytest.Item) -> bool:
    """Returns whether an option or a mark asks for the exploration of a test."""
    option = item.config.getoption
    return item.get_closest_marker(MARK) is not None or any(option(name) for name in EXPLORING_OPTIONS)


class Progress:
    """The line of a terminal that shows which fault is tried."""

    def __init__(self, config: pytest.Config) -> None:
        reporter = config.pluginmanager.get_plugin("terminalreporter")
        self._reporter = reporter if reporter is not None and reporter.isatty and sys.stdout is not None else None

    def show(self, text: str) -> None:
        """Replaces the line."""
        if self._reporter is not None:
            self._reporter.rewrite(text[:_COLUMNS], erase=True)

    def end(self) -> None:
        """Removes the line."""
        if self._reporter is not None:
            self._reporter.rewrite("", erase=True)
