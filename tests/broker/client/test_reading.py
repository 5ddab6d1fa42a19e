"""The reader of the commands while leaders move and logs change. tests/broker/commands/test_consume.py has the usual cases."""

from __future__ import annotations

import pytest
from confluent_kafka import TopicPartition as Deleted
from confluent_kafka.admin import AdminClient

from odradek import Cluster
from odradek.broker.client.cluster_client import ClientError, ClusterClient
from odradek.broker.client.offsets import LATEST, READ_COMMITTED, Start, list_offsets, starts
from odradek.broker.client.reading import Reader
from odradek.protocol.client.connection import TopicPartition

pytestmark = pytest.mark.clients
FIRST = TopicPartition("orders", 0)


def reader(client: ClusterClient, *, follow: bool = False) -> Reader:
    leaders = {FIRST: client.leaders(client.topics(["orders"]))[FIRST]}
    ends = None if follow else list_offsets(client, leaders, LATEST)
    return Reader(client, leaders, starts(client, leaders, Start.parse("earliest"), READ_COMMITTED), ends, READ_COMMITTED)


def values(reader: Reader) -> list[bytes | None]:
    return [record.value for _, record in reader.poll()]


def test_reader_follows_new_records(cluster: Cluster, client: ClusterClient) -> None:
    following = reader(client, follow=True)
    assert (following.is_complete, following.remaining) == (False, None)
    cluster.produce("orders", ["a", "b"], partition=0)
    assert values(following) == [b"a", b"b"]
    cluster.produce("orders", ["c"], partition=0)
    assert values(following) == [b"c"]


def test_reader_continues_at_a_new_leader(cluster: Cluster, client: ClusterClient) -> None:
    cluster.produce("orders", ["a"], partition=0)
    following = reader(client, follow=True)
    assert values(following) == [b"a"]
    cluster.stop_node(cluster.topics()[0].partitions[0].leader)
    cluster.produce("orders", ["b"], partition=0)
    assert values(following) == [b"b"]


def test_reader_stops_at_the_end_of_its_start(cluster: Cluster, client: ClusterClient) -> None:
    cluster.produce("orders", ["a", "b"], partition=0)
    bounded = reader(client)
    cluster.produce("orders", ["c"], partition=0)
    assert bounded.remaining == 2
    assert values(bounded) == [b"a", b"b"]
    assert (bounded.is_complete, bounded.remaining) == (True, 0)


def test_deleted_offset_is_an_error(cluster: Cluster, client: ClusterClient) -> None:
    cluster.produce("orders", ["a", "b", "c"], partition=0)
    bounded = reader(client)
    place = Deleted("orders", 0, 2)
    admin = AdminClient({"bootstrap.servers": cluster.bootstrap_servers})
    admin.delete_records([place])[place].result(30)
    with pytest.raises(ClientError, match="partition 0 of orders: the offset 0 is not in the log any more; begin again"):
        values(bounded)


def test_compacted_end_is_reached(cluster: Cluster, client: ClusterClient) -> None:
    cluster.produce("orders", ["a"], partition=0)
    bounded = reader(client)
    bounded.positions[FIRST] = 0
    with cluster.fault(api="Fetch", respond={"responses": {"partitions": {"records": None}}}, times=1):
        assert values(bounded) == []
    assert values(bounded) == [b"a"]
