"""The fixtures of the pytest plugin. docs/pytest.md describes them."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from itertools import count
from typing import TYPE_CHECKING, Any

import pytest

from .options import MARK, ClusterOptions, defaults, named_options, resets, scope
from .watching import watch

if TYPE_CHECKING:
    from .. import AsyncCluster, Cluster
    from ..broker.controls.clock import AsyncClock, Clock
    from .faults import AsyncKafkaFaults, KafkaFaults
    from .shared_clusters import AsyncKafkaClusters, KafkaClusters, StartedClusters
    from .wire import AsyncKafkaWire, KafkaWire

MAX_NAME_CHARACTERS = 200
_NOT_IN_NAMES = re.compile(r"[^a-zA-Z0-9._-]+")
_numbers = count(1)
TOPIC_NUMBER = pytest.StashKey[int]()
"""The number of the topic of a test whose data is damaged, because the damage names the topic."""
MakeKafkaCluster = Callable[..., "Cluster"]
"""The type of the fixture `make_kafka_cluster`: a function with the arguments of `Cluster`."""


def _scope(fixture_name: str, config: pytest.Config) -> Any:  # noqa: ARG001  (pytest calls it with both)
    return scope(config)


@pytest.fixture(scope=_scope)
def kafka_cluster(request: pytest.FixtureRequest) -> Iterator[Cluster]:
    """A running cluster of two nodes, or with the options of the mark `kafka`."""
    options: ClusterOptions = getattr(request, "param", None) or defaults(request.config)
    with options.cluster() as cluster:
        watch().add(cluster)
        yield cluster
        watch().announce_stop(cluster)


@pytest.fixture(scope=_scope)
def kafka_bootstrap_servers(kafka_cluster: Cluster) -> str:
    """The addresses of the cluster for a client: `host:port,host:port`."""
    return kafka_cluster.bootstrap_servers


@pytest.fixture(scope=_scope)
def kafka_schema_registry(kafka_cluster: Cluster) -> str:
    """The URL of the schema registry of the cluster, for the `url` of a client."""
    return kafka_cluster.start_schema_registry()


@pytest.fixture(scope=_scope)
def _kafka_started_clusters() -> Iterator[StartedClusters]:
    from .shared_clusters import StartedClusters

    started = StartedClusters()
    yield started
    started.stop()


@pytest.fixture
def kafka_clusters(request: pytest.FixtureRequest, _kafka_started_clusters: StartedClusters) -> Iterator[KafkaClusters]:
    """The clusters that marks of the test declare by name: `kafka_clusters["mirror"]` with `@pytest.mark.kafka(name="mirror")`."""
    from .shared_clusters import KafkaClusters

    marks = request.node.iter_markers(MARK)
    options = named_options(defaults(request.config), marks)
    clusters = KafkaClusters(_kafka_started_clusters, options, request.node, resets=resets(request.config))
    yield clusters
    clusters.end()


@pytest.fixture
def async_kafka_clusters(kafka_clusters: KafkaClusters) -> AsyncKafkaClusters:
    """The same with methods to await."""
    from .shared_clusters import AsyncKafkaClusters

    return AsyncKafkaClusters(kafka_clusters)


@pytest.fixture(scope=_scope)
def async_kafka_cluster(kafka_cluster: Cluster) -> AsyncCluster:
    """The same cluster with methods to await, for tests of pytest-asyncio and anyio. It runs in its own thread."""
    return kafka_cluster.awaitable


@pytest.fixture
def kafka_topic(request: pytest.FixtureRequest, kafka_cluster: Cluster) -> Iterator[str]:
    """The name of a topic of this test alone. The topic is created with the defaults of the cluster and deleted after the test."""
    number = request.node.stash.get(TOPIC_NUMBER, None) or next(_numbers)
    name = f"{_NOT_IN_NAMES.sub('-', request.node.name)[:MAX_NAME_CHARACTERS]}-{number}"
    kafka_cluster.create_topic(name)
    yield name
    if kafka_cluster.is_running and any(topic.name == name for topic in kafka_cluster.topics()):
        kafka_cluster.delete_topic(name)


@pytest.fixture
def make_kafka_cluster() -> Iterator[MakeKafkaCluster]:
    """A function with the arguments of `Cluster` that returns a started cluster. All of them are stopped after the test."""
    from .. import Cluster

    with ExitStack() as started:

        def make(*args: Any, **kwargs: Any) -> Cluster:
            cluster = started.enter_context(Cluster(*args, **kwargs))
            watch().add(cluster)
            started.callback(watch().announce_stop, cluster)
            started.callback(watch().announce_end, cluster)
            return cluster

        yield make


@pytest.fixture
def kafka_clock(kafka_cluster: Cluster) -> Iterator[Clock]:
    """The time of the cluster: `freeze`, `advance`, `run`. It passes as usual again after the test."""
    clock = kafka_cluster.clock
    speed = clock.state().speed
    yield clock
    if speed and kafka_cluster.is_running:
        clock.run(speed)


@pytest.fixture
def async_kafka_clock(kafka_clock: Clock, async_kafka_cluster: AsyncCluster) -> AsyncClock:  # noqa: ARG001  (for its teardown)
    """The same with methods to await."""
    return async_kafka_cluster.clock


@pytest.fixture
def kafka_faults(kafka_cluster: Cluster) -> Iterator[KafkaFaults]:
    """Adds faults to the cluster, which are removed after the test."""
    from .faults import KafkaFaults

    yield KafkaFaults(kafka_cluster)
    if kafka_cluster.is_running:
        kafka_cluster.remove_faults()


@pytest.fixture
def async_kafka_faults(kafka_faults: KafkaFaults, async_kafka_cluster: AsyncCluster) -> AsyncKafkaFaults:  # noqa: ARG001  (for its teardown)
    """The same with methods to await."""
    from .faults import AsyncKafkaFaults

    return AsyncKafkaFaults(async_kafka_cluster)


@pytest.fixture
def kafka_wire(kafka_cluster: Cluster) -> KafkaWire:
    """The exchanges of this test: `requests`, `mark`, `since`, `entries`, `diagram`, `capture`."""
    from .wire import KafkaWire

    start = watch().add(kafka_cluster).since
    return KafkaWire(kafka_cluster, kafka_cluster.wire.mark() if start is None else start)


@pytest.fixture
def async_kafka_wire(kafka_wire: KafkaWire, async_kafka_cluster: AsyncCluster) -> AsyncKafkaWire:
    """The same with methods to await."""
    from .wire import AsyncKafkaWire

    return AsyncKafkaWire(async_kafka_cluster, kafka_wire.start)


@pytest.fixture
def kafka_reset(kafka_cluster: Cluster) -> None:
    """Returns the cluster to its state after start, on the same ports. With `kafka_reset = true` every test uses it."""
    kafka_cluster.reset()


@pytest.fixture
def _kafka_freeze(kafka_cluster: Cluster) -> Iterator[None]:
    kafka_cluster.clock.freeze()
    yield
    if kafka_cluster.is_running:
        kafka_cluster.clock.run()


@pytest.fixture
def _kafka_watch(request: pytest.FixtureRequest, kafka_cluster: Cluster) -> Iterator[None]:
    """Notes the state in which a test finds the cluster. Set up first, it ends after all other fixtures of the test."""
    watch().add(kafka_cluster)
    watch().announce_begin(kafka_cluster)
    yield
    watch().announce_end(kafka_cluster)
    if not kafka_cluster.is_running and scope(request.config) != "function":
        from .shared_clusters import warn_if_stopped

        warn_if_stopped(kafka_cluster, request.node, "kafka_cluster")


@pytest.fixture
def _kafka_explore_share(request: pytest.FixtureRequest) -> tuple[int, int]:
    """The number of the worker of pytest-xdist that explores the test, and the number of workers."""
    share: tuple[int, int] = request.param
    return share
