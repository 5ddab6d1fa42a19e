"""Reports producers and consumers that a test leaves open, as a warning.

The broker sees connections, not objects. A connection counts for a test if it was opened during the test and is still open after the
fixtures of the test have ended. Connections of known clients do not count. A client, which is identified by its client id, software and
host, is known in three cases: it was connected before the test; it has been reported; or it was active in a test that also set up a fixture
of a wider scope, because that fixture may have created the client for other tests too.

The line that created a client is known only if Python traces allocations (`python -X tracemalloc`), as for other warnings about resources.
"""

from __future__ import annotations

import gc
import sys
import tracemalloc
from collections.abc import Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING
from weakref import WeakKeyDictionary

import pytest

if TYPE_CHECKING:
    from .. import Cluster
    from ..broker.controls.connections import ConnectionInfo
    from .watching import Watched

Client = tuple[str, str, str]
"""The client id, the software and the host."""
CLOSING_S = 0.5
"""The time for which ends of connections are awaited, because threads of librdkafka end them after their client was closed."""
LIBRARIES = "confluent_kafka", "kafka", "aiokafka"
KINDS = "Producer", "Consumer"
_CONNECTED_TABLES = "/proc/net/tcp", "/proc/net/tcp6"
_known_clients: WeakKeyDictionary[Cluster, set[Client]] = WeakKeyDictionary()
"""The clients of each cluster that are not reported any more."""


class KafkaClientLeftOpenWarning(pytest.PytestWarning):
    """A test has left a producer or a consumer open."""


def describe_open_clients(watched: Watched, *, sets_up_others: bool) -> list[str]:
    """Returns a text for each client whose connections the test has left open.

    `sets_up_others` says whether a fixture of a wider scope was set up for the test. The clients of the test then become known ones, which
    are not reported.
    """
    if not own_connections(watched, sets_up_others=sets_up_others):
        return []
    with suppress(TimeoutError):
        watched.cluster.wait_until(lambda: not own_connections(watched), timeout_s=CLOSING_S)
    ports = _own_ports()
    clients: dict[Client, list[ConnectionInfo]] = {}
    for each in own_connections(watched):
        clients.setdefault(_client(each), []).append(each)
    for connections in clients.values():
        watched.leave(connections)
    _known_clients[watched.cluster].update(clients)
    return [_describe(client, connections, ports) for client, connections in clients.items()]


def own_connections(watched: Watched, *, sets_up_others: bool = False) -> list[ConnectionInfo]:
    """Returns the connections that the test has opened and not closed, without those of known clients."""
    known = _known_clients.setdefault(watched.cluster, set())
    known.update(map(_client, watched.before))
    if sets_up_others:
        known.update(_active_clients(watched))
    return [each for each in watched.open_connections() if _client(each) not in known]


def _active_clients(watched: Watched) -> Iterator[Client]:
    """Yields the clients that have sent requests during the test, or are connected."""
    for exchange in [] if watched.since is None else watched.cluster.requests(since=watched.since):
        yield exchange.client_id or "", exchange.software, exchange.peer.rpartition(":")[0]
    yield from map(_client, watched.open_connections())


def _client(connection: ConnectionInfo) -> Client:
    return connection.client_id, f"{connection.software_name} {connection.software_version}".strip(), connection.host


def _describe(client: Client, connections: Sequence[ConnectionInfo], ports: set[int]) -> str:
    name, software, host = client
    places = ", ".join(f"{host}:{each.port} to node {each.node}" for each in connections)
    owner = "this process" if any(each.port in ports for each in connections) else "another process"
    return (
        f"a Kafka client is left open: client id {name!r} ({software or 'unknown software'}), {places}"
        + (f", in {owner}" if ports else "")
        + f"; close its producer or consumer at the end of the test{_origin()}"
    )


def _own_ports() -> set[int]:
    """Returns the local ports of this process' TCP sockets. The set is empty on systems without /proc."""
    ports: set[int] = set()
    with suppress(OSError):
        inodes = set(_socket_inodes())
        for table in _CONNECTED_TABLES:
            for line in Path(table).read_text(encoding="ascii").splitlines()[1:]:
                fields = line.split()
                if fields[9] in inodes:
                    ports.add(int(fields[1].rpartition(":")[2], 16))
    return ports


def _socket_inodes() -> Iterator[str]:
    for descriptor in Path("/proc/self/fd").iterdir():
        with suppress(OSError):  # closed meanwhile
            target = str(descriptor.readlink())
            if target.startswith("socket:["):
                yield target[len("socket:[") : -1]


def _origin() -> str:
    """Returns where the clients of known libraries that still exist were created, or how to find out."""
    if not tracemalloc.is_tracing():
        return " (python -X tracemalloc=5 shows the lines that created clients)"
    clients = [each for each in gc.get_objects() if type(each).__name__.endswith(KINDS) and _is_of_library(type(each))]
    lines = [f"{type(each).__name__} at {place}" for each in clients if (place := _creation(each)) is not None]
    return f" (clients that exist: {', '.join(lines)})" if lines else ""


def _is_of_library(kind: type) -> bool:
    return any(getattr(sys.modules.get(name), kind.__name__, None) is kind for name in LIBRARIES)


def _creation(instance: object) -> str | None:
    """Returns the line that created an object, None if allocations were not traced yet."""
    traceback = tracemalloc.get_object_traceback(instance)
    return None if traceback is None else f"{traceback[-1].filename}:{traceback[-1].lineno}"
