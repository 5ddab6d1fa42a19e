"""The server on sockets: both event loops, both kinds of embedded clusters, stopping and starting nodes, and limits."""

from __future__ import annotations

import asyncio
import contextlib
import gc
import re
import socket
import threading
import warnings
from collections.abc import Callable, Iterator

import pytest

from odradek.broker import Cluster
from odradek.broker.cluster.nodes import Nodes
from odradek.broker.network.client_protocol import CLOSE_MS, WRITE_BYTES
from odradek.broker.network.server import Server
from odradek.protocol.frame import encode_request
from odradek.protocol.messages.api_versions import API_VERSIONS, ApiVersionsRequest
from odradek.protocol.messages.fetch import FETCH, FetchPartition, FetchRequest, FetchTopic
from odradek.protocol.messages.metadata import METADATA, MetadataRequest
from odradek.protocol.messages.produce import PRODUCE
from tests.broker.harness import a_batch, produce_request

from .client import ask, connect, ended, read, read_exactly, send


@pytest.fixture(autouse=True)
def no_leftovers() -> Iterator[None]:
    before = set(threading.enumerate())
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        yield
        gc.collect()
    assert set(threading.enumerate()) <= before
    assert [str(warning.message) for warning in caught] == []


def alive(address: str) -> bool:
    with connect(address) as connection:
        return bool(ask(connection, API_VERSIONS, 0, ApiVersionsRequest(client_software_name="", client_software_version="")).api_keys)


def leaders(cluster: Cluster, topic: str) -> dict[int, str]:
    """Returns the address of each partition's leader."""
    for address in cluster.bootstrap_servers.split(","):
        try:
            with connect(address) as connection:
                response = ask(connection, METADATA, 9, MetadataRequest(topics=None))
        except ConnectionRefusedError:
            continue
        brokers = {broker.node_id: f"{broker.host}:{broker.port}" for broker in response.brokers}
        (found,) = [found for found in response.topics if found.name == topic]
        return {partition.partition_index: brokers[partition.leader_id] for partition in found.partitions}
    raise AssertionError("no broker answers")


def test_cluster_runs_in_a_thread(loop_factory: object) -> None:
    with Cluster(nodes=3, topics={"orders": 4}, settings={"num.partitions": 7, "delete.topic.enable": True}) as cluster:
        addresses = cluster.bootstrap_servers.split(",")
        assert len(addresses) == 3
        assert all(alive(address) for address in addresses)
        assert len(leaders(cluster, "orders")) == 4
    for address in addresses:
        with pytest.raises(ConnectionRefusedError):
            connect(address)


def test_cluster_runs_on_the_callers_loop(loop_factory: Callable[[], asyncio.AbstractEventLoop]) -> None:
    async def scenario() -> None:
        async with Cluster(nodes=2) as cluster:
            addresses = cluster.bootstrap_servers.split(",")
            assert all([await asyncio.to_thread(alive, address) for address in addresses])
            await cluster.stop_node(2)
            with pytest.raises(ConnectionRefusedError):
                await asyncio.to_thread(connect, addresses[1])
            await cluster.start_node(2)
            assert await asyncio.to_thread(alive, addresses[1])
        assert asyncio.all_tasks() == {asyncio.current_task()}

    with asyncio.Runner(loop_factory=loop_factory) as runner:
        runner.run(scenario())


def test_stopped_node_restarts_on_its_port(loop_factory: object) -> None:
    with Cluster(nodes=2, topics={"t": 2}) as cluster:
        addresses = cluster.bootstrap_servers.split(",")
        assert set(leaders(cluster, "t").values()) == set(addresses)
        with connect(addresses[1]) as waiting:
            cluster.stop_node(2)
            assert waiting.recv(1) == b""
        cluster.stop_node(2)  # has no effect
        with pytest.raises(ConnectionRefusedError):
            connect(addresses[1])
        assert set(leaders(cluster, "t").values()) == {addresses[0]}
        cluster.start_node(2)
        cluster.start_node(2)
        assert alive(addresses[1])
        with pytest.raises(ValueError, match="there is no node 3; use one of 1, 2"):
            cluster.stop_node(3)


def test_removed_nodes_stop_listening_together(loop_factory: Callable[[], asyncio.AbstractEventLoop]) -> None:
    """A client that connects to one node while another is closed is refused, because neither is in the cluster any more."""
    problems: list[object] = []

    async def scenario() -> None:
        asyncio.get_running_loop().set_exception_handler(lambda loop, context: problems.append(context))
        async with Cluster(nodes=1) as cluster:
            for _ in range(2):
                await cluster.add_node()
            _, second, third = cluster.bootstrap_servers.split(",")
            with connect(second) as served:
                await asyncio.to_thread(ask, served, API_VERSIONS, 0, ApiVersionsRequest())
                with connect(third) as waiting:
                    await cluster.reset()
                    with pytest.raises(ConnectionResetError):
                        await asyncio.to_thread(waiting.recv, 1)

    with asyncio.Runner(loop_factory=loop_factory) as runner:
        runner.run(scenario())
    assert problems == []


def test_fault_that_outlives_a_reset_hits_no_removed_node(loop_factory: object) -> None:
    with Cluster(nodes=1) as cluster:
        before = cluster.bootstrap_servers
        assert cluster.add_node() == 2
        cluster.fault_at("Produce#1@producer:lost-response")
        cluster.reset()
        assert cluster.bootstrap_servers == before
        assert alive(before)


def test_produce_wakes_a_waiting_fetch(loop_factory: object) -> None:
    with (
        Cluster(nodes=1, topics={"t": 1}) as cluster,
        connect(cluster.bootstrap_servers) as reader,
        connect(cluster.bootstrap_servers) as writer,
    ):
        wanted = FetchPartition(partition=0, fetch_offset=0, partition_max_bytes=1 << 20)
        send(reader, FETCH, 11, FetchRequest(max_wait_ms=60_000, min_bytes=1, topics=[FetchTopic(topic="t", partitions=[wanted])]))
        assert ask(writer, PRODUCE, 9, produce_request("t", a_batch(b"hello"))).responses[0].partition_responses[0].error_code == 0
        assert b"hello" in bytes(read(reader, FETCH, 11).responses[0].partitions[0].records)


def test_fetch_listing_a_partition_twice_disturbs_no_client(loop_factory: object) -> None:
    def twice(topic: str, offset: int, max_wait_ms: int) -> FetchRequest:
        wanted = [FetchPartition(partition=0, fetch_offset=offset, partition_max_bytes=1 << 20) for _ in range(2)]
        return FetchRequest(max_wait_ms=max_wait_ms, min_bytes=1, topics=[FetchTopic(topic=topic, partitions=wanted)])

    with Cluster(nodes=1, topics={"t": 1, "quiet": 1}, settings={"max.connections": 3}) as cluster:
        address = cluster.bootstrap_servers
        with connect(address) as writer, connect(address) as canary:
            for number in range(3):
                with connect(address) as reader:
                    send(reader, FETCH, 11, twice("t", number, 60_000))
                    ask(canary, METADATA, 9, MetadataRequest(topics=None))
                    appended = ask(writer, PRODUCE, 9, produce_request("t", a_batch(b"x"))).responses[0].partition_responses[0]
                    assert (appended.error_code, appended.base_offset) == (0, number)
                    assert [len(one.records) > 0 for one in read(reader, FETCH, 11).responses[0].partitions] == [True]
                    assert len(ask(reader, FETCH, 11, twice("quiet", 0, 20)).responses[0].partitions) == 1  # the alarm has rung


def test_alarm_completes_a_fetch_at_its_deadline(loop_factory: object) -> None:
    with Cluster(nodes=1, topics={"t": 1}) as cluster, connect(cluster.bootstrap_servers) as reader:
        wanted = FetchPartition(partition=0, fetch_offset=0, partition_max_bytes=1 << 20)
        for max_wait_ms in (20, 10):
            request = FetchRequest(max_wait_ms=max_wait_ms, min_bytes=1, topics=[FetchTopic(topic="t", partitions=[wanted])])
            assert bytes(ask(reader, FETCH, 11, request).responses[0].partitions[0].records) == b""


def test_alarm_covers_a_request_begun_by_a_flush(loop_factory: object) -> None:
    """The responses before the fetch exceed one write, so that the fetch begins, and waits, only after they are flushed."""
    with Cluster(nodes=1, topics={"full": 1, "empty": 1}) as cluster, connect(cluster.bootstrap_servers) as reader:
        with connect(cluster.bootstrap_servers) as writer:
            ask(writer, PRODUCE, 9, produce_request("full", a_batch(bytes(600_000))))
        wanted = FetchPartition(partition=0, fetch_offset=0, partition_max_bytes=1 << 20)
        requests = [
            FetchRequest(max_wait_ms=20, min_bytes=1, topics=[FetchTopic(topic=name, partitions=[wanted])])
            for name in ["full"] * 2 + ["empty"]
        ]
        reader.sendall(b"".join(b"".join(encode_request(FETCH, 11, number, "test", request)) for number, request in enumerate(requests)))
        sizes = [len(read(reader, FETCH, 11).responses[0].partitions[0].records) for _ in requests]
        assert [size > 600_000 for size in sizes] == [True, True, False]


def test_slow_client_gets_all_its_responses(loop_factory: object) -> None:
    """Responses of 200 MB to a client that reads late arrive complete, and other clients are served meanwhile."""
    with Cluster(nodes=1, topics={"t": 1}) as cluster, connect(cluster.bootstrap_servers) as slow:
        with connect(cluster.bootstrap_servers) as writer:
            ask(writer, PRODUCE, 9, produce_request("t", a_batch(bytes(1_000_000))))
        wanted = FetchPartition(partition=0, fetch_offset=0, partition_max_bytes=1 << 20)
        request = FetchRequest(max_wait_ms=0, min_bytes=1, topics=[FetchTopic(topic="t", partitions=[wanted])])
        for _ in range(200):
            send(slow, FETCH, 11, request)
        assert alive(cluster.bootstrap_servers)
        sizes = {len(read(slow, FETCH, 11).responses[0].partitions[0].records) for _ in range(200)}
        assert len(sizes) == 1
        assert sizes.pop() > 1_000_000


def test_flood_of_pipelined_requests_is_answered_in_order(loop_factory: object) -> None:
    count, ask_for_versions = 5_000, ApiVersionsRequest(client_software_name="", client_software_version="")
    with Cluster(nodes=1) as cluster, connect(cluster.bootstrap_servers) as flood:
        requests = b"".join(b"".join(encode_request(API_VERSIONS, 0, number, "test", ask_for_versions)) for number in range(count))
        sender = threading.Thread(target=flood.sendall, args=(requests,))
        sender.start()
        assert alive(cluster.bootstrap_servers)
        for number in range(count):
            answer = read_exactly(flood, int.from_bytes(read_exactly(flood, 4)))
            assert int.from_bytes(answer[:4]) == number
        sender.join()


def test_slow_reader_needs_no_copy_of_its_response() -> None:
    """Unwritten output consists of slices of the log. asyncio's transport copies its input, and gets one piece at a time."""

    async def scenario() -> None:
        async with Cluster(nodes=1, topics={"t": 1}) as cluster:
            host, port = cluster.bootstrap_servers.split(":")
            reader, writer = await asyncio.open_connection(host, int(port), limit=1000)
            with socket.create_connection((host, int(port))) as slow:
                for _ in range(30):
                    writer.write(b"".join(encode_request(PRODUCE, 9, 1, "test", produce_request("t", a_batch(bytes(1_000_000))))))
                    await reader.readexactly(int.from_bytes(await reader.readexactly(4)))
                wanted = FetchPartition(partition=0, fetch_offset=0, partition_max_bytes=1 << 30)
                send(slow, FETCH, 11, FetchRequest(max_wait_ms=0, min_bytes=1, topics=[FetchTopic(topic="t", partitions=[wanted])]))
                (client,) = [
                    client for client in cluster._server.listeners._clients if client.connection.client.client_port == slow.getsockname()[1]
                ]
                while client.connection.writable:
                    await asyncio.sleep(0)
                transport = client._open_transport
                _, most_unpaused = transport.get_write_buffer_limits()  # with fewer bytes, another piece is added
                assert transport.get_write_buffer_size() <= WRITE_BYTES + most_unpaused
                assert client.connection.output_bytes > 10_000_000
                assert sum(len(part) for part in client.connection.output if not isinstance(part, memoryview)) < 100
                response = await asyncio.to_thread(read, slow, FETCH, 11)
                assert len(response.responses[0].partitions[0].records) > 30_000_000
            writer.close()
            await writer.wait_closed()

    with asyncio.Runner(loop_factory=asyncio.SelectorEventLoop) as runner:
        runner.run(scenario())


def test_closed_connection_of_a_stalled_client_is_aborted(loop_factory: Callable[[], asyncio.AbstractEventLoop]) -> None:
    """The last responses fit into the transport's buffer but not into the socket's buffer."""

    async def scenario() -> None:
        async with Cluster(nodes=1) as cluster:
            host, port = cluster.bootstrap_servers.split(":")
            with socket.create_connection((host, int(port))) as deaf:
                while not cluster._server.listeners._clients:
                    await asyncio.sleep(0)
                (client,) = cluster._server.listeners._clients
                while not client._open_transport.get_write_buffer_size():
                    client._open_transport.write(bytes(10_000))
                    await asyncio.sleep(0)
                deaf.sendall(b"\xff\xff\xff\xff")
                while client not in cluster._server.core.timers:
                    await asyncio.sleep(0)
                await cluster.clock.advance(CLOSE_MS / 1000)
                while cluster._server.listeners._clients:
                    await asyncio.sleep(0)
                assert cluster._server.cluster.brokers[1].connections.take(host)

    with asyncio.Runner(loop_factory=loop_factory) as runner:
        runner.run(scenario())


def test_failing_control_call_is_logged_and_raised(
    loop_factory: object, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def fail(*_: object, **__: object) -> None:
        raise RuntimeError("a bug of ours")

    with Cluster(nodes=2, topics={"t": 2}) as cluster, connect(cluster.bootstrap_servers.split(",")[0]) as other:
        for name, control in (("stop", cluster.stop_node), ("start", cluster.start_node)):
            with monkeypatch.context() as patch:
                patch.setattr(Nodes, name, fail)
                with pytest.raises(RuntimeError, match="a bug of ours"):
                    control(2)
            request = FetchRequest(
                max_wait_ms=10,
                min_bytes=1,
                topics=[FetchTopic(topic="t", partitions=[FetchPartition(partition=0, fetch_offset=0, partition_max_bytes=1)])],
            )
            assert ask(other, FETCH, 11, request).responses[0].partitions  # the alarm is set
            with pytest.raises(ConnectionRefusedError):
                connect(cluster.bootstrap_servers.split(",")[1])
            cluster.stop_node(2)
        cluster.start_node(2)
        assert alive(cluster.bootstrap_servers.split(",")[1])
    errors = [entry for entry in caplog.records if entry.exc_info]
    assert [entry.getMessage() for entry in errors] == [f"an internal error while {doing} node 2" for doing in ("stopping", "starting")]


def test_malformed_frame_closes_only_its_connection(loop_factory: object) -> None:
    with Cluster(nodes=1) as cluster, connect(cluster.bootstrap_servers) as bad:
        bad.sendall(b"GET / HTTP/1.1\r\n\r\n")
        assert bad.recv(1) == b""
        assert alive(cluster.bootstrap_servers)


def test_disconnected_client_is_released(loop_factory: Callable[[], asyncio.AbstractEventLoop]) -> None:
    async def scenario() -> None:
        async with Cluster(nodes=1) as cluster:
            running: Server = cluster._server
            reader, writer = await asyncio.open_connection(*cluster.bootstrap_servers.split(":"))
            writer.write(b"".join(encode_request(METADATA, 9, 1, "test", MetadataRequest(topics=None))))
            await reader.readexactly(4)
            assert len(running.listeners._clients) == 1
            writer.close()
            await writer.wait_closed()
            while running.listeners._clients:
                await asyncio.sleep(0)

    with asyncio.Runner(loop_factory=loop_factory) as runner:
        runner.run(scenario())


def test_port_in_use_raises_a_clear_error(loop_factory: object) -> None:
    with socket.create_server(("127.0.0.1", 0)) as other:
        port = other.getsockname()[1]
        cluster = Cluster(nodes=1, settings={"listeners": f"PLAINTEXT://127.0.0.1:{port}"})
        with pytest.raises(OSError, match=f"cannot listen on 127.0.0.1:{port}: Address already in use"):
            cluster.__enter__()


@pytest.mark.parametrize("host", ["nowhere.invalid", "empty..label", "nirgendwö.invalid"])
def test_unknown_host_raises_a_clear_error(host: str, loop_factory: object) -> None:
    with pytest.raises(OSError, match=f"cannot listen on {re.escape(host)}:0"):
        Cluster(nodes=1, settings={"listeners": f"PLAINTEXT://{host}:0"}).__enter__()


def test_invalid_settings_raise_before_start() -> None:
    with pytest.raises(ValueError, match=r"num\.partitions"):
        Cluster(settings={"num.partitions": "many"}).__enter__()


def test_each_listener_advertises_its_own_address(loop_factory: object) -> None:
    settings = {
        "listeners": "INTERNAL://127.0.0.1:0,EXTERNAL://127.0.0.1:0",
        "listener.security.protocol.map": "INTERNAL:PLAINTEXT,EXTERNAL:PLAINTEXT",
        "inter.broker.listener.name": "INTERNAL",
    }
    with Cluster(nodes=2, settings=settings) as cluster:
        with connect(cluster.bootstrap_servers.split(",")[0]) as connection:
            response = ask(connection, METADATA, 9, MetadataRequest(topics=None))
        assert ",".join(f"{broker.host}:{broker.port}" for broker in response.brokers) == cluster.bootstrap_servers


def test_connections_above_the_limit_per_ip_are_closed(loop_factory: object, caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level("INFO"), Cluster(nodes=2, settings={"max.connections.per.ip": 2}) as cluster:
        first_node, second_node = cluster.bootstrap_servers.split(",")
        with connect(first_node) as one, connect(first_node) as two:
            ask(one, METADATA, 9, MetadataRequest(topics=None))
            ask(two, METADATA, 9, MetadataRequest(topics=None))
            with connect(first_node) as three:
                assert ended(three)
            assert alive(second_node)
            one.close()
            two.close()
            while not served(first_node):
                pass
    assert "rejected a connection from 127.0.0.1: connection limit reached (max.connections.per.ip=2)" in caplog.text


def served(address: str) -> bool:
    try:
        return alive(address)
    except (AssertionError, ConnectionResetError):
        return False


def test_connections_above_max_connections_wait(loop_factory: object, caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level("INFO"), Cluster(nodes=1, settings={"max.connections": 1}) as cluster:
        address = cluster.bootstrap_servers
        with connect(address) as one:
            ask(one, METADATA, 9, MetadataRequest(topics=None))
            with connect(address) as two:
                send(two, METADATA, 9, MetadataRequest(topics=None))
                two.settimeout(0.05)
                with pytest.raises(TimeoutError):
                    two.recv(1)
                two.settimeout(5)
                one.close()
                assert read(two, METADATA, 9).brokers
        assert alive(address)
    assert "connection limit reached (max.connections=1); accepting paused" in caplog.text


def test_idle_connections_are_closed(loop_factory: object) -> None:
    with Cluster(nodes=1, topics={"t": 1}, settings={"connections.max.idle.ms": 100}) as cluster:
        with connect(cluster.bootstrap_servers) as writer:
            ask(writer, PRODUCE, 9, produce_request("t", a_batch(bytes(1_000_000))))
        with connect(cluster.bootstrap_servers) as deaf:
            wanted = FetchPartition(partition=0, fetch_offset=0, partition_max_bytes=1 << 20)
            for _ in range(50):
                send(deaf, FETCH, 11, FetchRequest(max_wait_ms=0, min_bytes=1, topics=[FetchTopic(topic="t", partitions=[wanted])]))
            for _ in range(2):  # the second connection is idle for longer than the first
                with connect(cluster.bootstrap_servers) as silent:
                    assert ended(silent)
            received = 0
            with contextlib.suppress(ConnectionResetError):
                while data := deaf.recv(1 << 20):
                    received += len(data)
            assert received < 50_000_000


def test_queued_max_request_bytes_limits_reading(loop_factory: object) -> None:
    with Cluster(nodes=1, topics={"t": 1}, settings={"queued.max.request.bytes": 1000}) as cluster:
        request = b"".join(encode_request(PRODUCE, 9, 1, "test", produce_request("t", a_batch(bytes(1_000_000)))))
        with connect(cluster.bootstrap_servers) as one, connect(cluster.bootstrap_servers) as two:
            one.sendall(request[:300_000])
            assert alive(cluster.bootstrap_servers)
            sender = threading.Thread(target=two.sendall, args=(request,))
            sender.start()
            assert alive(cluster.bootstrap_servers)
            one.sendall(request[300_000:])
            assert [read(connection, PRODUCE, 9).responses[0].partition_responses[0].error_code for connection in (one, two)] == [0, 0]
            sender.join()
