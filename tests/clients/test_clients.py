"""Runs the same scenarios with the clients of several projects; each client also reads the records of another one."""

from __future__ import annotations

import time
from collections.abc import Callable
from contextlib import closing
from functools import partial

import pytest

from odradek.broker import Cluster
from tests.clients import stored_batches
from tests.clients.client import CLIENTS, CODECS, METADATA_MAX_AGE_MS, PATIENCE_S, Client, Member, Record, sample
from tests.clients.conftest import SETTINGS, Clients
from tests.clients.exchanged import assert_same, poll, produce

pytestmark = pytest.mark.clients
every_client = pytest.mark.parametrize("client_name", CLIENTS)


@every_client
def test_metadata_of_either_node_contains_both(client: Client, cluster: Cluster) -> None:
    addresses = cluster.bootstrap_servers.split(",")
    for address in addresses:
        assert client.nodes(address) == {1: addresses[0], 2: addresses[1]}


@every_client
@pytest.mark.parametrize("codec", CODECS)
def test_records_are_read_as_they_were_written(
    client: Client, client_name: str, codec: str, clients: Clients, cluster: Cluster, name: str
) -> None:
    """The records are read by the same client and by the next one in CLIENTS."""
    records = [client.written(record) for record in sample(name, 1000)]
    started_ms = int(time.time() * 1000)
    client.create_topic(cluster.bootstrap_servers, name)
    produce(client, cluster, name, records, codec)
    assert codec in stored_batches.codecs(cluster.bootstrap_servers, name)
    for reader in (client, clients.after(client_name)):
        with closing(reader.member(cluster.bootstrap_servers, name, f"{name}-{type(reader).__name__}")) as member:
            got = poll(member, len(records))
        assert_same([reader.read(record) for record in records], got, started_ms)


@every_client
def test_group_resumes_at_its_committed_offsets(client: Client, cluster: Cluster, name: str) -> None:
    """The group resumes from either node, with records in both partitions."""
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
def test_group_of_two_members_shares_the_partitions(client: Client, cluster: Cluster, name: str) -> None:
    client.create_topic(cluster.bootstrap_servers, name)
    with closing(client.member(cluster.bootstrap_servers, name, name)) as first:
        poll_until_assigned([first], [2])
        with closing(client.member(cluster.bootstrap_servers, name, name)) as second:
            poll_until_assigned([first, second], [1, 1])
            assert first.assignment() != second.assignment()
        poll_until_assigned([first], [2])


@every_client
def test_records_are_read_once_while_nodes_stop(client: Client, name: str) -> None:
    """A node stops or starts while an idempotent producer sends records and a group reads them."""
    with Cluster(nodes=2, settings=SETTINGS) as cluster:
        client.create_topic(cluster.bootstrap_servers, name)
        sent: list[Record] = []
        got: list[Record] = []
        with (
            closing(client.producer(cluster.bootstrap_servers, name, "none", idempotent=True)) as producer,
            closing(client.member(cluster.bootstrap_servers, name, name)) as member,
        ):

            def work(change_nodes: Callable[[], None] = lambda: None) -> None:
                new = [client.written(record) for record in sample(f"{name}-{len(sent)}", 40)]
                producer.send(new)
                sent.extend(new)
                change_nodes()
                producer.flush()
                got.extend(poll(member, len(sent) - len(got), commit=True))

            work()
            for change_nodes, node_id in ((cluster.stop_node, 2), (cluster.start_node, 2), (cluster.stop_node, 1), (cluster.start_node, 1)):
                work(partial(change_nodes, node_id))
                settled = time.monotonic() + 3 * METADATA_MAX_AGE_MS / 1000
                while time.monotonic() < settled:
                    work()
        with closing(client.member(cluster.bootstrap_servers, name, f"{name}-all")) as member:
            everything = poll(member, len(sent))
    expected = [client.read(record) for record in sent]
    assert_same(expected, everything, 0)
    assert_same(expected, got, 0)


def poll_until_assigned(members: list[Member], counts: list[int]) -> None:
    """Polls all members until they have these numbers of partitions."""
    deadline = time.monotonic() + PATIENCE_S
    while [len(member.assignment()) for member in members] != counts:
        assert time.monotonic() < deadline, [member.assignment() for member in members]
        for member in members:
            member.poll(0.1)
