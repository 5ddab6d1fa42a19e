"""The control that looks for mistakes of clients in the record of exchanges."""

from __future__ import annotations

from dataclasses import dataclass

from .declaration import Controls, control
from .recorded import Since, recorded


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
    async def doctor(self, since: Since = 0) -> list[FindingInfo]:
        """Returns the mistakes of clients that the record shows, each with the exchanges that show it and the settings to change.

        The record contains the last exchanges only. An empty list means that they show no mistake.
        """
        from ..wire.doctor.examination import examine  # imported on first use, because most clusters are not examined
        from ..wire.doctor.finding import describe

        entries = await recorded(self._server)
        return await self._server.in_thread(lambda: [FindingInfo(**describe(finding)) for finding in examine(entries, since)])
