"""Runs a command beside a cluster, for `odradek serve --exec`: the cluster lives as long as the command."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Mapping, Sequence
from contextlib import suppress

SIGNALLED = 128
"""The exit code of a command that a signal has ended is this number plus the signal's, as in a shell."""


async def run_beside(command: Sequence[str], variables: Mapping[str, str | None], ended: asyncio.Event) -> int:
    """Runs a command with additional environment variables and returns its exit code.

    If `ended` is set meanwhile, by a signal to this process, the command gets SIGTERM. Raises OSError if it cannot be started.
    """
    environment = os.environ | {name: value for name, value in variables.items() if value is not None}
    try:
        process = await asyncio.create_subprocess_exec(*command, env=environment)
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
