"""The layout of a sequence diagram, which all formats share: lifelines of clients and nodes, and arrows and notes in the order of time.

An exchange is an arrow for the request, notes for the faults that hit it and for what it waited for, an arrow for the response, and a note
for the end of its connection. A request to the schema registry is drawn in the same way. If a client repeats the same exchange with the
same node, such as empty fetches, the repetitions are marked, and a note with their number comes after the first one. A format shows either
the repetitions or these notes.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from enum import Enum

from ...plurals import counted
from ..exchange import REGISTRY_REQUEST, Entry, Event, Exchange, Moment
from ..labels import is_registry_error, registry_answer_label, registry_request_label, request_label, response_label, shorten
from .lifelines import Lifeline, Lifelines

REPETITIONS = 2
"""The number of equal exchanges after the first one from which on they are marked."""


class Tone(Enum):
    """The meaning of a step, which formats show by a colour or a sign."""

    PLAIN = "plain"
    WAIT = "wait"
    FAULT = "fault"
    ERROR = "error"
    EVENT = "event"
    FOLD = "fold"


@dataclass(frozen=True, slots=True)
class DiagramStep:
    """A part of an entry, at a time. `lifelines` are the numbers of those that an arrow leads from and to, or that a note covers.

    A `repeated` step is one that a note with the tone FOLD stands for.
    """

    at: Moment
    sequence: int
    lifelines: tuple[int, int]
    text: str
    tone: Tone = Tone.PLAIN
    is_note: bool = False
    is_response: bool = False
    repeated: bool = False


@dataclass(frozen=True, slots=True)
class Diagram:
    """The lifelines from left to right and the steps from top to bottom."""

    lifelines: Sequence[Lifeline]
    steps: Sequence[DiagramStep]

    @property
    def distinct_steps(self) -> list[DiagramStep]:
        """The steps without repetitions."""
        return [step for step in self.steps if not step.repeated]


def diagram_of(entries: Iterable[Entry]) -> Diagram:
    """Returns the layout of a diagram of some entries."""
    in_order = list(_without_repeated_ends(sorted(entries, key=lambda entry: entry.sequence)))
    lifelines = Lifelines(in_order)
    parts = [_steps(entry, lifelines) for entry in in_order]
    steps = [step for part in _mark_repetitions(parts) for step in part]
    return Diagram(lifelines.all, sorted(steps, key=lambda step: step.at.wall_ms))


def _without_repeated_ends(entries: Sequence[Entry]) -> Iterator[Entry]:
    """Yields the entries except for the events of closed connections whose end is already part of an exchange."""
    ended = {(entry.connection, entry.ended) for entry in entries if isinstance(entry, Exchange)}
    for entry in entries:
        if not isinstance(entry, Event) or (entry.connection, entry.text) not in ended:
            yield entry


def _steps(entry: Entry, lifelines: Lifelines) -> list[DiagramStep]:
    if isinstance(entry, Exchange):
        return list(_exchange_steps(entry, lifelines))
    if entry.kind == REGISTRY_REQUEST:
        return list(_registry_steps(entry, lifelines))
    return list(_event_steps(entry, lifelines))


def _exchange_steps(exchange: Exchange, lifelines: Lifelines) -> Iterator[DiagramStep]:
    client, node = _ends(exchange, lifelines)

    def note(at: Moment, text: str, tone: Tone, first: int = node) -> DiagramStep:
        return DiagramStep(at, exchange.sequence, (min(first, node), max(first, node)), shorten(text), tone, is_note=True)

    yield DiagramStep(exchange.received, exchange.sequence, (client, node), shorten(request_label(exchange)))
    for fault in exchange.faults:
        yield note(exchange.received, fault, Tone.FAULT)
    end = exchange.answered or exchange.received
    if exchange.waits:
        yield note(end, f"waited {_duration(exchange)} for {', '.join(exchange.waits)}", Tone.WAIT)
    if exchange.response_frame is not None:
        tone = Tone.ERROR if exchange.errors else Tone.PLAIN
        yield DiagramStep(end, exchange.sequence, (node, client), shorten(response_label(exchange)), tone, is_response=True)
    elif exchange.answered is None and not exchange.ended:
        yield note(end, "not answered yet", Tone.WAIT)
    if exchange.ended:
        yield note(end, exchange.ended, Tone.ERROR, client)


def _registry_steps(event: Event, lifelines: Lifelines) -> Iterator[DiagramStep]:
    """Yields the request, the fault that hit it, the delay by a fault, and the answer. The record has the time of the answer only."""
    client, registry = _ends(event, lifelines)

    def step(text: str, tone: Tone = Tone.PLAIN, **kind: bool) -> DiagramStep:
        covered = (registry, client) if kind.get("is_response") else (registry, registry) if kind else (client, registry)
        return DiagramStep(event.at, event.sequence, covered, shorten(text), tone, **kind)

    yield step(registry_request_label(event))
    if "fault" in event.fields:
        yield step(str(event.fields["fault"]), Tone.FAULT, is_note=True)
    if "delay_ms" in event.fields:
        yield step(f"waited {event.fields['delay_ms']} ms", Tone.WAIT, is_note=True)
    yield step(registry_answer_label(event), Tone.ERROR if is_registry_error(event) else Tone.PLAIN, is_response=True)


def _ends(entry: Entry, lifelines: Lifelines) -> tuple[int, int]:
    """Returns the numbers of the client and the node of an entry. Raises ValueError for lifelines of other entries."""
    client, node = lifelines.client(entry), lifelines.node(entry)
    if client is None or node is None:
        raise ValueError("the lifelines are those of other entries")
    return client, node


def _duration(exchange: Exchange) -> str:
    return "until now" if exchange.answered is None else f"{exchange.answered.cluster_ms - exchange.received.cluster_ms:.0f} ms"


def _event_steps(event: Event, lifelines: Lifelines) -> Iterator[DiagramStep]:
    """Yields a note over the node and the client of an event, or over all lifelines if it has none."""
    found = [number for number in (lifelines.client(event), lifelines.node(event)) if number is not None]
    if found or lifelines.all:
        covered = found or [0, len(lifelines.all) - 1]
        text = event.text if event.kind.startswith("connection") else f"{event.kind}: {event.text}"
        yield DiagramStep(event.at, event.sequence, (min(covered), max(covered)), shorten(text), Tone.EVENT, is_note=True)


def _mark_repetitions(parts: Sequence[list[DiagramStep]]) -> list[list[DiagramStep]]:
    """Returns the steps of each entry, with repetitions marked and their number noted.

    An entry repeats another one if it has the same arrows and notes, and its client and node had no other exchange in between.
    """
    marked = list(parts)
    runs: dict[tuple[int, ...], list[int]] = {}
    for number, steps in enumerate(parts):
        if not steps or steps[0].is_note:
            continue
        pair = tuple(sorted(steps[0].lifelines))
        run = runs.get(pair)
        if run is not None and _looks(parts[run[0]]) == _looks(steps):
            run.append(number)
            continue
        if run is not None:
            _mark(marked, run)
        runs[pair] = [number]
    for run in runs.values():
        _mark(marked, run)
    return marked


def _mark(marked: list[list[DiagramStep]], run: Sequence[int]) -> None:
    first, *others = run
    if len(others) < REPETITIONS:
        return
    for number in others:
        marked[number] = [replace(step, repeated=True) for step in marked[number]]
    last = marked[first][-1]
    covered = (min(marked[first][0].lifelines), max(marked[first][0].lifelines))
    marked[first] = [
        *marked[first],
        DiagramStep(last.at, last.sequence, covered, f"the same {counted(len(others), 'more time')}", Tone.FOLD, is_note=True),
    ]


def _looks(steps: Sequence[DiagramStep]) -> list[tuple[tuple[int, int], str]]:
    """Returns what a reader sees of an exchange, without the durations of waits."""
    return [(step.lifelines, "" if step.tone is Tone.WAIT else step.text) for step in steps]
