"""A cluster on an event loop that is asked for connections by `loop.create_server`."""

from __future__ import annotations

import asyncio
from asyncio.base_events import BaseEventLoop
from collections.abc import Callable, Coroutine
from typing import Any

import pytest

from odradek import AsyncCluster, InvalidControl
from odradek.broker.network import listeners
from odradek.broker.network.edges import Edge, edge_of
from odradek.broker.network.loop_acceptor import LoopAcceptor, LoopPorts
from odradek.protocol.frame import encode_request
from odradek.protocol.messages.api_versions import API_VERSIONS, ApiVersionsRequest

REQUEST = b"".join(encode_request(API_VERSIONS, 4, 1, "test", ApiVersionsRequest(client_software_name="test", client_software_version="1")))


@pytest.fixture(autouse=True)
def asks_the_loop(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(listeners, "edge_of", lambda loop: Edge(LoopPorts, LoopAcceptor))


OPENED: list[asyncio.StreamWriter] = []


def run(main: Callable[[], Coroutine[Any, Any, None]]) -> None:
    """Runs a coroutine function and closes its connections."""

    async def closing() -> None:
        try:
            await main()
        finally:
            for writer in OPENED:
                writer.close()
            OPENED.clear()
            await asyncio.sleep(0)

    asyncio.run(closing())


class Client:
    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.reader, self.writer = reader, writer
        OPENED.append(writer)

    @classmethod
    async def connect(cls, cluster: AsyncCluster, node: int = 1) -> Client:
        host, port = cluster.bootstrap_servers.split(",")[node - 1].split(":")
        return cls(*await asyncio.open_connection(host, int(port)))

    async def ask(self) -> bytes:
        self.writer.write(REQUEST)
        return await self.reader.readexactly(int.from_bytes(await self.reader.readexactly(4), "big"))


async def nothing_in(task: asyncio.Task[Any]) -> bool:
    return not (await asyncio.wait([task], timeout=0.05))[0]


def test_edge_of_a_loop_that_watches_no_sockets() -> None:
    loop = BaseEventLoop()
    assert edge_of(loop).acceptor is LoopAcceptor
    loop.close()


async def _answers_and_ends() -> None:
    async with AsyncCluster(2) as cluster:
        clients = [await Client.connect(cluster, node) for node in (1, 2)]
        for client in clients:
            assert await client.ask()
        await cluster.stop_node(1)
        assert not await clients[0].reader.read()
        with pytest.raises(OSError):
            await Client.connect(cluster, 1)
        await cluster.start_node(1)
        again = await Client.connect(cluster, 1)
        assert await again.ask()
        assert await clients[1].ask()
    assert not await again.reader.read()


def test_nodes_answer_stop_and_start_again() -> None:
    run(_answers_and_ends)


async def _waits_for_a_place() -> None:
    async with AsyncCluster(1, settings={"max.connections": 1}) as cluster:
        first, second, left = [await Client.connect(cluster) for _ in range(3)]
        assert await first.ask()
        asking = asyncio.create_task(second.ask())
        assert await nothing_in(asking)
        left.writer.close()
        first.writer.close()
        assert await asking


def test_connection_waits_while_max_connections_is_reached() -> None:
    run(_waits_for_a_place)


async def _waits_for_a_paused_node() -> None:
    async with AsyncCluster(1) as cluster:
        before = await Client.connect(cluster)
        assert await before.ask()
        await cluster.pause_node(1)
        later = await Client.connect(cluster)
        asking = asyncio.create_task(later.ask())
        assert await nothing_in(asking)
        await cluster.resume_node(1)
        assert await asking
        assert await before.ask()


def test_connection_waits_while_the_node_is_paused() -> None:
    run(_waits_for_a_paused_node)


async def _refuses_by_a_fault() -> None:
    async with AsyncCluster(1) as cluster:
        fault = await cluster.fault(refuse=True)
        with pytest.raises(OSError):
            await Client.connect(cluster)
        await fault.remove()
        await asyncio.sleep(0)
        for _ in range(100):
            try:
                client = await Client.connect(cluster)
                break
            except OSError:
                await asyncio.sleep(0)
        assert await client.ask()


def test_fault_refuses_connections_until_it_is_removed() -> None:
    run(_refuses_by_a_fault)


async def _resets_and_adds() -> None:
    async with AsyncCluster(1) as cluster:
        client = await Client.connect(cluster)
        await client.ask()
        await cluster.reset()
        with pytest.raises((ConnectionError, asyncio.IncompleteReadError)):
            await client.ask()
        assert await (await Client.connect(cluster)).ask()
        assert await cluster.add_node() == 2
        assert await (await Client.connect(cluster, 2)).ask()
        await cluster.remove_node(2)
        with pytest.raises(InvalidControl):
            await cluster.stop_node(2)


def test_cluster_is_reset_and_gets_another_node() -> None:
    run(_resets_and_adds)


async def _needs_a_port() -> None:
    async def create_server(*_: Any, **__: Any) -> Any:
        return type("Server", (), {"sockets": [type("Socket", (), {"getsockname": lambda self: ("h", 0)})()], "close": lambda self: None})()

    asyncio.get_running_loop().create_server = create_server  # type: ignore[method-assign]
    with pytest.raises(OSError, match="the event loop chooses no free port; name one: "):
        await AsyncCluster(1).start()


def test_loop_without_free_ports_says_how_to_name_one() -> None:
    with asyncio.Runner(loop_factory=asyncio.SelectorEventLoop) as runner:
        runner.run(_needs_a_port())
