"""Clients of each time against the releases of Kafka that `as_version` emulates.

Each client exchanges records with today's librdkafka in both directions, so that message sets are converted on both ways. The pairs of a
client with the release of its time always run; `make test-all` adds every other pair that Kafka's compatibility allows.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import ExitStack, closing
from itertools import count

import pytest

from odradek.broker import Cluster
from odradek.broker.releases.release import number_of
from tests.clients.client import Client, Unavailable, sample
from tests.clients.exchanged import assert_same, poll, produce
from tests.clients.librdkafka import Librdkafka
from tests.clients.older_clients import OLDER_CLIENTS
from tests.clients.stored_batches import codecs

pytestmark = pytest.mark.clients
RELEASES = ("2.1", "2.4", "2.8", "3.3", "3.9", "4.0", "4.3", "wireshark-4.0")
OF_THEIR_TIME = [
    ("java-2.1.1", "2.1"),
    ("java-2.8.2", "2.8"),
    ("java-3.9.1", "3.9"),
    ("librdkafka-1.9.2", "3.2"),
    ("librdkafka-as-0.11.0", "2.2"),
    ("librdkafka-as-0.10.0", "2.1"),
    ("librdkafka-as-0.9.0", "3.9"),
    ("kafka-python-1.4.7", "2.3"),
    ("kafka-python-2.0.2", "2.5"),
    ("kcat-as-0.10.2", "2.7"),
]
# The timestamps of the records are old, so that retention would delete them.
SETTINGS = {"num.partitions": 2, "default.replication.factor": 2, "group.initial.rebalance.delay.ms": 0, "log.retention.ms": -1}
CODECS = ("none", "gzip", "snappy", "lz4")
RECORDS = 100
_names = count(1)


def others() -> Iterator[tuple[str, str]]:
    for name, client in OLDER_CLIENTS.items():
        for release in RELEASES:
            newest = (2, 5) if release.startswith("wireshark") else number_of(release)
            if newest <= number_of(client.until) and (name, release) not in OF_THEIR_TIME:
                yield name, release


class Clusters:
    """One cluster for each release, and one instance of each client, which are started when they are first needed."""

    def __init__(self) -> None:
        self._open = ExitStack()
        self._clusters: dict[str, Cluster] = {}
        self._clients: dict[str, Client | Unavailable] = {}

    def cluster(self, release: str) -> Cluster:
        if release not in self._clusters:
            self._clusters[release] = self._open.enter_context(Cluster(as_version=release, settings=SETTINGS))
        return self._clusters[release]

    def client(self, name: str) -> Client:
        """Returns a client, or skips the test if this machine lacks what it needs."""
        if name not in self._clients:
            try:
                self._clients[name] = self._open.enter_context(closing(OLDER_CLIENTS[name].start()))
            except Unavailable as reason:
                self._clients[name] = reason
        found = self._clients[name]
        if isinstance(found, Unavailable):
            pytest.skip(f"{name}: {found}")
        return found

    def close(self) -> None:
        self._open.close()


@pytest.fixture(scope="module")
def clusters() -> Iterator[Clusters]:
    with closing(Clusters()) as clusters:
        yield clusters


def exchange(name: str, release: str, clusters: Clusters) -> None:
    """Has an older client write what today's client reads, and read what today's client writes."""
    older, cluster, today = clusters.client(name), clusters.cluster(release), Librdkafka()
    carried = OLDER_CLIENTS[name].carried
    started_ms = int(time.time() * 1000)
    for writer, reader in ((older, today), (today, older)):
        topic = f"exchange-{next(_names)}"
        codec = CODECS[next(_names) // 2 % len(CODECS)]
        records = [carried(older.written(record)) for record in sample(topic, RECORDS)]  # some cannot read what they cannot write
        (older if OLDER_CLIENTS[name].creates_topics else today).create_topic(cluster.bootstrap_servers, topic)
        produce(writer, cluster, topic, records, codec)
        assert codec in codecs(cluster.bootstrap_servers, topic)
        with closing(reader.member(cluster.bootstrap_servers, topic, topic)) as member:
            got = poll(member, len(records), commit=True)
        assert_same([carried(reader.read(record)) for record in records], [carried(record) for record in got], started_ms)


@pytest.mark.parametrize(("client_name", "release"), OF_THEIR_TIME)
def test_client_of_the_time_exchanges_records(client_name: str, release: str, clusters: Clusters) -> None:
    exchange(client_name, release, clusters)


@pytest.mark.slow
@pytest.mark.parametrize(("client_name", "release"), list(others()))
def test_older_client_exchanges_records_with_any_release(client_name: str, release: str, clusters: Clusters) -> None:
    exchange(client_name, release, clusters)
