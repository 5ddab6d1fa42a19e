"""A cluster in a process of its own, which `odradek serve` runs until a signal or, with `--exec`, a command beside it ends.

SIGTERM and SIGINT: the first one ends the cluster in order, the second one ends the process at once. With `--exit-with-parent`, the end of
the standard input ends the cluster in order, too.
"""

from __future__ import annotations

import asyncio
import logging
import os
import signal
from asyncio.subprocess import DEVNULL
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AsyncExitStack, contextmanager, suppress
from types import FrameType
from typing import TYPE_CHECKING

from .. import logs
from ..network.driver import new_event_loop
from ..network.server import Server, ServerOptions
from .garbage import LOOK_S, OldObjects, begin_serving

if TYPE_CHECKING:
    from pathlib import Path

    from .tracing import Tracer

log = logging.getLogger("kafka.server.KafkaServer")

SIGNALLED = 128
"""The exit code of a process that a signal has ended is this number plus the signal's, as in a shell."""
Ready = Callable[[Server, str | None], None]
"""A function that is called with the cluster and the address of its control listener once both accept connections."""


def run(
    options: ServerOptions,
    *,
    command: Sequence[str] = (),
    trace: Tracer | None = None,
    exit_with_parent: bool = False,
    on_ready: Ready,
) -> int:
    """Runs a cluster until SIGTERM or SIGINT, or as long as `command` runs. Returns the exit code: that of the command, otherwise 0.

    `trace` prints its requests. With `exit_with_parent`, the end of the standard input has the effect of SIGTERM. Raises OSError if an
    address is in use, or the command cannot be started or the capture written, and InvalidConfig for invalid seed data.
    """
    with asyncio.Runner(loop_factory=new_event_loop) as runner:
        return runner.run(_serve(options, command, trace, exit_with_parent, on_ready))


@contextmanager
def seed_progress(data: Sequence[Path]) -> Iterator[Callable[[int], object] | None]:
    """Provides the function that shows how many bytes of seed data have been read."""
    if not data:
        yield None
        return
    from .terminal import MEGABYTES, ProgressBar

    with ProgressBar(MEGABYTES, sum(file.stat().st_size for file in data if file.is_file())) as progress:
        yield progress.advance


async def _serve(options: ServerOptions, command: Sequence[str], trace: Tracer | None, exit_with_parent: bool, on_ready: Ready) -> int:
    loop, ended = asyncio.get_running_loop(), asyncio.Event()
    end_by_signals(loop, ended)
    if exit_with_parent:
        from .parent import end_with_parent

        end_with_parent(lambda: loop.call_soon_threadsafe(ended.set))
    async with AsyncExitStack() as stack:
        server = Server(options)
        with seed_progress(options.data) as server.on_seed_bytes:
            await server.start()
        stack.push_async_callback(server.stop)
        address = None
        if options.control is not None:
            from ..controls.http.listener import serve_controls

            listener = await serve_controls(server, options.control)
            stack.push_async_callback(listener.stop)
            address = listener.address
        if options.schema_registry is not None:
            from ..registry_edge.listener import serve_schema_registry

            registry = await serve_schema_registry(server, options.schema_registry)
            stack.push_async_callback(registry.stop)
        logs.log_start([node.node_id for node in options.config.nodes])
        on_ready(server, address)
        begin_serving()
        collecting = asyncio.create_task(_collect_old_objects(server))
        stack.callback(collecting.cancel)
        if trace is not None:
            trace.start(server)
            stack.push_async_callback(trace.stop)
        if command:
            registry_url = server.schema_registry_url
            variables = {"BOOTSTRAP_SERVERS": server.bootstrap_servers, "ODRADEK_CONTROL": address, "SCHEMA_REGISTRY_URL": registry_url}
            code = await run_beside(command, variables, ended, has_input=not exit_with_parent)
        else:
            code = 0
            await ended.wait()
    log.info("shut down completed")
    return code


async def _collect_old_objects(server: Server) -> None:
    old_objects = OldObjects(lambda: server.driver.rest_s)
    while True:
        await asyncio.sleep(LOOK_S)
        old_objects.look()


async def run_beside(command: Sequence[str], variables: Mapping[str, str | None], ended: asyncio.Event, *, has_input: bool) -> int:
    """Runs a command with additional environment variables and returns its exit code.

    If `ended` is set meanwhile, by a signal to this process, the command gets SIGTERM. With `has_input`, it reads the standard input of
    this process. Raises OSError if it cannot be started.
    """
    environment = os.environ | {name: value for name, value in variables.items() if value is not None}
    try:
        process = await asyncio.create_subprocess_exec(*command, env=environment, stdin=None if has_input else DEVNULL)
    except OSError as error:  # which names no file in uvloop
        raise OSError(error.errno, error.strerror, command[0]) from None
    waiting = [asyncio.ensure_future(process.wait()), asyncio.ensure_future(ended.wait())]
    await asyncio.wait(waiting, return_when=asyncio.FIRST_COMPLETED)
    if process.returncode is None:
        with suppress(ProcessLookupError):
            process.terminate()
    code = await process.wait()
    waiting[1].cancel()
    return code if code >= 0 else SIGNALLED - code


def end_by_signals(loop: asyncio.AbstractEventLoop, ended: asyncio.Event) -> None:
    """Sets `ended` at the first SIGTERM or SIGINT. The second one ends the process at once, even if the event loop is blocked."""

    def end(_number: int, _frame: object) -> None:
        _handle_signals(lambda number, _frame: os._exit(SIGNALLED + number))
        loop.call_soon_threadsafe(ended.set)

    _handle_signals(end)


def _handle_signals(handler: Callable[[int, FrameType | None], object]) -> None:
    # The event loop's own handlers would need a loop that is not blocked, and the system's default handlers do nothing in the first
    # process of a container (PID 1).
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, handler)
