"""One cluster and one of each client for all scenarios that do not harm them; topics and groups have names of their own."""

from __future__ import annotations

from collections.abc import Iterator
from importlib import import_module
from itertools import count

import pytest

from odradek.broker import Cluster
from tests.clients.client import CLIENTS, Client, Unavailable

# For those who cannot create topics but by asking for them.
SETTINGS = {"num.partitions": 2, "default.replication.factor": 2}


class Clients:
    """Starts each client when it is first asked for."""

    def __init__(self) -> None:
        self._found: dict[str, Client | Unavailable] = {}

    def __getitem__(self, name: str) -> Client:
        """Raises Unavailable where the machine lacks something."""
        if name not in self._found:
            module, _, adapter = CLIENTS[name].partition(":")
            try:
                self._found[name] = getattr(import_module(module), adapter)()
            except Unavailable as lacking:
                self._found[name] = lacking
        found = self._found[name]
        if isinstance(found, Unavailable):
            raise found
        return found

    def after(self, name: str) -> Client:
        """The next of the ring that this machine has."""
        names = list(CLIENTS)
        start = names.index(name) + 1
        for following in names[start:] + names[:start]:
            try:
                return self[following]
            except Unavailable:
                continue
        raise Unavailable("no client at all")

    def close(self) -> None:
        for client in self._found.values():
            if not isinstance(client, Unavailable):
                client.close()


@pytest.fixture(scope="session")
def cluster() -> Iterator[Cluster]:
    with Cluster(nodes=2, settings=SETTINGS) as cluster:
        yield cluster


@pytest.fixture(scope="session")
def clients() -> Iterator[Clients]:
    clients = Clients()
    yield clients
    clients.close()


@pytest.fixture
def client(clients: Clients, client_name: str) -> Client:
    try:
        return clients[client_name]
    except Unavailable as lacking:
        pytest.skip(f"{client_name}: {lacking}")


_names = count(1)


@pytest.fixture
def name() -> str:
    """Of a topic and a group that nobody else uses."""
    return f"scenario-{next(_names)}"
