"""Other projects' clients do with the emulated cluster what they do with Kafka, and read what the others wrote."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable
from contextlib import closing
from dataclasses import replace
from functools import partial

import pytest

from odradek.broker import Cluster
from tests.clients import log
from tests.clients.client import CLIENTS, CODECS, METADATA_MAX_AGE_MS, PATIENCE_S, Client, Member, Record, sample
from tests.clients.conftest import SETTINGS, Clients

pytestmark = pytest.mark.clients
every_client = pytest.mark.parametrize("client_name", CLIENTS)


@every_client
def test_either_node_tells_of_both(client: Client, cluster: Cluster) -> None:
    addresses = cluster.bootstrap_servers.split(",")
    for address in addresses:
        assert client.nodes(address) == {1: addresses[0], 2: addresses[1]}


@every_client
@pytest.mark.parametrize("codec", CODECS)
def test_records_come_back_as_they_were(
    client: Client, client_name: str, codec: str, clients: Clients, cluster: Cluster, name: str
) -> None:
    """To a consumer of the same client, and to the next one of the ring."""
    records = [client.written(record) for record in sample(name, 1000)]
    started_ms = int(time.time() * 1000)
    client.create_topic(cluster.bootstrap_servers, name)
    produce(client, cluster, name, records, codec)
    assert codec in log.codecs(cluster.bootstrap_servers, name)
    for reader in (client, clients.after(client_name)):
        with closing(reader.member(cluster.bootstrap_servers, name, f"{name}-{type(reader).__name__}")) as member:
            got = poll(member, len(records))
        assert_same([reader.read(record) for record in records], got, started_ms)


@every_client
def test_a_group_goes_on_where_it_left(client: Client, cluster: Cluster, name: str) -> None:
    """From either node, with records in both partitions before and after."""
    first_node, second_node = cluster.bootstrap_servers.split(",")
    client.create_topic(first_node, name)
    for bootstrap_servers, part in ((first_node, "before"), (second_node, "after"), (first_node, "later")):
        records = [client.written(record) for record in sample(part, 50)]
        produce(client, cluster, name, records, "none")
        with closing(client.member(bootstrap_servers, name, name)) as member:
            got = poll(member, len(records))
            assert member.assignment() == [0, 1]
            member.commit()
        assert_same([client.read(record) for record in records], got, 0)


@every_client
def test_a_group_of_two_shares_the_partitions(client: Client, cluster: Cluster, name: str) -> None:
    client.create_topic(cluster.bootstrap_servers, name)
    with closing(client.member(cluster.bootstrap_servers, name, name)) as first:
        poll_until_assigned([first], [2])
        with closing(client.member(cluster.bootstrap_servers, name, name)) as second:
            poll_until_assigned([first, second], [1, 1])
            assert first.assignment() != second.assignment()
        poll_until_assigned([first], [2])


@every_client
def test_nothing_is_lost_or_doubled_when_nodes_stop(client: Client, name: str) -> None:
    """The idempotent producer's records are under way, and the group in the middle of its work, when a node stops or comes back."""
    with Cluster(nodes=2, settings=SETTINGS) as cluster:
        client.create_topic(cluster.bootstrap_servers, name)
        sent: list[Record] = []
        got: list[Record] = []
        with (
            closing(client.producer(cluster.bootstrap_servers, name, "none", idempotent=True)) as producer,
            closing(client.member(cluster.bootstrap_servers, name, name)) as member,
        ):

            def work(disturb: Callable[[], None] = lambda: None) -> None:
                new = [client.written(record) for record in sample(f"{name}-{len(sent)}", 40)]
                producer.send(new)
                sent.extend(new)
                disturb()
                producer.flush()
                got.extend(poll(member, len(sent) - len(got), commit=True))

            work()
            for disturb, node_id in ((cluster.stop_node, 2), (cluster.start_node, 2), (cluster.stop_node, 1), (cluster.start_node, 1)):
                work(partial(disturb, node_id))
                settled = time.monotonic() + 3 * METADATA_MAX_AGE_MS / 1000
                while time.monotonic() < settled:
                    work()
        with closing(client.member(cluster.bootstrap_servers, name, f"{name}-all")) as member:
            everything = poll(member, len(sent))
    expected = [client.read(record) for record in sent]
    assert_same(expected, everything, 0)
    assert_same(expected, got, 0)


def produce(client: Client, cluster: Cluster, topic: str, records: list[Record], codec: str) -> None:
    with closing(client.producer(cluster.bootstrap_servers, topic, codec, idempotent=False)) as producer:
        producer.send(records)
        producer.flush()


def poll(member: Member, count: int, commit: bool = False) -> list[Record]:
    """At least so many records, or fails. Committed as they come, they do not come again when the group rebalances."""
    deadline = time.monotonic() + PATIENCE_S
    got: list[Record] = []
    while len(got) < count:
        assert time.monotonic() < deadline, f"{len(got)} of {count} records came"
        records = member.poll(1.0)
        got += records
        if records and commit:
            member.commit()
    return got


def poll_until_assigned(members: list[Member], counts: list[int]) -> None:
    """Until the members have so many partitions each; all of them must be polled for that."""
    deadline = time.monotonic() + PATIENCE_S
    while [len(member.assignment()) for member in members] != counts:
        assert time.monotonic() < deadline, [member.assignment() for member in members]
        for member in members:
            member.poll(0.1)


def assert_same(expected: Iterable[Record], got: list[Record], started_ms: int) -> None:
    """The same records in the same order in each partition; those without a timestamp were given one that is after `started_ms`."""
    for partition in (0, 1):
        wanted = [record for record in expected if record.partition == partition]
        came = [record for record in got if record.partition == partition]
        for want, have in zip(wanted, came, strict=False):
            if want.timestamp_ms is None:
                assert have.timestamp_ms is not None and started_ms <= have.timestamp_ms <= time.time() * 1000
                want = replace(want, timestamp_ms=have.timestamp_ms)
            assert have == want
        assert len(came) == len(wanted)
