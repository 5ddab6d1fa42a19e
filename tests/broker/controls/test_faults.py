"""Adding, awaiting and removing faults of a running cluster, and what clients see on their sockets."""

from __future__ import annotations

import asyncio
import socket
import threading
from collections.abc import Iterator
from contextlib import closing
from typing import Any

import pytest

from odradek import AsyncCluster, Cluster
from odradek.broker.control_errors import ControlTimeout, InvalidControl
from odradek.broker.network.driver import uvloop
from odradek.protocol.frame import encode_request
from odradek.protocol.messages.api_versions import API_VERSIONS
from odradek.protocol.messages.produce import PRODUCE
from tests.broker.harness import ASK, a_batch, produce_request
from tests.broker.network.client import ask, connect, read

LOOPS = ["asyncio", *(["uvloop"] if uvloop else [])]
FRAME = b"".join(encode_request(API_VERSIONS, 3, 1, "test", ASK))


@pytest.fixture(params=LOOPS, scope="module")
def cluster(request: pytest.FixtureRequest) -> Iterator[Cluster]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("ODRADEK_LOOP", request.param)
        with Cluster(nodes=2, topics={"orders": 1}) as running:
            yield running


@pytest.fixture(autouse=True)
def no_faults_are_left(request: pytest.FixtureRequest) -> Iterator[None]:
    yield
    if "cluster" in request.fixturenames:
        assert request.getfixturevalue("cluster").faults == []


def address(cluster: Cluster, node_id: int = 1) -> str:
    return cluster.bootstrap_servers.split(",")[node_id - 1]


def leader(cluster: Cluster) -> str:
    return address(cluster, cluster._cluster._server.cluster.topics["orders"].partitions[0].leader)


def produce(connection: socket.socket) -> int:
    response = ask(connection, PRODUCE, 9, produce_request("orders", a_batch(b"x")))
    return int(response.responses[0].partition_responses[0].error_code)


# Handles


def test_fault_ends_with_its_block(cluster: Cluster) -> None:
    with connect(leader(cluster)) as connection:
        with cluster.fault(api="Produce", topic="orders", error="NOT_ENOUGH_REPLICAS_AFTER_APPEND", times=2) as fault:
            assert [produce(connection) for _ in range(3)] == [20, 20, 0]
            fault.wait(hits=2, timeout_s=5)
            assert [each.number for each in cluster.faults] == [fault.number]
        assert fault.hits == 2
        assert [(exchange.api, exchange.topics) for exchange in fault.exchanges] == [("Produce", ("orders",))] * 2
        assert str(fault).endswith("removed, 2 hits; 3 Produce requests seen, 1 came after the last of the `times`")
        assert repr(fault) == f"<{fault}>"


def test_wait_is_woken_by_the_hit(cluster: Cluster) -> None:
    with cluster.fault(api="Produce", error="INVALID_RECORD") as fault, connect(leader(cluster)) as connection:
        later = threading.Timer(0, produce, (connection,))
        later.start()
        fault.wait(timeout_s=30)
        later.join()
        assert fault.hits == 1


def test_wait_that_times_out_says_why(cluster: Cluster) -> None:
    with cluster.fault(api="Produce", topic="order", error="INVALID_RECORD") as fault, connect(leader(cluster)) as connection:
        assert produce(connection) == 0
        with pytest.raises(ControlTimeout, match="1 Produce request seen, none to topic 'order'; did you mean 'orders'"):
            fault.wait(hits=2, timeout_s=0)


def test_fault_is_described_as_plain_values(cluster: Cluster) -> None:
    with cluster.fault(api="Produce", topic="orders", delay_ms=0) as fault, connect(leader(cluster)) as connection:
        produce(connection)
        (info,) = cluster.list_faults()
        assert (info.fault, info.hits, info.removed) == (fault.number, 1, False)
        assert (info.options, info.missed) == ("api=Produce topic=orders delay_ms=0", "1 Produce request seen")
        assert cluster.wait_for_fault(info.fault, timeout_s=5).exchanges[0].api == "Produce"
        assert cluster.remove_fault(info.fault).removed
        with pytest.raises(InvalidControl, match=f"there is no fault {info.fault}; there is none"):
            cluster.remove_fault(info.fault)


def test_all_faults_are_removed_together(cluster: Cluster) -> None:
    for node_id in (1, 2):
        cluster.fault(node=node_id, delay_ms=1)
    assert len(cluster.faults) == 2
    cluster.remove_faults()
    assert cluster.faults == []


def test_invalid_fault_raises_and_adds_nothing(cluster: Cluster) -> None:
    with pytest.raises(ValueError, match="did you mean 'Produce'"):
        cluster.fault(api="Produc", drop=True)
    with pytest.raises(InvalidControl, match="a fault needs an act"):
        cluster.fault(drop=False)


def test_condition_is_a_function_of_the_request(cluster: Cluster) -> None:
    with cluster.fault(when=lambda request: getattr(request, "acks", 0) == -1, error="INVALID_RECORD") as fault:
        with connect(leader(cluster)) as connection:
            assert produce(connection) == 87
        fault.wait(timeout_s=5)


def test_async_fault_can_be_entered_or_awaited() -> None:
    async def scenario() -> None:
        async with AsyncCluster(nodes=1, topics={"orders": 1}) as cluster:
            async with cluster.fault(api="Produce", error="INVALID_RECORD") as fault:
                with connect(cluster.bootstrap_servers) as connection:
                    assert await asyncio.to_thread(produce, connection) == 87
                await fault.wait(timeout_s=5)
                assert [each.number for each in cluster.faults] == [fault.number]
            assert cluster.faults == []
            fault = await cluster.fault(api="Produce", delay_ms=1)
            assert (fault.hits, len(await cluster.list_faults())) == (0, 1)
            await fault.remove()
            with pytest.raises(ControlTimeout, match="0 hits; no Produce request seen"):
                await fault.wait(timeout_s=0)

    asyncio.run(scenario())


# Sockets


def outcome(connection: socket.socket) -> str | bytes:
    """Sends a request and returns the bytes of the response, or how the connection ended."""
    received = b""
    try:
        connection.sendall(FRAME)
        while len(received) < 4 or len(received) < 4 + int.from_bytes(received[:4], "big"):
            part = connection.recv(4096)
            if not part:
                return "fin" if not received else received + b" fin"
            received += part
    except ConnectionResetError:
        return "rst" if not received else received + b" rst"
    return received


@pytest.mark.parametrize("close", ["fin", "rst"])
def test_dropped_response_ends_the_connection(cluster: Cluster, close: Any) -> None:
    with cluster.fault(api="ApiVersions", drop=True, close=close), connect(address(cluster)) as connection:
        assert outcome(connection) == close


@pytest.mark.parametrize("close", ["fin", "rst"])
def test_cut_response_arrives_before_the_end(cluster: Cluster, close: Any) -> None:
    with connect(address(cluster)) as connection:
        whole = outcome(connection)
    assert isinstance(whole, bytes)
    with cluster.fault(api="ApiVersions", drop=True, close=close, cut_at_bytes=10), connect(address(cluster)) as connection:
        assert outcome(connection) == whole[:10] + f" {close}".encode()


def test_hanging_request_is_served_after_the_removal(cluster: Cluster) -> None:
    with connect(address(cluster)) as connection:
        with cluster.fault(node=1, hang=True) as fault:
            connection.sendall(FRAME)
            fault.wait(timeout_s=30)
            connection.setblocking(False)
            with pytest.raises(BlockingIOError):
                connection.recv(1)
            connection.setblocking(True)
        assert read(connection, API_VERSIONS, 3).error_code == 0


def test_hanging_request_of_a_closed_connection_is_released(cluster: Cluster) -> None:
    with cluster.fault(node=1, hang=True) as fault, connect(address(cluster)) as connection:
        connection.sendall(FRAME)
        fault.wait(timeout_s=30)
    with connect(address(cluster)) as connection:
        assert isinstance(outcome(connection), bytes)


def test_trickling_response_arrives_whole(cluster: Cluster) -> None:
    with cluster.fault(api="ApiVersions", chunk_bytes=64), connect(address(cluster)) as connection:
        assert ask(connection, API_VERSIONS, 3, ASK).error_code == 0


def test_refused_listener_listens_again_after_the_removal(cluster: Cluster) -> None:
    with connect(address(cluster)) as before:
        assert isinstance(outcome(before), bytes)  # the node has accepted the connection, which is not certain once `connect` returns
        with cluster.fault(refuse=True, node=1) as fault:
            for _ in range(2):
                with pytest.raises(ConnectionRefusedError):
                    connect(address(cluster))
            assert isinstance(outcome(before), bytes)
            with connect(address(cluster, 2)) as other:
                assert isinstance(outcome(other), bytes)
        assert fault.hits == 0
    with connect(address(cluster)) as connection:
        assert isinstance(outcome(connection), bytes)


def test_refused_listener_of_a_restarted_node_still_refuses(cluster: Cluster) -> None:
    with cluster.fault(refuse=True, node=2):
        cluster.stop_node(2)
        cluster.start_node(2)
        with pytest.raises(ConnectionRefusedError):
            connect(address(cluster, 2))
    with connect(address(cluster, 2)) as connection:
        assert isinstance(outcome(connection), bytes)


def test_closed_connection_is_reset_or_finished(cluster: Cluster) -> None:
    with cluster.fault(refuse="closed", close="rst", node=1) as fault, closing(socket.socket()) as connection:
        host, _, port = address(cluster).rpartition(":")
        connection.connect((host, int(port)))
        with pytest.raises(ConnectionResetError):
            connection.recv(1)
        fault.wait(timeout_s=30)
    with cluster.fault(refuse="closed", node=1), connect(address(cluster)) as connection:
        assert connection.recv(1) == b""


def test_silent_connection_is_served_after_the_removal(cluster: Cluster) -> None:
    with cluster.fault(refuse="silent", node=1) as fault:
        connection = connect(address(cluster))
        connection.sendall(FRAME)
        fault.wait(timeout_s=30)
    with connection:
        assert read(connection, API_VERSIONS, 3).error_code == 0
