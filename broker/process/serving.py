"""A cluster in a process of its own, which `odradek serve` runs until a signal ends it."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Iterator, Sequence
from contextlib import AsyncExitStack, contextmanager
from typing import TYPE_CHECKING

from .. import logs
from ..network.event_loop import new_event_loop
from ..network.server import Server
from ..settings.cluster_config import ClusterConfig, TopicSpec
from .signals import end_by_signals

if TYPE_CHECKING:
    from pathlib import Path

    from ..controls.http.access import ControlAddress
    from ..snapshots.cluster import State
    from ..wire.capture_options import CaptureOptions
    from .tracing import Tracer

log = logging.getLogger("kafka.server.KafkaServer")

Ready = Callable[[Server, str | None], None]
"""A function that is called with the cluster and the address of its control listener once both accept connections."""


def run(
    config: ClusterConfig,
    *,
    topics: Sequence[TopicSpec] = (),
    state: State | None = None,
    data: Sequence[Path] = (),
    control: ControlAddress | None = None,
    capture: CaptureOptions | None = None,
    command: Sequence[str] = (),
    trace: Tracer | None = None,
    on_ready: Ready,
) -> int:
    """Runs a cluster until SIGTERM or SIGINT, or as long as `command` runs. Returns the exit code: that of the command, otherwise 0.

    It starts with a saved `state` if there is one, and with the seed data of the files `data`. With `control` it has a control listener,
    `trace` prints its requests, and with `capture` it writes a capture. Raises OSError if an address is in use, or the command cannot be
    started or the capture written, and InvalidConfig for invalid seed data.
    """
    with asyncio.Runner(loop_factory=new_event_loop) as runner:
        return runner.run(_serve(config, topics, state, data, control, capture, command, trace, on_ready))


@contextmanager
def seed_progress(data: Sequence[Path]) -> Iterator[Callable[[int], object] | None]:
    """Provides the function that shows how many bytes of seed data have been read."""
    if not data:
        yield None
        return
    from .progress import MEGABYTES, Progress  # imported only if needed, because a start should be fast

    with Progress(MEGABYTES, sum(file.stat().st_size for file in data if file.is_file())) as progress:
        yield progress.advance


async def _serve(
    config: ClusterConfig,
    topics: Sequence[TopicSpec],
    state: State | None,
    data: Sequence[Path],
    control: ControlAddress | None,
    capture: CaptureOptions | None,
    command: Sequence[str],
    trace: Tracer | None,
    on_ready: Ready,
) -> int:
    ended = asyncio.Event()
    end_by_signals(asyncio.get_running_loop(), ended)
    async with AsyncExitStack() as stack:
        server = Server(config, topics, state=state, data=data)
        if capture is not None:
            from ..network.capture import Capture

            server.capture = Capture(capture)
        with seed_progress(data) as server.on_seed_bytes:
            await server.start()
        stack.push_async_callback(server.stop)
        address = None
        if control is not None:
            from ..controls.http.listener import serve_controls  # imported only if needed, because a start should be fast

            listener = await serve_controls(server, control)
            stack.push_async_callback(listener.stop)
            address = listener.address
        logs.started([node.node_id for node in config.nodes])
        on_ready(server, address)
        if trace is not None:
            trace.start(server)
            stack.push_async_callback(trace.stop)
        if command:
            from .accompanied import run_beside  # imported only if needed, because a start should be fast

            code = await run_beside(command, {"BOOTSTRAP_SERVERS": server.bootstrap_servers, "ODRADEK_CONTROL": address}, ended)
        else:
            code = 0
            await ended.wait()
    log.info("shut down completed")
    return code
