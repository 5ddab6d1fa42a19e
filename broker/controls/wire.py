"""Controls of the record: `requests` returns exchanges, `wire` all entries since a mark, and `doctor` the mistakes of clients.

The record contains the latest exchanges and events (`broker/wire/record.py`). It survives `restore` and `reset`.
"""

from __future__ import annotations

from collections.abc import Sequence
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING, Annotated, Any

from ..control_errors import ControlRefused, unknown
from ..frozen_data import FrozenData
from .declaration import Blocking, Controls, Part, blocking, checking, control
from .waiting import in_turns

if TYPE_CHECKING:
    from ..network.server import Server
    from ..wire.exchange import Entry, Exchange
    from ..wire.record import WireRecord

Since = Annotated[int, "the number of the first entry, such as that of an earlier `mark`"]
FilterText = Annotated[str, "a filter, such as api=Produce and error"]


class FindingInfo(FrozenData):
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


class AsyncWire(Part):
    """The record of an `AsyncCluster`."""

    @control("wire mark", reads=True, owner="wire")
    async def mark(self) -> int:
        """Returns the number that the next entry will get."""
        return record_of(self._server).next_sequence

    @checking
    async def since(self, mark: int = 0) -> list[Entry]:
        """Returns the exchanges and events from a mark on, in order, also exchanges that are not answered yet."""
        return await read_entries(self._server, mark)

    @control("wire list", reads=True, owner="wire")
    async def entries(
        self,
        since: Since = 0,
        filter: FilterText = "",  # noqa: A002  (the name of the option)
        verbose: Annotated[bool, "whether decoded requests and responses are included"] = False,
    ) -> list[dict[str, Any]]:
        """Returns the exchanges and events from a number on, as JSON objects."""
        from ..wire.filters import parse_filter
        from ..wire.json_form import json_of_entry

        selects = parse_filter(filter)
        entries = record_of(self._server).entries(since)
        forms = await in_turns(json_of_entry(entry, verbose=verbose) if selects(entry) else None for entry in entries)
        return [form for form in forms if form is not None]

    @control("wire diagram", reads=True, owner="wire")
    async def diagram(
        self,
        format: Annotated[str, "text, mermaid, svg or html"] = "text",  # noqa: A002  (the name of the option of odradek trace)
        since: Since = 0,
        filter: FilterText = "",  # noqa: A002
    ) -> str:
        """Returns a sequence diagram of the exchanges and events from a number on: clients, nodes, and arrows with API and version.

        Notes say where a request has waited, failed or was hit by a fault. Exchanges that a client repeats are replaced by a note.
        """
        from ..wire.diagrams.formats import FORMATS
        from ..wire.filters import parse_filter

        draw, selects = FORMATS.get(format), parse_filter(filter)
        if draw is None:
            raise unknown("format", "format", format, FORMATS)
        entries = await read_entries(self._server, since)
        return await self._server.in_thread(lambda: draw([entry for entry in entries if selects(entry)]))

    @control("wire story", reads=True, owner="wire")
    async def story(
        self,
        since: Since = 0,
        filter: FilterText = "",  # noqa: A002
        begin_ms: Annotated[float, "when times begin, in milliseconds since 1970 by the wall clock; 0 is the first entry"] = 0,
    ) -> str:
        """Returns what the exchanges and events from a number on show, in lines of at most 120 columns.

        Writes, commits, errors, faults and events of the cluster have lines of their own. Cycles that a client repeats are one line with
        their number, and so is what each client does in the background: heartbeats, connections and empty fetches.
        """
        from ..wire.filters import parse_filter
        from ..wire.story.text import as_story

        selects = parse_filter(filter)
        entries = await read_entries(self._server, since)
        return await self._server.in_thread(lambda: as_story([entry for entry in entries if selects(entry)], begin_ms))


class RequestControls(Controls):
    """The exchanges of a cluster."""

    @checking
    async def requests(
        self,
        *,
        api: str | Sequence[str] | None = None,
        topic: str | None = None,
        group: str | None = None,
        client_id: str | None = None,
        error: str | None = None,
        node: int | None = None,
        connection: int | None = None,
        since: int = 0,
    ) -> list[Exchange]:
        """Returns the recorded exchanges that meet all criteria, in the order in which the requests arrived.

        Texts are patterns with * and ?, compared with case. `topic` and `group` are among those that the request names, `error` among the
        error codes of the response, such as "NOT_LEADER_OR_FOLLOWER", and `since` is a number that `cluster.wire.mark()` has returned.
        """
        from ..wire.exchange import Exchange

        apis = (api,) if isinstance(api, str) else api

        def meets(exchange: Exchange) -> bool:
            return (
                node in (None, exchange.node)
                and connection in (None, exchange.connection)
                and (apis is None or any(fnmatchcase(exchange.api, each) for each in apis))
                and (client_id is None or fnmatchcase(exchange.client_id or "", client_id))
                and (topic is None or _any_fits(exchange.topics, topic))
                and (group is None or _any_fits(exchange.groups, group))
                and (error is None or _any_fits(exchange.errors, error))
            )

        return [entry for entry in record_of(self._server).entries(since) if isinstance(entry, Exchange) and meets(entry)]


class DoctorControls(Controls):
    """The mistakes of clients."""

    @control("doctor", reads=True)
    async def doctor(self, since: Since = 0) -> list[FindingInfo]:
        """Returns the mistakes of clients that the record shows, each with the exchanges that show it and the settings to change.

        The record contains the last exchanges only. An empty list means that they show no mistake.
        """
        from ..wire.doctor.examination import examine
        from ..wire.doctor.finding import describe

        entries = await read_entries(self._server)
        return await self._server.in_thread(lambda: [FindingInfo(**describe(finding)) for finding in examine(entries, since)])


class Wire(Blocking):
    """The record of a `Cluster`."""

    mark = blocking(AsyncWire.mark)
    since = blocking(AsyncWire.since)
    entries = blocking(AsyncWire.entries)
    diagram = blocking(AsyncWire.diagram)
    story = blocking(AsyncWire.story)


def _any_fits(names: Sequence[str], pattern: str) -> bool:
    return any(fnmatchcase(name, pattern) for name in names)


def record_of(server: Server) -> WireRecord:
    """Returns the record of a cluster. Raises ControlRefused if it is switched off."""
    record = server.core.record
    if record is None:
        reason = "the record of exchanges is switched off; start the cluster with record_exchanges above 0"
        raise ControlRefused("RECORD_SWITCHED_OFF", reason)
    return record


async def read_entries(server: Server, since: int = 0) -> list[Entry]:
    """Returns the entries from a number on. Other work gets turns in between. Raises ControlRefused if the record is switched off."""
    return await in_turns(record_of(server).entries(since))
