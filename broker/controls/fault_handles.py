"""The handles that `cluster.fault(...)` returns. They count the hits of a fault, wait for hits, and remove it."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Coroutine, Generator, Sequence
from functools import wraps
from types import TracebackType
from typing import TYPE_CHECKING, Any, Concatenate, ParamSpec, Self, TypeVar

from ..faults.options import Exchange
from ..frozen_data import FrozenData
from ..plurals import counted
from .declaration import checking
from .parameters import TimeoutS
from .waiting import DEFAULT_TIMEOUT_S, until

if TYPE_CHECKING:
    from ..faults.fault import Fault
    from ..network.server import Server

P = ParamSpec("P")
R = TypeVar("R")


class FaultInfo(FrozenData):
    """A fault: its number, its options, and what it has hit. `missed` says why other requests were not hit."""

    fault: int
    options: str
    hits: int
    exchanges: list[Exchange]
    missed: str
    removed: bool


class AnyFaultHandle:
    """The part that the handles of both kinds of clusters have in common."""

    def __init__(self, server: Callable[[], Server], fault: Fault) -> None:
        self._server = server
        self._fault = fault
        self._faults = server().core.faults

    @property
    def number(self) -> int:
        """The number of the fault, by which HTTP and the command line name it."""
        return self._fault.number

    @property
    def hits(self) -> int:
        """How many requests or connections the fault has hit."""
        return self._fault.hits

    @property
    def exchanges(self) -> Sequence[Exchange]:
        """The latest requests that the fault has hit, at most 1000 of them, in order."""
        return self._read(lambda: list(self._fault.exchanges))

    def described(self) -> FaultInfo:
        """Returns the state of the fault as plain values."""
        return self._read(self._info)

    def __str__(self) -> str:
        return self._read(self._text)

    def __repr__(self) -> str:
        return f"<{self}>"

    def _info(self) -> FaultInfo:
        from ..faults.explanation import describe_misses

        fault = self._fault
        self._faults.settle()
        why = describe_misses(fault, self._faults.cluster.topics)
        return FaultInfo(fault.number, fault.text, fault.hits, list(fault.exchanges), why, fault.removed)

    def _text(self) -> str:
        from ..faults.explanation import describe_fault

        self._faults.settle()
        return describe_fault(self._fault, self._faults.cluster.topics)

    def _read(self, read: Callable[[], R]) -> R:
        """Returns the result of a function that reads the state of the fault."""
        return read()


class AsyncFaultHandle(AnyFaultHandle):
    """A fault of an `AsyncCluster`."""

    @checking
    async def wait(self, hits: int = 1, timeout_s: TimeoutS = DEFAULT_TIMEOUT_S) -> None:
        """Returns when the fault has hit this many requests. Raises ControlTimeout, which says why others did not match."""
        fault = self._fault

        def missing() -> str:
            return f"expected {counted(hits, 'hit')} of {self._text()}"

        await until(self._server, lambda: True if fault.hits >= hits else None, missing, timeout_s)

    async def remove(self) -> None:
        """Removes the fault and serves the requests that it holds. Does nothing if it has been removed."""
        server = self._server()
        with server.control_turn("removing a fault"):
            server.core.faults.remove(self._fault)


class FaultHandle(AnyFaultHandle):
    """A fault of a `Cluster`. As a context manager it is removed at the end of the block."""

    def __init__(self, handle: AsyncFaultHandle, run: Callable[[Coroutine[Any, Any, Any]], Any]) -> None:
        super().__init__(handle._server, handle._fault)  # noqa: SLF001  (the same fault)
        self._handle = handle
        self._run = run

    def wait(self, hits: int = 1, timeout_s: TimeoutS = DEFAULT_TIMEOUT_S) -> None:
        """Returns when the fault has hit this many requests. Raises ControlTimeout, which says why others did not match."""
        self._run(self._handle.wait(hits, timeout_s))

    def remove(self) -> None:
        """Removes the fault and serves the requests that it holds. Does nothing if it has been removed."""
        self._run(self._handle.remove())

    def _read(self, read: Callable[[], R]) -> R:
        """Runs the function on the event loop, unless the cluster is not running or this is its own thread."""

        async def on_loop() -> R:
            return read()

        try:
            result: R = self._run(on_loop())
        except ValueError:
            return read()
        return result

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None) -> None:
        self.remove()


class Adding(Awaitable[AsyncFaultHandle]):
    """The call of a control that adds a fault: `await` returns the handle, and `async with` removes the fault at the end of the block."""

    def __init__(self, adding: Coroutine[Any, Any, AsyncFaultHandle]) -> None:
        self.coroutine = adding

    def __await__(self) -> Generator[Any, None, AsyncFaultHandle]:
        return self.coroutine.__await__()

    async def __aenter__(self) -> AsyncFaultHandle:
        self._handle = await self.coroutine
        return self._handle

    async def __aexit__(self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None) -> None:
        await self._handle.remove()


def adding(method: Callable[Concatenate[Any, P], Coroutine[Any, Any, AsyncFaultHandle]]) -> Callable[Concatenate[Any, P], Adding]:
    """Returns a method of an asynchronous cluster whose result can be awaited and entered."""

    @wraps(method)
    def call(self: Any, /, *args: P.args, **kwargs: P.kwargs) -> Adding:
        return Adding(method(self, *args, **kwargs))

    return call


def blocking_fault(method: Callable[Concatenate[Any, P], Adding]) -> Callable[Concatenate[Any, P], FaultHandle]:
    """Returns the method of a blocking cluster that adds the same fault."""

    @wraps(method)
    def call(self: Any, /, *args: P.args, **kwargs: P.kwargs) -> FaultHandle:
        return FaultHandle(self._run(method(self._controls, *args, **kwargs).coroutine), self._run)

    return call
