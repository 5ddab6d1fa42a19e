"""The turns of the event loop, and what several of them share."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from pathlib import Path

import pytest

from odradek.broker import Cluster
from odradek.protocol.messages.produce import PRODUCE
from tests.broker.harness import a_batch, produce_request

from .client import ask, connect, read, send

CONNECTIONS = 8


def test_connections_that_are_ready_share_one_write(
    loop_factory: Callable[[], asyncio.AbstractEventLoop], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Requests that wait in several sockets are answered after one write of the log's file."""
    writes: list[int] = []
    write = os.writev

    def writev(descriptor: int, parts: Sequence[memoryview]) -> int:
        writes.append(write(descriptor, parts))
        return writes[-1]

    async def scenario() -> None:
        request = produce_request("t", a_batch(b"v"))
        async with Cluster(nodes=1, topics={"t": 1}, data_dir=tmp_path / "data") as cluster:
            with ExitStack() as stack:
                clients = [stack.enter_context(connect(cluster.bootstrap_servers)) for _ in range(CONNECTIONS)]
                for client in clients:
                    await asyncio.to_thread(ask, client, PRODUCE, 9, request)
                monkeypatch.setattr(os, "writev", writev)
                for client in clients:  # the event loop does not run before all have sent
                    send(client, PRODUCE, 9, request)
                responses = [await asyncio.to_thread(read, client, PRODUCE, 9) for client in clients]
        appended = [each.responses[0].partition_responses[0] for each in responses]
        assert {each.error_code for each in appended} == {0}
        assert sorted(each.base_offset for each in appended) == list(range(CONNECTIONS, 2 * CONNECTIONS))

    with asyncio.Runner(loop_factory=loop_factory) as runner:
        runner.run(scenario())
    assert len(writes) == 1
