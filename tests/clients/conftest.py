"""One cluster and one instance of each client, shared by all scenarios that use their own topics and groups."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from importlib import import_module
from itertools import count
from pathlib import Path

import pytest

from odradek.broker import Cluster
from tests import apache_kafka
from tests.clients.client import CLIENTS, Client, Unavailable
from tests.clients.kafka_programs import Programs

# Some clients can only create topics by requesting their metadata.
# The records of some scenarios have old timestamps, so that retention would delete them 30 s after the start.
SETTINGS = {"num.partitions": 2, "default.replication.factor": 2, "log.retention.ms": -1}
# The time limit of a test. A test waits for several operations, each of which may take long on a loaded machine.
TIME_LIMIT_S = 900
# Clients that are built or downloaded in addition to the Python packages: only `make test-all` runs their tests.
FETCHED = ("java", "librdkafka-1.9.2", "go")
APACHE_KAFKAS = {"apache_kafka", "programs"}
"""Fixtures that start Apache Kafka or its command line programs."""


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if not item.path.is_relative_to(Path(__file__).parent):
            continue
        item.add_marker(pytest.mark.timeout(TIME_LIMIT_S))
        parameters = getattr(item, "callspec", None)
        names = [item.path.stem, item.name, *map(str, parameters.params.values() if parameters else ())]
        if any(name.startswith(FETCHED) or "_java_" in name or "_go_" in name for name in names):
            item.add_marker(pytest.mark.slow)
        if APACHE_KAFKAS & {*getattr(item, "fixturenames", ()), *names}:
            item.add_marker(pytest.mark.apache_kafka)


class Clients:
    """Starts each client when it is first needed. `ring` names the clients whose tests were selected, in order."""

    def __init__(self, ring: Sequence[str]) -> None:
        self._ring = ring
        self._found: dict[str, Client | Unavailable] = {}

    def __getitem__(self, name: str) -> Client:
        """Returns a client. Raises Unavailable if this machine lacks a requirement of it."""
        if name not in self._found:
            module, _, adapter = CLIENTS[name].partition(":")
            try:
                self._found[name] = getattr(import_module(module), adapter)()
            except Unavailable as reason:
                self._found[name] = reason
        found = self._found[name]
        if isinstance(found, Unavailable):
            raise found
        return found

    def after(self, name: str) -> Client:
        """Returns the next client of the ring that this machine has."""
        start = self._ring.index(name) + 1
        for following in [*self._ring[start:], *self._ring[:start]]:
            try:
                return self[following]
            except Unavailable:
                continue
        raise Unavailable("no client is available")

    def close(self) -> None:
        for client in self._found.values():
            if not isinstance(client, Unavailable):
                client.close()


@pytest.fixture(scope="session")
def cluster() -> Iterator[Cluster]:
    with Cluster(nodes=2, settings=SETTINGS) as cluster:
        yield cluster


@pytest.fixture(scope="session")
def clients(request: pytest.FixtureRequest) -> Iterator[Clients]:
    parameters = [getattr(item, "callspec", None) for item in request.session.items]
    selected = {found.params.get("client_name") for found in parameters if found is not None}
    clients = Clients([name for name in CLIENTS if name in selected])
    yield clients
    clients.close()


@pytest.fixture
def client(clients: Clients, client_name: str) -> Client:
    try:
        return clients[client_name]
    except Unavailable as reason:
        pytest.skip(f"{client_name}: {reason}")


_names = count(1)


@pytest.fixture
def name() -> str:
    """Returns a name for a topic and a group that no other test uses."""
    return f"scenario-{next(_names)}"


@pytest.fixture(scope="module")
def programs() -> Iterator[Programs]:
    """Kafka's command line programs."""
    if missing := apache_kafka.missing():
        pytest.skip(f"{missing} is not installed")
    programs = Programs()
    yield programs
    programs.close()
