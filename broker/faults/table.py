"""The faults of a cluster, in the order in which they were added. It is the gate through which connections pass their requests.

A request goes to the first fault that matches. The faults after it see the request as that fault lets it through: an error for one of two
topics lets the request for the other topic through, a delay lets everything through, and a dropped request goes no further.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from itertools import count
from typing import TYPE_CHECKING

from ...protocol.schema import Message
from ..context import Context
from ..gate import Answering, Asked, Channel, InFlight
from .acts import Chain, Hit
from .elements import Elements
from .fault import Fault
from .hang import Hang
from .refusal import Refusal

if TYPE_CHECKING:
    from ..cluster.broker import Broker
    from ..cluster.state import ClusterState


class Faults:
    """The gate of a cluster that has faults. `on_change` callbacks are called when a fault has been added or removed."""

    def __init__(self, cluster: ClusterState, in_flight: Callable[[], Iterable[InFlight]]) -> None:
        self.cluster = cluster
        self._in_flight = in_flight
        self.elements = Elements(cluster)
        self.active: tuple[Fault, ...] = ()
        self.on_change: list[Callable[[], None]] = []
        self._numbers = count(1)

    def next_number(self) -> int:
        """Returns the number of a new fault."""
        return next(self._numbers)

    def add(self, fault: Fault) -> None:
        """Adds a fault after the others."""
        self.active = (*self.active, fault)
        self._changed()
        self._hold_in_flight(fault)
        for moment_ms in (fault.criteria.after_ms, fault.criteria.until_ms):
            if moment_ms is not None and moment_ms > self.cluster.timers.now_ms:
                self.cluster.timers.set((fault, moment_ms), moment_ms - self.cluster.timers.now_ms, self._changed)

    def _hold_in_flight(self, fault: Fault) -> None:
        """Holds back the responses of matching requests that are in flight, if the fault lets requests hang."""
        for act in fault.acts:
            if isinstance(act, Hang):
                for waiting in self._in_flight():
                    asked = Asked(waiting.connection, waiting.header, waiting.request, waiting.context, _no_rule)
                    if fault.takes(asked, waiting.request, self.elements):
                        waiting.generator = act.hold(waiting.generator, waiting.context, fault)

    def remove(self, fault: Fault) -> None:
        """Removes a fault and releases the requests that it holds. Does nothing if it has been removed."""
        if not fault.removed:
            fault.removed = True
            self.active = tuple(each for each in self.active if each is not fault)
            for moment_ms in (fault.criteria.after_ms, fault.criteria.until_ms):
                self.cluster.timers.cancel((fault, moment_ms))
            self.cluster.wake(fault)
            self._changed()

    def _changed(self) -> None:
        for told in self.on_change:
            told()

    # The gate

    def spares(self, channel: Channel, frame: memoryview) -> bool:
        """Returns whether a request may be served without being decoded."""
        return not self.active

    def serve(self, asked: Asked) -> Message | Answering | None:
        """Serves a request by its handler, or by the faults that hit it."""
        hit = self._next_hit(asked, asked.request, self.active)
        if hit is None:
            return asked.rule(asked.request, asked.context)
        return Chain(kept(asked), self._next_hit).run(hit)

    def opened(self, channel: Channel, broker: Broker) -> None:
        """Raises CloseConnection if a fault closes new connections."""
        for fault in self.active:
            if isinstance(fault, Refusal):
                fault.opened(channel, broker)

    def refuses(self, broker: Broker, listener_name: str) -> bool:
        """Returns whether a fault keeps a listener from listening."""
        return any(isinstance(fault, Refusal) and fault.refuses(broker, listener_name) for fault in self.active)

    def _next_hit(self, asked: Asked, request: Message, faults: tuple[Fault, ...]) -> Hit | None:
        for number, fault in enumerate(faults):
            if not fault.removed and fault.takes(asked, request, self.elements):
                return fault, faults[number + 1 :]
        return None


def kept(asked: Asked) -> Asked:
    """Returns a request whose bytes are its own, because a fault may serve it when the receive buffer has been used for others."""
    context, header = asked.context, asked.header
    if context.owns_buffer:
        return asked
    context.frame, context.owns_buffer = memoryview(bytearray(context.frame)), True
    request = header.api.request.decoders[header.version](context.frame, header.position)[0]
    return asked._replace(request=request)


def _no_rule(request: Message, context: Context) -> None:
    """Stands for the function of a request that is being served already."""
