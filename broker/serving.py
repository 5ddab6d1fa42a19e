"""A cluster in a process of its own, which `odradek serve` runs until a signal ends it."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Sequence
from contextlib import AsyncExitStack
from typing import TYPE_CHECKING

from . import logs
from .network.server import Server, new_event_loop
from .settings.cluster_config import ClusterConfig, TopicSpec
from .signals import end_by_signals

if TYPE_CHECKING:
    from .control_listener.address import ControlAddress
    from .snapshots.cluster import State
    from .tracing import Tracer

log = logging.getLogger("kafka.server.KafkaServer")

Ready = Callable[[Server, str | None], None]
"""A function that is called with the cluster and the address of its control listener once both accept connections."""


def run(
    config: ClusterConfig,
    *,
    topics: Sequence[TopicSpec] = (),
    state: State | None = None,
    control: ControlAddress | None = None,
    trace: Tracer | None = None,
    on_ready: Ready,
) -> None:
    """Runs a cluster, with a saved state if there is one and with `control` its control listener, until SIGTERM or SIGINT.

    `trace` prints its requests.

    Raises OSError if an address is in use.
    """
    with asyncio.Runner(loop_factory=new_event_loop) as runner:
        runner.run(_serve(config, topics, state, control, trace, on_ready))


async def _serve(
    config: ClusterConfig,
    topics: Sequence[TopicSpec],
    state: State | None,
    control: ControlAddress | None,
    trace: Tracer | None,
    on_ready: Ready,
) -> None:
    ended = asyncio.Event()
    end_by_signals(asyncio.get_running_loop(), ended)
    async with AsyncExitStack() as stack:
        server = Server(config, topics, state=state)
        await server.start()
        stack.push_async_callback(server.stop)
        address = None
        if control is not None:
            from .control_listener.served import serve_controls  # imported only if needed, because a start should be fast

            listener = await serve_controls(server, control)
            stack.push_async_callback(listener.stop)
            address = listener.address
        logs.started([node.node_id for node in config.nodes])
        on_ready(server, address)
        if trace is not None:
            trace.start(server)
            stack.push_async_callback(trace.stop)
        await ended.wait()
    log.info("shut down completed")
