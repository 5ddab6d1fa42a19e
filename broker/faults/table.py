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
from .match import Mismatch
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
                    if fault.criteria.is_about(waiting.header.api.name) and fault.takes(asked, waiting.request, self.elements) is None:
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

    def spares(self, channel: Channel) -> bool:
        """Returns whether requests that the handler stored as a shortcut may be served without being decoded."""
        sparing = channel.sparing
        return isinstance(sparing, Sparing) and sparing.of is self.active

    def spared(self, channel: Channel) -> None:
        """Counts a request that was served without being decoded. The faults missed it for the same reason as the one before."""
        if isinstance(channel.sparing, Sparing):
            channel.sparing.count()

    def serve(self, asked: Asked) -> Message | Answering | None:
        """Serves a request by its handler, or by the faults that hit it."""
        reasons: list[tuple[Fault, Mismatch]] = []
        hit = self._next_hit(asked, asked.request, self.active, reasons)
        if hit is not None:
            return Chain(kept(asked), self._next_hit).run(hit)
        return self._serve_spared(asked, reasons)

    def _serve_spared(self, asked: Asked, reasons: list[tuple[Fault, Mismatch]]) -> Message | Answering | None:
        """Serves a request that no fault hits. If that holds for all requests like it, the handler may store it as a shortcut."""
        channel, context = asked.channel, asked.context
        if not all(reason.lasts for _, reason in reasons):
            stored, context.shortcut = context.shortcut, None
            answer = asked.rule(asked.request, context)
            context.shortcut = stored
            return answer
        if not isinstance(channel.sparing, Sparing) or channel.sparing.of is not self.active:
            channel.forget_shortcut()  # it contains requests that other faults have spared
            context.shortcut = None
        channel.sparing = Sparing(self.active, asked.header.api.name, reasons)
        return asked.rule(asked.request, context)

    def opened(self, channel: Channel, broker: Broker) -> None:
        """Raises CloseConnection if a fault closes new connections."""
        for fault in self.active:
            if isinstance(fault, Refusal):
                fault.opened(channel, broker)

    def refuses(self, broker: Broker, listener_name: str) -> bool:
        """Returns whether a fault keeps a listener from listening."""
        return any(isinstance(fault, Refusal) and fault.refuses(broker, listener_name) for fault in self.active)

    def _next_hit(
        self, asked: Asked, request: Message, faults: tuple[Fault, ...], reasons: list[tuple[Fault, Mismatch]] | None = None
    ) -> Hit | None:
        """Returns the first fault that hits a request, with those after it. The reasons of the others are added to `reasons`."""
        api = asked.header.api.name
        for number, fault in enumerate(faults):
            if fault.removed:
                continue
            if not fault.criteria.is_about(api):
                fault.others += 1
            elif (reason := fault.takes(asked, request, self.elements)) is None:
                return fault, faults[number + 1 :]
            elif reasons is not None:
                reasons.append((fault, reason))
        return None


class Sparing:
    """Why the faults `of` a moment spared the last request of a connection."""

    __slots__ = ("_api", "_reasons", "of")

    def __init__(self, of: tuple[Fault, ...], api: str, reasons: list[tuple[Fault, Mismatch]]) -> None:
        self.of = of
        self._api = api
        self._reasons = reasons

    def count(self) -> None:
        """Counts another request that was spared for the same reasons."""
        for fault, reason in self._reasons:
            fault.miss(self._api, reason)


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
