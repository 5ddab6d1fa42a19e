"""`serve --trace` beside a reader that is slow or has gone."""

from __future__ import annotations

import asyncio
import threading
from dataclasses import replace

import pytest

from odradek.broker.network.server import Server, ServerOptions
from odradek.broker.process.tracing import Tracer
from odradek.broker.settings.cluster_config import cluster_of
from odradek.broker.settings.record_limits import RecordLimits
from odradek.broker.wire.filters import parse_filter

LISTENER = {"listeners": "PLAINTEXT://127.0.0.1:0"}


async def traced(tracer: Tracer, limits: RecordLimits) -> Server:
    server = Server(ServerOptions(replace(cluster_of([LISTENER], nodes=1), record=limits)))
    await server.start()
    tracer.start(server)
    return server


def test_slow_reader_delays_only_itself() -> None:
    """The broker goes on while the reader blocks, and the reader learns how much it has missed."""
    written: list[str] = []
    blocked, free = threading.Event(), threading.Event()

    def write(text: str) -> None:
        written.append(text)
        blocked.set()
        assert free.wait(30)

    async def run() -> None:
        tracer = Tracer(parse_filter(""), verbose=False, as_json=False, write=write)
        server = await traced(tracer, RecordLimits(exchanges=20))
        server.core.tell("control", "first")
        await asyncio.to_thread(blocked.wait, 30)
        for number in range(100):
            server.core.tell("control", f"number {number}")
            await asyncio.sleep(0)
        free.set()
        await tracer.stop()
        await server.stop()

    asyncio.run(run())
    lines = "".join(written).splitlines()
    assert lines[0].endswith("control: first")
    assert lines[1] == "... 80 entries are missing, because the record keeps only the latest ones"
    assert [line.rpartition(" ")[2] for line in lines[2:]] == [str(number) for number in range(80, 100)]


@pytest.mark.parametrize("error", [BrokenPipeError(), OSError("gone")])
def test_reader_that_has_gone_ends_the_trace(error: OSError) -> None:
    failed = threading.Event()

    def write(text: str) -> None:
        failed.set()
        raise error

    async def run() -> None:
        tracer = Tracer(parse_filter(""), verbose=False, as_json=True, write=write)
        server = await traced(tracer, RecordLimits())
        server.core.tell("control", "first")
        await asyncio.to_thread(failed.wait, 30)
        server.core.tell("control", "second")
        await tracer.stop()
        await server.stop()

    asyncio.run(run())
