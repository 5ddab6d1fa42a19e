"""The entries of a story as steps: texts with the client and the node, and how much each matters.

Writes, commits, errors, faults and events of the cluster are notable. Heartbeats, connections, requests by which a client finds its way and
empty fetches are background.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import zip_longest

from ..diagrams.lifelines import Lifelines
from ..doctor.consumers import has_records
from ..doctor.history import PRELIMINARY
from ..exchange import REGISTRY_REQUEST, Entry, Event, Exchange
from ..labels import is_registry_error, registry_answer_label, registry_request_label, request_label, response_label, shorten

ERA_EVENTS = frozenset(("control", "fault", "clock"))
"""The events after which a story begins anew, because the test has changed something for all clients."""
_HEARTBEATS = frozenset(("Heartbeat", "ConsumerGroupHeartbeat", "ShareGroupHeartbeat", "StreamsGroupHeartbeat"))
_MAX_TEXT_LENGTH = 300
_NUMBER = re.compile(r"\d+")
_UUID = re.compile(r"([0-9a-f]{8})(-[0-9a-f]{4}){3}-[0-9a-f]{12}")


@dataclass(frozen=True, slots=True)
class StoryStep:
    """An entry of a story. `client` is empty for events of the cluster, and `result` is what a request has led to.

    `begins_era` says that nothing before it may be folded with something after it.
    """

    sequence: int
    at_ms: float
    client: str
    node: str
    text: str
    result: str = ""
    is_background: bool = False
    begins_era: bool = False

    @property
    def look(self) -> tuple[str, str, str, str]:
        """The step without its numbers, such as offsets, which differ in repetitions. Names keep theirs."""
        return self.client, self.node, self.text, _NUMBER.sub("#", self.result)


def steps_of(entries: Iterable[Entry]) -> list[StoryStep]:
    """Returns the steps of some entries in order."""
    in_order = sorted(entries, key=lambda entry: entry.sequence)
    names = Names(in_order)
    ended = {(entry.connection, entry.ended) for entry in in_order if isinstance(entry, Exchange)}
    told = [entry for entry in in_order if isinstance(entry, Exchange) or (entry.connection, entry.text) not in ended]
    return [_exchange(entry, names) if isinstance(entry, Exchange) else _event(entry, names) for entry in _without_fault_controls(told)]


def _without_fault_controls(entries: Sequence[Entry]) -> Iterator[Entry]:
    """Yields the entries except for controls that add or remove a fault, because an event for the fault follows each of them."""
    for entry, following in zip_longest(entries, entries[1:]):
        if not (isinstance(entry, Event) and isinstance(following, Event) and (entry.kind, following.kind) == ("control", "fault")):
            yield entry


class Names:
    """The names of the clients and nodes of some entries."""

    def __init__(self, entries: Iterable[Entry]) -> None:
        in_order = list(entries)
        self._lifelines = Lifelines(in_order)
        self._peers: dict[int | None, str] = {
            entry.connection: str(entry.fields["peer"])
            for entry in in_order
            if isinstance(entry, Event) and entry.connection is not None and "peer" in entry.fields
        }

    @property
    def software(self) -> Mapping[str, str]:
        """The software of each client that has named it."""
        return {line.name: line.detail for line in self._lifelines.all if line.detail}

    def client(self, entry: Entry) -> str:
        """Returns the name of a client, or the host of one that has sent no request; "" for an event without a connection."""
        number = self._lifelines.client(entry)
        if number is not None:
            return self._lifelines.all[number].name
        return self._peers.get(entry.connection, "").rpartition(":")[0]

    def node(self, entry: Entry) -> str:
        """Returns the name of a node, "" for an event without one."""
        number = self._lifelines.node(entry)
        return "" if number is None else self._lifelines.all[number].name


def _exchange(exchange: Exchange, names: Names) -> StoryStep:
    begun = exchange.received.wall_ms
    step = StoryStep(
        exchange.sequence, begun, names.client(exchange), names.node(exchange), shorten(request_label(exchange), _MAX_TEXT_LENGTH)
    )
    if _is_background(exchange):
        subjects = " ".join((exchange.api, *exchange.groups[:1])) if exchange.api in _HEARTBEATS else exchange.api
        return replace(step, text="Fetch without records" if exchange.api == "Fetch" else shorten(subjects), is_background=True)
    return replace(step, result=shorten("; ".join(_results(exchange)), _MAX_TEXT_LENGTH))


def _is_background(exchange: Exchange) -> bool:
    if exchange.errors or exchange.faults or exchange.ended:
        return False
    if exchange.api == "Fetch":
        return not has_records(exchange)
    if exchange.api in _HEARTBEATS:
        return not _joins_or_leaves(exchange)
    return exchange.api in PRELIMINARY


def _joins_or_leaves(exchange: Exchange) -> bool:
    """Returns whether a heartbeat of KIP-848, KIP-932 or KIP-1071 begins or ends a membership."""
    return getattr(exchange.partial_request, "member_epoch", 1) <= 0


def _results(exchange: Exchange) -> Iterator[str]:
    if exchange.api == "OffsetCommit" and not exchange.errors:
        yield ", ".join(f"offset {offset}" for offset in _committed_offsets(exchange)) or "ok"
    elif exchange.response_frame is not None:
        yield f"{'✗ ' if exchange.errors else ''}{response_label(exchange)}"
    elif exchange.answered is None and not exchange.ended:
        yield " ".join(["not answered yet", *(f"(waits for {each})" for each in exchange.waits[-1:])])
    if exchange.ended:
        yield f"✗ {exchange.ended}"
    yield from (f"[{fault}]" for fault in exchange.faults)


def _committed_offsets(exchange: Exchange) -> list[int]:
    """Returns the offsets that a request commits."""
    topics = getattr(exchange.partial_request, "topics", ())
    return [partition.committed_offset for topic in topics for partition in topic.partitions]


def _registry_step(event: Event, client: str, node: str) -> StoryStep:
    answer = f"{'✗ ' if is_registry_error(event) else ''}{registry_answer_label(event)}"
    results = [answer, *([f"[{event.fields['fault']}]"] if "fault" in event.fields else [])]
    text = shorten(registry_request_label(event), _MAX_TEXT_LENGTH)
    return StoryStep(event.sequence, event.at.wall_ms, client, node, text, result=shorten("; ".join(results), _MAX_TEXT_LENGTH))


def _event(event: Event, names: Names) -> StoryStep:
    client, node = names.client(event), names.node(event)
    if event.kind == REGISTRY_REQUEST:
        return _registry_step(event, client, node)
    told = event.text if event.kind == "group" else f"{event.kind}: {event.text}"
    step = StoryStep(event.sequence, event.at.wall_ms, client, node, shorten(_UUID.sub(r"\1", told), _MAX_TEXT_LENGTH))
    if event.kind == "connection opened":
        return replace(step, text="connect", is_background=True)
    if event.kind == "connection closed":
        by_client = event.fields.get("by") == "client"
        text = "disconnect" if by_client else shorten(f"✗ {event.text}", _MAX_TEXT_LENGTH)
        return replace(step, text=text, is_background=by_client)
    if event.kind == "handshake failed":
        return replace(step, text="TLS handshake", result=shorten(f"✗ {event.text}", _MAX_TEXT_LENGTH))
    return replace(step, begins_era=event.kind in ERA_EVENTS)
