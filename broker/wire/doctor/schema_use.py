"""The use of schemas that the record shows: requests to the schema registry, and the schema ids in the records of producers."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

from ...schema_registry.schemas.wire_format import schema_id_of
from ..exchange import REGISTRY_REQUEST, Event, Exchange
from .contents import records_of

if TYPE_CHECKING:
    from .history import ClientHistory, WireHistory

REGISTER = re.compile(r"/subjects/[^/]+/versions")
LATEST = re.compile(r"/subjects/[^/]+/versions/latest")
SCHEMA = re.compile(r"/schemas/ids/([0-9]{1,10})(?:/schema)?")
CONTROL = "control"
SUBJECT_NOT_FOUND, SCHEMA_NOT_FOUND = 40401, 40403
READ_ONLY = 42205
_CONTEXT = re.compile(r":\.[^:]*:")


class WrittenId(NamedTuple):
    """The schema id of a key or value in a Produce request, None if it has none. `part` is "key" or "value"."""

    client: ClientHistory
    exchange: Exchange
    topic: str
    part: str
    schema_id: int | None

    @property
    def subject(self) -> str:
        """The subject by TopicNameStrategy."""
        return f"{self.topic}-{self.part}"


class SchemaUse:
    """The schemas of a history. Requests that faults have hit, or that a test has disturbed, are left out."""

    def __init__(self, history: WireHistory) -> None:
        self._history = history
        self.requests = [event for event in history.events(REGISTRY_REQUEST) if not history.excuses(event)]

    def requests_to(self, path: re.Pattern[str], method: str) -> list[Event]:
        """Returns the requests of a method whose path matches, in order."""
        return [event for event in self.requests if event.fields["method"] == method and path.fullmatch(str(event.fields["path"]))]

    @cached_property
    def subjects(self) -> dict[int, set[str]]:
        """The subjects that have the schema with an id, by the id, as far as clients or controls have registered or read them."""
        found: dict[int, set[str]] = {}
        for event in (*self._history.earlier, *self._history.entries):
            if (
                isinstance(event, Event)
                and event.kind in (REGISTRY_REQUEST, CONTROL)
                and "subject" in event.fields
                and "id" in event.fields
            ):
                found.setdefault(int(event.fields["id"]), set()).add(subject_of(event))
        return found

    @cached_property
    def known_subjects(self) -> set[str]:
        """The names of the subjects in `subjects`."""
        return set().union(*self.subjects.values())

    @cached_property
    def written_ids(self) -> list[WrittenId]:
        """The keys and values of producers in order, without null and without those whose schema is named in a header."""
        found = [each for client in self._history.clients for exchange in client.of("Produce") for each in _ids_in(client, exchange)]
        return sorted(found, key=lambda each: each.exchange.sequence)


def _ids_in(client: ClientHistory, exchange: Exchange) -> Iterator[WrittenId]:
    for topic, record in records_of(exchange):
        in_headers = {name for name, _ in record.headers}
        for part, data in (("key", record.key), ("value", record.value)):
            if data is None or f"__{part}_schema_id" in in_headers:
                continue
            schema_id = schema_id_of(data)
            if schema_id != 0:  # the record of the cluster has zeros in place of the bytes that it does not keep
                yield WrittenId(client, exchange, topic, part, schema_id)


def subject_of(event: Event) -> str:
    """Returns the subject that a request names, without its context; "" if it names none."""
    return _CONTEXT.sub("", str(event.fields.get("subject", "")), count=1)


def client_of(event: Event) -> str:
    """Returns the client of a request to the registry in words."""
    software, host = str(event.fields.get("software", "")), str(event.fields.get("peer", "")).rpartition(":")[0]
    return f"{software or 'a client'} at {host}"
