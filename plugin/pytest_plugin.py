"""The pytest plugin: its hooks. docs/pytest.md describes the fixtures (`fixtures.py`) and the mark `kafka`.

Each worker process of pytest-xdist has its own session and therefore its own cluster, on ports that the kernel chooses. A test with the
mark gets a cluster with the options of the mark; tests that follow each other with the same options share one, because the mark becomes a
parameter of the fixture `kafka_cluster`. Tests that use no fixture of the plugin are not touched.
"""

from __future__ import annotations

import sys
from collections.abc import Generator
from typing import Any, cast

import pytest

from . import fixtures, simulations
from .options import (
    EXPLORING_OPTIONS,
    MARK,
    MARK_OPTIONS,
    ClusterOptions,
    add_options,
    defaults,
    named_options,
    resets,
    scope,
    timeout_s,
    with_marks,
)
from .running_test import RUNNING, RunningTest
from .watching import watch

CLUSTER, RESET, FREEZE, WATCH = "kafka_cluster", "kafka_reset", "_kafka_freeze", "_kafka_watch"
FOUND = "kafka_explore"
"""The attribute of a report in which a worker passes on what it has found out."""
EXPLORE_MARK, EXPLORING = "kafka_explore", "odradek-exploring"
SHARED = {CLUSTER, "kafka_bootstrap_servers", "async_kafka_cluster"}
"""The fixtures that fixtures of a wider scope than a test's may use."""
_known: dict[str, ClusterOptions] = {}
"""Options by their text. pytest shares a fixture among tests whose parameters are the same object."""


def pytest_addoption(parser: pytest.Parser) -> None:
    add_options(parser)


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line("markers", f"{MARK}({', '.join(('name', *MARK_OPTIONS))}): the cluster of the test")
    config.addinivalue_line("markers", f"{EXPLORE_MARK}(budget, depth, without, also): look for faults under which the test does not pass")
    config.pluginmanager.register(fixtures, "odradek-fixtures")
    config.pluginmanager.register(simulations, "odradek-simulations")
    timeout_s(config)
    if any(config.getoption(name) for name in EXPLORING_OPTIONS):
        _register_exploring(config)


def _register_exploring(config: pytest.Config) -> None:
    """Adds the hooks of exploration, whose modules other projects do not pay for."""
    if not config.pluginmanager.has_plugin(EXPLORING):
        from . import explore_hooks

        config.pluginmanager.register(explore_hooks, EXPLORING)


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Makes the mark of a test a parameter of its cluster."""
    named_clusters, marks = _marks(metafunc.definition)
    try:
        named_options(defaults(metafunc.config), named_clusters)
    except pytest.UsageError as error:
        raise pytest.Collector.CollectError(str(error)) from None
    if CLUSTER in metafunc.fixturenames and marks:
        hidden = getattr(pytest, "HIDDEN_PARAM", MARK)  # pytest before 8.4 cannot hide parameters in the names of tests
        try:
            options = with_marks(defaults(metafunc.config), marks)
        except pytest.UsageError as error:
            raise pytest.Collector.CollectError(str(error)) from None
        options = _known.setdefault(repr(options), options)
        metafunc.parametrize(CLUSTER, [options], indirect=True, scope=cast(Any, scope(metafunc.config)), ids=[hidden])
    if metafunc.definition.get_closest_marker(EXPLORE_MARK) is not None:
        _register_exploring(metafunc.config)
    if metafunc.config.pluginmanager.has_plugin(EXPLORING):
        from .explore_hooks import share_among_workers

        share_among_workers(metafunc)


def _marks(node: pytest.Item) -> tuple[list[pytest.Mark], list[pytest.Mark]]:
    """Returns the marks of named_options clusters, and those of `kafka_cluster`."""
    marks = list(node.iter_markers(MARK))
    return [mark for mark in marks if "name" in mark.kwargs], [mark for mark in marks if "name" not in mark.kwargs]


def pytest_itemcollected(item: pytest.Item) -> None:
    """Watches the cluster, resets it and freezes its time, if options or marks say so, before other fixtures of the test are created."""
    if item.get_closest_marker(EXPLORE_MARK) is not None:
        _register_exploring(item.config)
    names: list[str] = getattr(item, "fixturenames", [])
    if CLUSTER not in names:
        return
    freezes = any(mark.kwargs.get("freeze") for mark in _marks(item)[1])
    for name, wanted in ((FREEZE, freezes), (RESET, resets(item.config)), (WATCH, True)):
        if wanted and name not in names:
            names.insert(0, name)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(item: pytest.Item) -> Generator[None, object, object]:
    test = item.stash[RUNNING] = item.config.stash[RUNNING] = RunningTest(item)
    with test.running():
        return (yield)


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_runtest_setup(item: pytest.Item) -> Generator[None, object, object]:
    with item.stash[RUNNING].phase():
        if CLUSTER in getattr(item, "fixturenames", ()):
            from .shared_clusters import renew

            renew(item, CLUSTER)
        return (yield)


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_runtest_call(item: pytest.Item) -> Generator[None, object, object]:
    with item.stash[RUNNING].phase():
        return (yield)


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_runtest_teardown(item: pytest.Item) -> Generator[None, object, object]:
    with item.stash[RUNNING].phase():
        try:
            item.stash[RUNNING].end_call()
        finally:
            result = yield
        return result


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_runtest_makereport(item: pytest.Item) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    report = yield
    if report.failed:
        item.stash[RUNNING].failed(report)
    return report


@pytest.hookimpl(wrapper=True)
def pytest_fixture_setup(fixturedef: pytest.FixtureDef[object]) -> Generator[None, object, object]:
    """Notes that a fixture of a wider scope may leave clients open on purpose."""
    if fixturedef.scope != "function" and SHARED & set(fixturedef.argnames) and fixturedef.argname not in SHARED:
        watch().sets_up_others = True
    return (yield)


def pytest_enter_pdb(config: pytest.Config) -> None:
    """Ends the time limit of the test that is debugged."""
    if (test := config.stash.get(RUNNING, None)) is not None:
        test.end_timeout()


def pytest_runtest_logreport(report: pytest.TestReport) -> None:
    """Keeps what a worker has found out about a test."""
    if (found := getattr(report, FOUND, None)) is not None:
        from .explorations import add_found

        add_found(found)


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter, config: pytest.Config) -> None:
    """Prints the summaries of explored tests, also after Ctrl-C."""
    if "odradek.plugin.explorations" in sys.modules:
        from .explorations import report_found

        report_found(terminalreporter, config)
