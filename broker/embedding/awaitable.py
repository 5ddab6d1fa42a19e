"""Awaiting the methods of a cluster on another event loop than the cluster's: `Cluster.awaitable`.

A coroutine of the cluster runs on the cluster's loop, in its thread, and the caller awaits its result on a loop of asyncio or trio. Objects
with coroutines of their own, such as `clock`, `topic("orders")` and the handles of faults, are wrapped in the same way.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine, Generator
from concurrent.futures import Future
from functools import wraps
from inspect import iscoroutinefunction, isroutine
from types import TracebackType
from typing import Any, TypeVar

from ..controls.declaration import Part
from ..controls.fault_handles import Adding, AsyncFaultHandle
from .group import AsyncGroup
from .topic import AsyncTopic

R = TypeVar("R")
Submit = Callable[[Coroutine[Any, Any, Any]], "Future[Any]"]
_WRAPPED = Part, AsyncTopic, AsyncGroup, AsyncFaultHandle, Adding


class OnOtherLoops:
    """An object of a cluster. `submit` runs a coroutine on the cluster's loop and returns the future of its result."""

    def __init__(self, target: Any, submit: Submit) -> None:
        self._target = target
        self._submit = submit

    def __repr__(self) -> str:
        return repr(self._target)

    def __str__(self) -> str:
        return str(self._target)

    def __getattr__(self, name: str) -> Any:
        """Returns an attribute of the object. A method calls the object's method on the cluster's loop."""
        value = getattr(self._target, name)
        return self._method(value) if isroutine(value) else self._wrap(value)

    def __await__(self) -> Generator[Any, None, Any]:
        return self._await(_result(self._target)).__await__()

    async def __aenter__(self) -> Any:
        return await self._await(self._target.__aenter__())

    async def __aexit__(self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None) -> Any:
        return await self._await(self._target.__aexit__(kind, error, traceback))

    def _method(self, method: Callable[..., Any]) -> Callable[..., Any]:
        @wraps(method)
        def call(*args: Any, **kwargs: Any) -> Any:
            if iscoroutinefunction(method):
                return self._await(method(*args, **kwargs))
            return self._wrap(self._submit(_call(method, *args, **kwargs)).result())

        return call

    async def _await(self, coroutine: Coroutine[Any, Any, Any]) -> Any:
        return self._wrap(await _wait_for(self._submit(coroutine)))

    def _wrap(self, value: Any) -> Any:
        if isinstance(value, list):
            return [self._wrap(each) for each in value]
        return OnOtherLoops(value, self._submit) if isinstance(value, _WRAPPED) else value


async def _wait_for(future: Future[R]) -> R:
    """Returns the result of a future that another thread completes. Raises RuntimeError outside of asyncio and trio."""
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        from trio.to_thread import run_sync  # type: ignore[import-not-found, unused-ignore]  # no part of odradek's dependencies

        return await run_sync(future.result)  # type: ignore[no-any-return, unused-ignore]
    return await asyncio.wrap_future(future)


async def _call(method: Callable[..., R], *args: Any, **kwargs: Any) -> R:
    return method(*args, **kwargs)


async def _result(awaitable: Any) -> Any:
    return await awaitable
