"""The record of exchanges, as controls read it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

from ..control_errors import ControlRefused
from .in_turns import in_turns

if TYPE_CHECKING:
    from ..network.server import Server
    from ..wire.exchange import Entry
    from ..wire.record import Record

Since = Annotated[int, "the number of the first entry, such as that of an earlier `mark`"]


def record_of(server: Server) -> Record:
    """Returns the record of a cluster. Raises ControlRefused if it is switched off."""
    record = server.core.record
    if record is None:
        reason = "the record of exchanges is switched off; start the cluster with record_exchanges above 0"
        raise ControlRefused("RECORD_SWITCHED_OFF", reason)
    return record


async def recorded(server: Server, since: int = 0) -> list[Entry]:
    """Returns the entries from a number on. Other work gets turns in between. Raises ControlRefused if the record is switched off."""
    return await in_turns(record_of(server).entries(since))
