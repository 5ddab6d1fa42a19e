"""Controls that add, list, await and remove faults (`broker/faults/`)."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Annotated, Any, Literal

from ..control_errors import unknown
from .declaration import Controls, PythonOnly, control
from .fault_handles import AsyncFaultHandle, FaultInfo, adding
from .parameters import Moment, TimeoutS
from .waiting import DEFAULT_TIMEOUT_S

if TYPE_CHECKING:
    from ..faults.fault import Fault

FaultNumber = Annotated[int, "the number of a fault"]


class FaultControls(Controls):
    """Faults that users order: which requests they hit, and what happens to these."""

    @control("fault add")
    @adding
    async def fault(
        self,
        *,
        api: Annotated[str | Sequence[str] | None, "the APIs of the requests, such as Produce"] = None,
        min_version: Annotated[int | None, "the lowest version of the API"] = None,
        max_version: Annotated[int | None, "the highest version of the API"] = None,
        node: Annotated[int | None, "the id of the node that the client is connected to"] = None,
        listener: Annotated[str | None, "the name of the listener"] = None,
        client_id: Annotated[str | None, "a pattern for the client id, with * and ?"] = None,
        client_software: Annotated[str | None, "a pattern for name/version of the client library, such as librdkafka/2.*"] = None,
        principal: Annotated[str | None, "a pattern for the principal, such as User:alice"] = None,
        peer: Annotated[str | None, "a pattern for the address of the client, such as 127.0.0.1"] = None,
        connection: Annotated[int | None, "the id of a connection"] = None,
        topic: Annotated[str | None, "a pattern for the name of a topic; only its part of a request is hit"] = None,
        partitions: Annotated[int | Sequence[int] | None, "indexes of partitions; only their part of a request is hit"] = None,
        group: Annotated[str | None, "a pattern for the id of a group"] = None,
        transactional_id: Annotated[str | None, "a pattern for a transactional id"] = None,
        acks: Annotated[int | None, "the acks of a Produce: -1 for all, 0 or 1"] = None,
        skip: Annotated[int | None, "how many of the matching requests pass first"] = None,
        every: Annotated[int | None, "hits every n-th of the matching requests"] = None,
        times: Annotated[int | None, "how many requests are hit at most"] = None,
        probability: Annotated[float | None, "the probability with which a matching request is hit"] = None,
        after: Annotated[
            Moment | None, "the time of the cluster from which on requests are hit; a number is milliseconds since 1970"
        ] = None,
        until: Annotated[Moment | None, "the time of the cluster until which requests are hit"] = None,
        when: Annotated[Callable[[Any], object] | None, PythonOnly, "a function of the decoded request"] = None,
        error: Annotated[str | None, "the error code of the response, such as NOT_LEADER_OR_FOLLOWER"] = None,
        stage: Annotated[Literal["before", "after"] | None, "whether error and drop come before the work (the default) or after it"] = None,
        respond: Annotated[Mapping[str, Any] | None, "fields of the response and their values, nested as in the response"] = None,
        delay_ms: Annotated[int | None, "how long the response waits, in milliseconds of the cluster's time"] = None,
        jitter_ms: Annotated[int | None, "how long the response waits in addition at most; the time is random"] = None,
        throttle_ms: Annotated[int | None, "the throttle time that the response says, and for which the connection is muted"] = None,
        drop: Annotated[bool | None, "whether the response is not written"] = None,
        close: Annotated[Literal["fin", "rst"] | None, "how the connection ends when the response is dropped"] = None,
        cut_at_bytes: Annotated[int | None, "how many bytes of the dropped response are written before the connection ends"] = None,
        hang: Annotated[bool | None, "whether the request is neither read nor answered, while the connection stays open"] = None,
        hang_ms: Annotated[int | None, "how long it hangs; without it, until the fault is removed"] = None,
        bytes_per_s: Annotated[int | None, "the rate at which the response is written"] = None,
        chunk_bytes: Annotated[int | None, "the size of the pieces in which the response is written"] = None,
        corrupt: Annotated[
            Literal["crc", "bit", "truncate", "length", "correlation_id"] | None,
            "what is damaged: the CRC, a record or the end of a fetched batch, or the length or correlation id of the response",
        ] = None,
        refuse: Annotated[
            bool | Literal["refused", "closed", "silent"] | None,
            "new connections are refused (also true), accepted and closed, or accepted and never answered",
        ] = None,
    ) -> AsyncFaultHandle:
        """Adds a fault: the requests that meet all criteria are hit by all acts.

        Faults are consulted in the order in which they were added. Raises InvalidControl for an impossible fault.
        """
        options = {name: value for name, value in locals().items() if name != "self" and value is not None and value is not False}
        return self._add_fault(**options)

    @control("fault list", reads=True)
    async def list_faults(self) -> list[FaultInfo]:
        """Returns the faults of the cluster in the order in which they are consulted."""
        return [handle.described() for handle in fault_handles(self)]

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
        for handle in fault_handles(self):
            await handle.remove()

    def _add_fault(self, **options: Any) -> AsyncFaultHandle:
        from ..faults.options import add_fault

        with self._server.control("adding a fault"):
            return self._handle_of(add_fault(self._server.core.faults, options))

    def _handle_of(self, fault: Fault) -> AsyncFaultHandle:
        return AsyncFaultHandle(lambda: self._server, fault)

    def _fault_handle(self, number: int) -> AsyncFaultHandle:
        handles = {handle.number: handle for handle in fault_handles(self)}
        if number not in handles:
            raise unknown("fault", "fault", number, handles)
        return handles[number]


def fault_handles(controls: Controls) -> list[AsyncFaultHandle]:
    """Returns a handle for each fault of a cluster, in the order in which they are consulted."""
    return [AsyncFaultHandle(lambda: controls._server, fault) for fault in controls._server.core.faults.active]
