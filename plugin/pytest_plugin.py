"""The pytest plugin: fixtures of clusters, and the mark `kafka`. docs/pytest.md describes them.

Each worker process of pytest-xdist has its own session and therefore its own cluster, on ports that the kernel chooses. A test with the
mark gets a cluster with the options of the mark; tests that follow each other with the same options share one, because the mark becomes a
parameter of the fixture `kafka_cluster`. Tests that use no fixture of the plugin are not touched.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from itertools import count
from typing import TYPE_CHECKING, Any, cast

import pytest

from .options import MARK, ClusterOptions, add_options, defaults, resets, scope, with_marks

if TYPE_CHECKING:
    from .. import AsyncCluster, Cluster
    from ..broker.controls.clock import Clock

CLUSTER, RESET, FREEZE = "kafka_cluster", "kafka_reset", "_kafka_freeze"
MAX_NAME_CHARACTERS = 200
_NOT_IN_NAMES = re.compile(r"[^a-zA-Z0-9._-]+")
_numbers = count(1)
_known: dict[str, ClusterOptions] = {}
"""Options by their text. pytest shares a fixture among tests whose parameters are the same object."""


def pytest_addoption(parser: pytest.Parser) -> None:
    add_options(parser)


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line("markers", f"{MARK}(nodes, topics, settings, as_version, users, tls, data, freeze): the cluster of the test")


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Makes the mark of a test a parameter of its cluster."""
    if CLUSTER in metafunc.fixturenames and (marks := list(metafunc.definition.iter_markers(MARK))):
        hidden = getattr(pytest, "HIDDEN_PARAM", MARK)  # pytest before 8.4 cannot hide parameters in the names of tests
        try:
            options = with_marks(defaults(metafunc.config), marks)
        except pytest.UsageError as error:
            raise pytest.Collector.CollectError(str(error)) from None
        options = _known.setdefault(repr(options), options)
        metafunc.parametrize(CLUSTER, [options], indirect=True, scope=cast(Any, scope(metafunc.config)), ids=[hidden])


def pytest_itemcollected(item: pytest.Item) -> None:
    """Resets the cluster and freezes its time before other fixtures of the test are created, if options or marks say so."""
    names: list[str] = getattr(item, "fixturenames", [])
    if CLUSTER not in names:
        return
    for name, wanted in ((FREEZE, any(mark.kwargs.get("freeze") for mark in item.iter_markers(MARK))), (RESET, resets(item.config))):
        if wanted and name not in names:
            names.insert(0, name)


def _scope(fixture_name: str, config: pytest.Config) -> Any:
    return scope(config)


@pytest.fixture(scope=_scope)
def kafka_cluster(request: pytest.FixtureRequest) -> Iterator[Cluster]:
    """A running cluster of two nodes, or with the options of the mark `kafka`."""
    options: ClusterOptions = getattr(request, "param", None) or defaults(request.config)
    with options.cluster() as cluster:
        yield cluster


@pytest.fixture(scope=_scope)
def kafka_bootstrap_servers(kafka_cluster: Cluster) -> str:
    """The addresses of the cluster for a client: `host:port,host:port`."""
    return kafka_cluster.bootstrap_servers


@pytest.fixture(scope=_scope)
def async_kafka_cluster(kafka_cluster: Cluster) -> AsyncCluster:
    """The same cluster with methods to await, for tests of pytest-asyncio and anyio. It runs in its own thread."""
    from .awaitable import Awaitable

    return cast("AsyncCluster", Awaitable(kafka_cluster))


@pytest.fixture
def kafka_topic(request: pytest.FixtureRequest, kafka_cluster: Cluster) -> Iterator[str]:
    """The name of a topic of this test alone. The topic is created with the defaults of the cluster and deleted after the test."""
    name = f"{_NOT_IN_NAMES.sub('-', request.node.name)[:MAX_NAME_CHARACTERS]}-{next(_numbers)}"
    kafka_cluster.create_topic(name)
    yield name
    if any(topic.name == name for topic in kafka_cluster.topics()):
        kafka_cluster.delete_topic(name)


@pytest.fixture
def make_kafka_cluster() -> Iterator[Callable[..., Cluster]]:
    """A function with the arguments of `Cluster` that returns a started cluster. All of them are stopped after the test."""
    from .. import Cluster

    started: list[Cluster] = []

    def make(*args: Any, **kwargs: Any) -> Cluster:
        started.append(Cluster(*args, **kwargs).start())
        return started[-1]

    yield make
    for cluster in reversed(started):
        cluster.stop()


@pytest.fixture
def kafka_clock(kafka_cluster: Cluster) -> Iterator[Clock]:
    """The time of the cluster: `freeze`, `advance`, `run`. It passes as usual again after the test."""
    clock = kafka_cluster.clock
    speed = clock.state().speed
    yield clock
    if speed:
        clock.run(speed)


@pytest.fixture
def kafka_faults(kafka_cluster: Cluster) -> Iterator[KafkaFaults]:
    """Adds faults to the cluster, which are removed after the test."""
    yield KafkaFaults(kafka_cluster)
    kafka_cluster.remove_faults()


class KafkaFaults:
    """The methods of a cluster that add faults, each of which returns a handle."""

    def __init__(self, cluster: Cluster) -> None:
        self.add = cluster.fault
        self.lost_acks = cluster.lost_acks
        self.flaky = cluster.flaky
        self.firewall = cluster.firewall
        self.slow_network = cluster.slow_network
        self.leader_election = cluster.leader_election
        self.coordinator_moves = cluster.coordinator_moves
        self.disk_full = cluster.disk_full
        self.not_enough_replicas = cluster.not_enough_replicas
        self.all = cluster.list_faults


@pytest.fixture
def kafka_reset(kafka_cluster: Cluster) -> None:
    """Returns the cluster to its state after start, on the same ports. With `kafka_reset = true` every test uses it."""
    kafka_cluster.reset()


@pytest.fixture
def _kafka_freeze(kafka_cluster: Cluster) -> Iterator[None]:
    kafka_cluster.clock.freeze()
    yield
    kafka_cluster.clock.run()
