"""Controls of exploration (`broker/exploring/`): a fault at one request of a client in a role, and damage that a test has to notice."""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING, Annotated

from .declaration import control
from .fault_handles import AsyncFaultHandle, adding
from .faults import FaultControls

if TYPE_CHECKING:
    import asyncio

AWAY_S = 0.2
"""How long a node is away that crashes at a point, by the wall clock, because the cluster's time may stand still."""


class FaultPointControls(FaultControls):
    """Faults at points."""

    @control("fault point")
    @adding
    async def fault_at(
        self, point: Annotated[str, "API#NUMBER@ROLE:FAULT, such as OffsetCommit#1@billing:lost-response"]
    ) -> AsyncFaultHandle:
        """Adds a fault that hits one request: the n-th of an API by a client in a role, counted from now on.

        Exploration reports such faults. It remains when the cluster is reset. Raises InvalidControl for an unknown API or fault.
        """
        import asyncio

        from ..exploring.point_fault import add_point_fault
        from ..exploring.points import parse_specification
        from ..exploring.table import FAULTS

        specification = parse_specification(point, FAULTS)
        crashes: set[asyncio.Task[None]] = set()  # the event loop keeps no reference to its tasks

        def crash(node_id: int) -> None:
            task = asyncio.get_running_loop().create_task(self._crash_and_return(node_id))
            crashes.add(task)
            task.add_done_callback(crashes.discard)

        with self._server.control_turn("adding a fault at a point"):
            return self._handle_of(add_point_fault(self._server.core.faults, specification, crash))

    @control("fault damage")
    @adding
    async def damage(self, order: Annotated[str, "TOPIC-PARTITION#NUMBER:KIND, such as orders-0#2:gone"]) -> AsyncFaultHandle:
        """Damages stored data once, as no correct Kafka does, to see whether a test notices it.

        `gone`, `twice`, `swapped` (with the next one) and `aborted-visible` change the n-th record of a partition, as soon as it is there;
        `billing@orders-0:offset-back` moves the offset back by one that a group has committed. With `certificate:forged`, new TLS
        connections get a certificate of a CA that clients do not trust, if the certificates of the cluster are generated. A hit says that
        the damage is done. Raises InvalidControl for another form.
        """
        from ..exploring.damage import FORGED, add_damage, add_forged_certificate, parse_damage

        parsed = parse_damage(order)
        with self._server.control_turn("adding a damage"):
            if parsed.kind == FORGED:
                forged = add_forged_certificate(self._server.core.faults)
                if self._server.security.tls is not None:
                    self._server.security.tls.shows_forged = forged.is_shown
                return self._handle_of(forged)
            return self._handle_of(add_damage(self._server.core.faults, parsed))

    async def _crash_and_return(self, node_id: int) -> None:
        """Ends a node without controlled shutdown, and starts it again after AWAY_S, unless the cluster has been stopped meanwhile."""
        import asyncio

        with suppress(ValueError):
            await self._server.nodes.stop(node_id, graceful=False)
            await asyncio.sleep(AWAY_S)
            await self._server.nodes.start(node_id)
