"""A fault that hits one request: the n-th of an API by a client in a role."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...protocol.schema import Message
from ..api.gate import Asked
from ..faults.elements import Elements
from ..faults.fault import Criteria, Fault, Mismatch
from ..faults.options import FaultOptions
from .acts import Crash, PointAct, act_of
from .points import Specification
from .roles import RequestCounter, Sender

if TYPE_CHECKING:
    from ..faults.acts import Act
    from ..faults.table import Faults


class PointFault(Fault):
    """A fault at a point. It has to see every request, because it counts those of each role, and it outlives a reset of the cluster.

    A request at the point at which the cluster is not in the state that the fault needs is no hit.
    """

    outlives_reset = True

    def __init__(self, faults: Faults, specification: Specification, act: Act) -> None:
        super().__init__(faults.next_number(), str(specification), Criteria(FaultOptions()), [act], faults.cluster.random)
        self._specification = specification
        self._act = act
        self._counter = RequestCounter()

    def check(self, asked: Asked, request: Message, elements: Elements) -> Mismatch | None:
        if self.hits:
            return self._spare(asked, "times")
        client, api, point = asked.channel.client, asked.header.api.name, self._specification
        sender = Sender(client.connection_id, asked.header.client_id or "", client.client_host)
        role, number = self._counter.count(sender, api, request)
        if (api, number) != (point.api, point.number) or not role.is_called(point.role):
            return self._spare(asked, "point")
        if isinstance(self._act, PointAct) and not self._act.is_possible(asked, request):
            return self._spare(asked, "possible")
        return self.strike(asked, elements.of(request, asked.context.broker))

    def _spare(self, asked: Asked, criterion: str) -> Mismatch:
        reason = Mismatch(criterion)
        self.miss(asked.header.api.name, reason)
        return reason


def add_point_fault(faults: Faults, specification: Specification, crash: Crash) -> PointFault:
    """Adds a fault at a point to a cluster, before all other faults, and returns it."""
    fault = PointFault(faults, specification, act_of(specification.fault, faults, crash))
    faults.add(fault, first=True)
    return fault
