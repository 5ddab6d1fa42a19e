"""One cluster and one instance of each client, shared by all scenarios that use their own topics and groups."""

from __future__ import annotations

from collections.abc import Iterator
from importlib import import_module
from itertools import count

import pytest

from odradek.broker import Cluster
from tests.clients.client import CLIENTS, Client, Unavailable

# Some clients can only create topics by requesting their metadata.
SETTINGS = {"num.partitions": 2, "default.replication.factor": 2}


class Clients:
    """Starts each client on first use."""

    def __init__(self) -> None:
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
        """Returns the next available client in the cyclic order of CLIENTS."""
        names = list(CLIENTS)
        start = names.index(name) + 1
        for following in names[start:] + names[:start]:
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
def clients() -> Iterator[Clients]:
    clients = Clients()
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
