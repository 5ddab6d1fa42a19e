"""Hosts, latency, and what goes wrong on the network."""

from __future__ import annotations

import asyncio
import time

import pytest

from odradek import Simulation

from .programs import echo, run, until


async def _talk(host: str, port: int, data: bytes) -> tuple[bytes, float]:
    reader, writer = await asyncio.open_connection(host, port)
    began_s = time.monotonic()
    writer.write(data)
    try:
        return await reader.readexactly(len(data)), time.monotonic() - began_s
    finally:
        writer.close()


async def _latency(sim: Simulation) -> None:
    sim.network(latency=(0.1, 0.1), splits=1)
    server = await asyncio.start_server(echo, "billing", 8080)
    data = bytes(200_000)
    answer, took_s = await _talk("billing", 8080, data)
    assert answer == data
    assert took_s >= 0.2
    server.close()
    with pytest.raises(ConnectionRefusedError):
        await _talk("billing", 8080, b"")


def test_bytes_take_the_latency_both_ways() -> None:
    run(_latency)


async def _addresses(sim: Simulation) -> None:
    loop = asyncio.get_running_loop()
    shop, again, other = [(await loop.getaddrinfo(host, 80))[0][4] for host in ("shop", "shop", "billing")]
    assert shop == again != other
    first = await asyncio.start_server(echo, "shop", 80)
    with pytest.raises(OSError, match="address already in use"):
        await asyncio.start_server(echo, "shop", 80)
    free = await asyncio.start_server(echo, "shop", 0)
    assert first.is_serving() and free.sockets[0].getsockname()[1] != 80
    assert (await _talk("shop", 80, b"x"))[0] == b"x"


def test_invented_hosts_have_addresses_and_ports() -> None:
    run(_addresses)


async def _resets(sim: Simulation) -> int:
    await asyncio.start_server(echo, "shop", 80)
    sim.network(resets=0.3)
    failed = 0
    for _ in range(50):
        try:
            await _talk("shop", 80, b"x")
        except (ConnectionResetError, asyncio.IncompleteReadError):
            failed += 1
    assert len(sim.faults.happened) == failed
    return failed


def test_resets_end_their_share_of_connections() -> None:
    assert 10 < run(_resets) < 40


async def _half_open(sim: Simulation) -> None:
    await asyncio.start_server(echo, "shop", 80)
    sim.network(half_open=1)
    with pytest.raises(TimeoutError):
        async with asyncio.timeout(1000):
            await _talk("shop", 80, b"xy")


def test_half_open_connection_stays_silent() -> None:
    run(_half_open)


async def _partition(sim: Simulation) -> None:
    async def serve() -> None:
        await (await asyncio.start_server(echo, "shop", 80)).serve_forever()

    sim.start(serve, "shop")
    await asyncio.sleep(1)
    reader, writer = await asyncio.open_connection("shop", 80)
    sim.partition("test", "shop", for_s=60)
    await asyncio.sleep(1)
    writer.write(b"x")
    connecting = asyncio.create_task(asyncio.open_connection("shop", 80))
    assert await reader.readexactly(1) == b"x"
    assert sim.now_s > 60
    (await connecting)[1].close()
    writer.close()
    assert [fault.text for fault in sim.faults.happened] == ["test and shop are separated for 60 s"]


def test_partition_holds_segments_and_connections_back() -> None:
    run(_partition)


async def _slow_reader(sim: Simulation) -> None:
    paused: list[bool] = []

    class Slow(asyncio.Protocol):
        def connection_made(self, transport: asyncio.BaseTransport) -> None:
            assert isinstance(transport, asyncio.Transport)
            transport.pause_reading()
            asyncio.get_running_loop().call_later(10, transport.resume_reading)

    class Writer(asyncio.Protocol):
        def pause_writing(self) -> None:
            paused.append(True)

        def resume_writing(self) -> None:
            paused.append(False)

    loop = asyncio.get_running_loop()
    await loop.create_server(Slow, "shop", 80)
    transport, _ = await loop.create_connection(Writer, "shop", 80)
    transport.write(bytes(100_000))
    assert paused == [True]
    await until(lambda: len(paused) > 1)
    assert sim.now_s >= 10


def test_writer_waits_for_a_slow_reader() -> None:
    run(_slow_reader)


@pytest.mark.parametrize("given", [{"latency": (0.2, 0.1)}, {"resets": 1.5}, {"splits": -1}])
def test_conditions_that_are_impossible_are_refused(given: dict[str, object]) -> None:
    async def main(sim: Simulation) -> None:
        with pytest.raises(ValueError, match=f"{next(iter(given))} must be a "):
            sim.network(**given)  # type: ignore[arg-type]

    run(main)
