"""Paused and isolated nodes, and nodes that join and leave, on sockets with both event loops."""

from __future__ import annotations

import socket
from collections.abc import Callable, Iterator
from contextlib import closing

import pytest

from odradek import Cluster
from odradek.protocol.messages.api_versions import API_VERSIONS, ApiVersionsRequest
from odradek.protocol.messages.fetch import FETCH, FetchPartition, FetchRequest, FetchTopic
from odradek.protocol.messages.metadata import METADATA, MetadataRequest
from odradek.protocol.messages.produce import PRODUCE
from tests.broker.harness import a_batch, produce_request
from tests.broker.network.client import LOOPS, ask, connect, ended, read, send

SHORT_S = 0.1


@pytest.fixture(params=LOOPS)
def cluster(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Iterator[Cluster]:
    monkeypatch.setenv("ODRADEK_LOOP", request.param)
    with Cluster(nodes=3, topics={"t": {"partitions": 3, "replication_factor": 3}}, seed=1) as running:
        yield running


def address(cluster: Cluster, node: int) -> str:
    return cluster.bootstrap_servers.split(",")[node - 1]


def leader(cluster: Cluster, partition: int = 0) -> int:
    return cluster.topics()[0].partitions[partition].leader


def is_silent(connection: socket.socket) -> bool:
    """Returns whether nothing is received for a short time."""
    connection.settimeout(SHORT_S)
    try:
        connection.recv(1)
    except TimeoutError:
        return True
    else:
        return False
    finally:
        connection.settimeout(5)


@pytest.mark.parametrize(("silence", "end"), [(Cluster.pause_node, Cluster.resume_node), (Cluster.isolate, Cluster.rejoin)])
def test_silent_node_answers_when_its_silence_ends(
    cluster: Cluster, silence: Callable[[Cluster, int], None], end: Callable[[Cluster, int], None]
) -> None:
    with closing(connect(address(cluster, 2))) as before:
        ask(before, API_VERSIONS, 2, ApiVersionsRequest())
        silence(cluster, 2)
        with closing(connect(address(cluster, 2))) as during:
            for connection in (before, during):
                send(connection, API_VERSIONS, 2, ApiVersionsRequest())
            assert is_silent(before)
            assert is_silent(during)
            end(cluster, 2)
            for connection in (before, during):
                assert read(connection, API_VERSIONS, 2).error_code == 0


def test_paused_leader_refuses_what_it_reads_too_late(cluster: Cluster) -> None:
    """Requests that were sent while another leader was elected are answered with NOT_LEADER_OR_FOLLOWER."""
    paused = leader(cluster)
    with closing(connect(address(cluster, paused))) as connection:
        ask(connection, API_VERSIONS, 2, ApiVersionsRequest())
        cluster.pause_node(paused)
        send(connection, PRODUCE, 9, produce_request("t", a_batch(b"late")))
        cluster.clock.advance("9s")
        assert leader(cluster) not in (-1, paused)
        cluster.resume_node(paused)
        assert read(connection, PRODUCE, 9).responses[0].partition_responses[0].error_code == 6
    assert cluster.records("t") == []


def test_waiting_fetch_of_a_paused_node_is_answered_later(cluster: Cluster) -> None:
    paused = leader(cluster)
    wanted = FetchTopic(topic="t", partitions=[FetchPartition(partition=0, fetch_offset=0, partition_max_bytes=1000)])
    with closing(connect(address(cluster, paused))) as connection:
        send(connection, FETCH, 11, FetchRequest(max_wait_ms=500, min_bytes=1, topics=[wanted]))
        assert is_silent(connection)
        cluster.pause_node(paused)
        cluster.clock.advance("8s")
        assert is_silent(connection)
        cluster.resume_node(paused)
        assert read(connection, FETCH, 11).responses[0].partitions[0].error_code == 0


def test_connections_that_clients_gave_up_are_released(cluster: Cluster) -> None:
    connections = [connect(address(cluster, 2)) for _ in range(2)]
    for connection in connections:
        ask(connection, API_VERSIONS, 2, ApiVersionsRequest())
    cluster.pause_node(2)
    late = connect(address(cluster, 2))
    for connection in (*connections, late):
        connection.close()
    cluster.resume_node(2)
    assert cluster.wait_until(lambda: not cluster.connections())


def test_paused_node_stopped_closes_its_connections(cluster: Cluster) -> None:
    with closing(connect(address(cluster, 2))) as connection:
        ask(connection, API_VERSIONS, 2, ApiVersionsRequest())
        cluster.pause_node(2)
        cluster.stop_node(2, graceful=False)
        assert ended(connection)
        with pytest.raises(ConnectionRefusedError):
            connect(address(cluster, 2))
        cluster.start_node(2)
        with closing(connect(address(cluster, 2))) as again:
            ask(again, API_VERSIONS, 2, ApiVersionsRequest())


def test_added_node_listens_and_removed_node_does_not(cluster: Cluster) -> None:
    def nodes(at: str) -> dict[int, str]:
        with closing(connect(at)) as connection:
            brokers = ask(connection, METADATA, 9, MetadataRequest(topics=[])).brokers
            return {broker.node_id: f"{broker.host}:{broker.port}" for broker in brokers}

    first = address(cluster, 1)
    assert cluster.add_node(rack="east") == 4
    assert nodes(first)[4] == address(cluster, 4)
    assert len(nodes(address(cluster, 4))) == 4
    removed = address(cluster, 2)
    with closing(connect(removed)) as connection:
        cluster.remove_node(2)
        assert ended(connection)
    with pytest.raises(ConnectionRefusedError):
        connect(removed)
    assert sorted(nodes(first)) == [1, 3, 4]
    assert len(cluster.bootstrap_servers.split(",")) == 3
    assert cluster.add_node(2) == 2
    assert sorted(nodes(first)) == [1, 2, 3, 4]
