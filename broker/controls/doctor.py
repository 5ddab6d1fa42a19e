"""The control that looks for mistakes of clients in the record of exchanges."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ..control_errors import ControlError
from ..scheduling.turns import TURN_S
from .declaration import Controls, control

if TYPE_CHECKING:
    from ..wire.exchange import Entry
    from ..wire.record import Record


@dataclass(frozen=True)
class FindingInfo:
    """A mistake of a client: what happened, what to change, the settings to look up, and what shows it.

    `exchanges` are numbers of entries in the record, and `lines` has one line for each of them.
    """

    name: str
    client: str
    problem: str
    advice: str
    settings: list[str]
    exchanges: list[int]
    lines: list[str]


class DoctorControls(Controls):
    """The mistakes of clients."""

    @control("doctor", reads=True)
    async def doctor(self) -> list[FindingInfo]:
        """Returns the mistakes of clients that the record shows, each with the exchanges that show it and the settings to change.

        The record contains the last exchanges only. An empty list means that they show no mistake.
        """
        from ..wire.doctor.examination import examine  # imported on first use, because most clusters are not examined
        from ..wire.doctor.report import described

        server = self._server
        if server.core.record is None:
            raise ControlError("the record of exchanges is switched off, so there is nothing to examine")
        entries = await _entries(server.core.record)
        return await server.in_thread(lambda: [FindingInfo(**described(finding)) for finding in examine(entries)])


async def _entries(record: Record) -> list[Entry]:
    """Returns the entries of a record. Other work gets turns in between."""
    loop = asyncio.get_running_loop()
    found: list[Entry] = []
    end_s = loop.time() + TURN_S
    for entry in record.entries():
        found.append(entry)
        if loop.time() > end_s:
            await asyncio.sleep(0)
            end_s = loop.time() + TURN_S
    return found
