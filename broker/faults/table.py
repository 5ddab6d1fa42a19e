"""The faults of a cluster, in the order in which they were added. It is the gate through which connections pass their requests.

The first fault that matches hits a request, and passes on what it does not answer itself to the faults after it. An error for one of two
topics passes on the request for the other topic, a delay passes on all of it, and a dropped request is not passed on.

If every fault missed a request for a reason that lasts, such as its topic, the requests with the same bytes will be missed as well. The
handler may then store a shortcut for them. A shortcut is used only as long as the faults are the same (`Sparing.state`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from itertools import count
from typing import TYPE_CHECKING

from ...protocol.schema import Message
from ..api.context import Context
from ..api.gate import Answering, Asked, Channel, Sparing
from ..plurals import counted
from .acts import Chain, Hit
from .delivery import Hang
from .elements import Elements
from .fault import ConnectionFault, Fault, Mismatch

if TYPE_CHECKING:
    from ..cluster.broker import Broker
    from ..cluster.state import ClusterState


class Faults:
    """The gate of a cluster that has faults. `channels` returns the open connections.

    `on_change` is called when a fault has been added or removed, and when one begins or ends at a time of the cluster.
    """

    def __init__(self, cluster: ClusterState, channels: Callable[[], Iterable[Channel]], on_change: Callable[[], None]) -> None:
        self.cluster = cluster
        self.elements = Elements(cluster)
        self.active: tuple[Fault, ...] = ()
        self._channels = channels
        self._on_change = on_change
        self._numbers = count(1)

    def next_number(self) -> int:
        """Returns the number of a new fault."""
        return next(self._numbers)

    def add(self, fault: Fault, *, first: bool = False) -> None:
        """Adds a fault after the others, or before them."""
        self.settle()
        self.active = (fault, *self.active) if first else (*self.active, fault)
        self.cluster.tell("fault", f"added {fault}", fault=fault.number)
        self._on_change()
        self._hold_in_flight(fault)
        now_ms = self.cluster.timers.now_ms
        for moment_ms in (fault.criteria.after_ms, fault.criteria.until_ms):
            if moment_ms is not None and moment_ms > now_ms:
                self.cluster.timers.set((fault, moment_ms), moment_ms - now_ms, self._on_change)

    def remove(self, fault: Fault) -> None:
        """Removes a fault and releases the requests that it holds. Does nothing if it has been removed."""
        if fault.removed:
            return
        self.settle()
        fault.removed = True
        self.cluster.tell("fault", f"removed {fault} after {counted(fault.hits, 'hit')}", fault=fault.number, hits=fault.hits)
        self.active = tuple(each for each in self.active if each is not fault)
        for moment_ms in (fault.criteria.after_ms, fault.criteria.until_ms):
            self.cluster.timers.cancel((fault, moment_ms))
        self.cluster.wake(fault)
        self._on_change()

    def replace(self, former: Faults, faults: Iterable[Fault]) -> None:
        """Replaces the faults of a cluster whose state was replaced by `faults`, of which some may have been removed since.

        Faults that outlive a reset remain.
        """
        self._numbers = former._numbers
        remaining = [fault for fault in former.active if fault.outlives_reset]
        for fault in former.active:
            former.remove(fault)
        for fault in dict.fromkeys((*remaining, *faults)):
            fault.removed = False
            self.add(fault)

    def settle(self) -> None:
        """Brings the misses of all faults up to date."""
        for channel in self._channels():
            self.closed(channel)

    def refuses(self, broker: Broker, listener_name: str) -> bool:
        """Returns whether a fault keeps a listener from listening."""
        now_ms = self.cluster.timers.now_ms
        return any(isinstance(fault, ConnectionFault) and fault.refuses(broker, listener_name, now_ms) for fault in self.active)

    def _hold_in_flight(self, fault: Fault) -> None:
        """Holds back the responses of matching requests that are in flight, if the fault lets requests hang."""
        for act in fault.acts:
            if isinstance(act, Hang):
                for waiting in [channel.parked for channel in self._channels() if channel.parked is not None]:
                    asked = Asked(waiting.connection, waiting.header, waiting.request, waiting.context, _no_rule)
                    if fault.criteria.is_about(waiting.header.api.name) and fault.check(asked, waiting.request, self.elements) is None:
                        waiting.generator = act.hold(waiting.generator, waiting.connection, waiting.context)

    # The gate

    @property
    def state(self) -> object:
        """The faults, which are another tuple after each change."""
        return self.active

    def opened(self, channel: Channel, broker: Broker) -> None:
        """Raises CloseConnection if a fault closes new connections."""
        for fault in self.active:
            if isinstance(fault, ConnectionFault):
                fault.opened(channel, broker, self.cluster.timers.now_ms)

    def closed(self, channel: Channel) -> None:
        """Counts the requests of a connection that were not decoded."""
        if isinstance(channel.sparing, Spared):
            channel.sparing.settle()

    def serve(self, asked: Asked) -> Message | Answering | None:
        """Serves a request by its handler, or by the faults that hit it."""
        self.closed(asked.channel)
        reasons: list[tuple[Fault, Mismatch]] = []
        hit = self._next_hit(asked, asked.request, self.active, reasons)
        if hit is not None:
            asked.context.shortcut = None  # the handler must not add a request that is hit to the shortcut of the connection
            return Chain(keep_request(asked), self._next_hit).run(hit)
        return self._serve_spared(asked, reasons)

    def _serve_spared(self, asked: Asked, reasons: list[tuple[Fault, Mismatch]]) -> Message | Answering | None:
        """Serves a request that no fault hits. If that holds for all requests like it, the handler may store it as a shortcut."""
        channel, context = asked.channel, asked.context
        if not all(reason.lasts for _, reason in reasons):
            stored, context.shortcut = context.shortcut, None
            answer = asked.rule(asked.request, context)
            context.shortcut = stored
            return answer
        if channel.sparing.state is not self.active:
            channel.forget_shortcut()  # it contains requests that other faults have spared
            context.shortcut = None
        channel.sparing = Spared(self.active, asked.header.api.name, reasons)
        return asked.rule(asked.request, context)

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
            elif (reason := fault.check(asked, request, self.elements)) is None:
                return fault, faults[number + 1 :]
            elif reasons is not None:
                reasons.append((fault, reason))
        return None


class Spared(Sparing):
    """The reasons for which the faults spared the last decoded request of a connection, and those like it since."""

    __slots__ = ("_api", "_reasons")

    def __init__(self, faults: tuple[Fault, ...], api: str, reasons: list[tuple[Fault, Mismatch]]) -> None:
        super().__init__(faults)
        self._api = api
        self._reasons = reasons

    def settle(self) -> None:
        """Adds the requests that were not decoded to the misses of the faults."""
        count, self.count = self.count, 0
        if count:
            for fault, reason in self._reasons:
                fault.miss(self._api, reason, count)


def keep_request(asked: Asked) -> Asked:
    """Returns a request whose bytes are its own, because a fault may serve it when the receive buffer has been used for others."""
    context, header = asked.context, asked.header
    if context.owns_buffer:
        return asked
    context.frame, context.owns_buffer = memoryview(bytearray(context.frame)), True
    request = header.api.request.decoders[header.version](context.frame, header.position)[0]
    return asked._replace(request=request)


def _no_rule(request: Message, context: Context) -> None:
    """Stands for the function of a request that is being served already."""
