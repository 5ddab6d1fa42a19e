"""Controls take more than one turn of the event loop when they wait until the cluster reaches a state, or make a long result.

A wait is woken by turns in which the cluster may have changed. A long result is made in turns, so that it does not delay clients.
"""

from __future__ import annotations

import time
from collections.abc import Awaitable, Callable, Iterable
from typing import TYPE_CHECKING, Any, TypeVar, overload

from ..control_errors import ControlTimeout, InvalidControl
from .declaration import Blocking, Controls
from .parameters import TimeoutS

if TYPE_CHECKING:
    import asyncio

    from ..network.server import Server

T = TypeVar("T")

DEFAULT_TIMEOUT_S = 10.0


async def until(server: Callable[[], Server], reached: Callable[[], T | None], missing: Callable[[], str], timeout_s: float) -> T:
    """Returns the first result of `reached` that is not None. It is called at once and after every turn.

    Raises ControlTimeout with the text of `missing` after `timeout_s` seconds of the wall clock, and InvalidControl if that is negative.
    """
    import asyncio

    _check_timeout(timeout_s)
    try:
        async with asyncio.timeout(timeout_s):
            while (result := reached()) is None:
                await server().driver.next_change()
            return result
    except TimeoutError:
        raise ControlTimeout(f"{missing()} (waited {timeout_s:g} s)") from None


async def in_turns(items: Iterable[T]) -> list[T]:
    """Returns the items as a list. Other work gets a turn whenever making them has taken TURN_S."""
    import asyncio

    from ..scheduling.turns import TurnTime

    made: list[T] = []
    turn = TurnTime(asyncio.get_running_loop().time)
    for item in items:
        made.append(item)
        if turn.is_over:
            await turn.begin_next()
    return made


class WaitControls(Controls):
    """Waiting for a condition that the user states as a function."""

    @overload
    async def wait_until(self, predicate: Callable[[], Awaitable[T]], *, timeout_s: TimeoutS = ...) -> T: ...

    @overload
    async def wait_until(self, predicate: Callable[[], T], *, timeout_s: TimeoutS = ...) -> T: ...

    async def wait_until(self, predicate: Callable[[], Any], *, timeout_s: TimeoutS = DEFAULT_TIMEOUT_S) -> Any:
        """Returns the first true result of `predicate`, a function or coroutine function that is called whenever the cluster changes.

        Raises ControlTimeout, a TimeoutError, if the result is not true within the time.
        """
        import asyncio

        _check_timeout(timeout_s)
        _check_predicate(predicate)
        try:
            async with asyncio.timeout(timeout_s):
                while True:
                    changed = self._server.driver.next_change()
                    result = predicate()
                    if isinstance(result, Awaitable):
                        result = await result
                    if result:
                        return result
                    await changed
        except TimeoutError:
            raise _not_true(predicate, timeout_s) from None


class BlockingWaitControls(Blocking):
    """Waiting in other threads. The function is called in the caller's thread, so that it may call the cluster's methods."""

    def wait_until(self, predicate: Callable[[], T], *, timeout_s: TimeoutS = DEFAULT_TIMEOUT_S) -> T:
        """Returns the first true result of `predicate`, a function that is called whenever the cluster changes.

        Raises ControlTimeout, a TimeoutError, if the result is not true within the time.
        """
        _check_timeout(timeout_s)
        _check_predicate(predicate)
        end_s = time.monotonic() + timeout_s
        while True:
            changed = self._run(_next_change(self._controls))
            if result := predicate():
                return result
            if not self._run(_is_done(changed, end_s - time.monotonic())):
                raise _not_true(predicate, timeout_s)


async def _next_change(controls: Controls) -> asyncio.Future[None]:
    return controls._server.driver.next_change()


async def _is_done(changed: asyncio.Future[None], timeout_s: float) -> bool:
    """Waits for a future. Returns False if it is not done within the time."""
    import asyncio

    await asyncio.wait([changed], timeout=max(0, timeout_s))
    return changed.done()


def _check_timeout(timeout_s: float) -> None:
    if isinstance(timeout_s, bool) or not isinstance(timeout_s, int | float) or not timeout_s >= 0:
        raise InvalidControl("timeout_s", f"must be 0 or more seconds, not {timeout_s!r}")


def _check_predicate(predicate: object) -> None:
    if not callable(predicate):
        raise InvalidControl("predicate", f"must be a function, which is called again and again, not {predicate!r}")


def _not_true(predicate: Callable[..., object], timeout_s: float) -> ControlTimeout:
    name = getattr(predicate, "__qualname__", repr(predicate))
    return ControlTimeout(f"{name} has not returned a true value (waited {timeout_s:g} s)")
