"""Controls that add, list, await and remove faults (`broker/faults/`)."""

from __future__ import annotations

from collections.abc import Callable, Coroutine
from functools import wraps
from inspect import signature
from typing import TYPE_CHECKING, Annotated, Any, Concatenate, ParamSpec

from ..control_errors import unknown
from ..faults.options import FaultOptions
from .declaration import Controls, PythonOnly, control
from .fault_handles import AsyncFaultHandle, FaultInfo, adding
from .parameters import TimeoutS
from .waiting import DEFAULT_TIMEOUT_S

if TYPE_CHECKING:
    from ..faults.fault import Fault

P = ParamSpec("P")

FaultNumber = Annotated[int, "the number of a fault"]


Adds = Coroutine[Any, Any, AsyncFaultHandle]


def _with_fields_of(
    options: Callable[P, FaultOptions], python_only: str
) -> Callable[[Callable[[Any, FaultOptions], Adds]], Callable[Concatenate[Any, P], Adds]]:
    """Returns a decorator for a method with options. Their fields become its keyword arguments, of which one is `python_only`.

    The annotations of the fields are texts, which are evaluated where the fields are declared, when the parameters are first needed.
    """

    def decorate(method: Callable[[Any, FaultOptions], Adds]) -> Callable[Concatenate[Any, P], Adds]:
        @wraps(method)
        async def call(self: Any, /, *args: P.args, **kwargs: P.kwargs) -> AsyncFaultHandle:
            return await method(self, options(*args, **kwargs))

        hints: dict[str, Any] = dict(FaultOptions.__annotations__)
        hints |= {python_only: Annotated[hints[python_only], PythonOnly], "return": AsyncFaultHandle}
        call.__annotations__ = hints
        call.__annotate__ = lambda _: hints  # type: ignore[attr-defined]  # what `wraps` copies from Python 3.14 on
        vars(call)["__wrapped__"] = FaultOptions.__init__  # in its module, the names of the annotations are known
        vars(call)["__signature__"] = signature(FaultOptions.__init__).replace(return_annotation=AsyncFaultHandle)
        return call

    return decorate


class FaultControls(Controls):
    """Faults that users order: which requests they hit, and what happens to these."""

    @control("fault add")
    @adding
    @_with_fields_of(FaultOptions, python_only="when")
    async def fault(self, options: FaultOptions) -> AsyncFaultHandle:
        """Adds a fault: the requests that meet all criteria are hit by all acts.

        Faults are consulted in the order in which they were added. Raises InvalidControl for an impossible fault.
        """
        return self._add_fault(options)

    @property
    def faults(self) -> list[AsyncFaultHandle]:
        """The faults of the cluster in the order in which they are consulted."""
        return [self._handle_of(fault) for fault in self._server.core.faults.active]

    @control("fault list", reads=True)
    async def list_faults(self) -> list[FaultInfo]:
        """Returns the faults of the cluster in the order in which they are consulted."""
        return [handle.described() for handle in self.faults]

    @control("fault wait", reads=True)
    async def wait_for_fault(
        self, fault: FaultNumber, hits: Annotated[int, "how often the fault must have hit"] = 1, timeout_s: TimeoutS = DEFAULT_TIMEOUT_S
    ) -> FaultInfo:
        """Returns when a fault has hit this many requests.

        Raises ControlTimeout, whose message says why other requests did not match.
        """
        handle = self._fault_handle(fault)
        await handle.wait(hits, timeout_s)
        return handle.described()

    @control("fault remove")
    async def remove_fault(self, fault: FaultNumber) -> FaultInfo:
        """Removes a fault, serves the requests that it holds, and returns what it has hit."""
        handle = self._fault_handle(fault)
        await handle.remove()
        return handle.described()

    @control("fault clear")
    async def remove_faults(self) -> None:
        """Removes all faults and serves the requests that they hold."""
        for handle in self.faults:
            await handle.remove()

    def _add_fault(self, options: FaultOptions) -> AsyncFaultHandle:
        from ..faults.creation import add_fault

        with self._server.control_turn("adding a fault"):
            return self._handle_of(add_fault(self._server.core.faults, options))

    def _handle_of(self, fault: Fault) -> AsyncFaultHandle:
        return AsyncFaultHandle(lambda: self._server, fault)

    def _fault_handle(self, number: int) -> AsyncFaultHandle:
        handles = {handle.number: handle for handle in self.faults}
        if number not in handles:
            raise unknown("fault", "fault", number, handles)
        return handles[number]
