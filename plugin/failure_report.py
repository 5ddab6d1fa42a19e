"""The section `kafka exchanges` in the report of a failed test, made of the public methods of its clusters.

It contains for each cluster the story of the test, the groups that its exchanges name with their lag, the faults with their hits, and the
doctor's findings. Clients that earlier tests have left open are left out. Each part is limited in number and length, and a part that cannot
be made says why, because an error of the report must not hide the failure of the test.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import chain
from textwrap import wrap
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from .. import Cluster
    from ..broker.controls.group_info import GroupInfo
    from ..broker.wire.exchange import Exchange
    from .watching import Watched

MAX_EXAMINED = 1000
"""The latest exchanges in which groups, faults and mistakes are looked for, because that takes a second for 5,000 of them."""
COLUMNS = 120
STORY = "Story"
MAX_GROUPS, MAX_OFFSETS, MAX_FAULTS, MAX_FINDINGS = 10, 10, 20, 5


class ClusterReport(NamedTuple):
    """The report about a cluster: its nodes, and lines below titles."""

    head: str
    parts: Mapping[str, Sequence[str]]

    @property
    def text(self) -> str:
        """The report as it is shown in a terminal."""
        return "\n".join([self.head, *chain.from_iterable(self.parts.values())])


def report_of(watched: Watched) -> ClusterReport:
    """Returns the report about a cluster. Raises no exception."""
    try:
        head = _nodes(watched.cluster)
    except Exception as error:  # noqa: BLE001  (an error of the report must not hide the failure of the test)
        return ClusterReport(f"cluster: {error}", {})
    if watched.since is None:
        return ClusterReport(head, {STORY: ["its record of exchanges is switched off"]})
    try:
        return ClusterReport(head, _parts(watched, _exchanges(watched, watched.since), watched.since))
    except Exception as error:  # noqa: BLE001  (an error of the report must not hide the failure of the test)
        return ClusterReport(head, {STORY: [_impossible(error)]})


def _exchanges(watched: Watched, since: int) -> list[Exchange]:
    """Returns the exchanges of the test, without those of clients that earlier tests have left open."""
    return [each for each in watched.cluster.requests(since=since) if each.connection not in watched.foreign]


def _parts(watched: Watched, exchanges: Sequence[Exchange], since: int) -> dict[str, list[str]]:
    """Returns the lines of each part."""
    cluster, latest = watched.cluster, exchanges[-MAX_EXAMINED:]
    return {
        STORY: _part(lambda: _story(watched, len(exchanges), since)),
        "Groups": _part(lambda: _narrow(_groups(cluster, latest))),
        "Faults": _part(lambda: _narrow(_faults(cluster, latest))),
        "Doctor": _part(lambda: _narrow(_findings(watched, since))),
    }


def _part(make: Callable[[], Iterable[str]]) -> list[str]:
    try:
        return list(make())
    except Exception as error:  # noqa: BLE001  (an error of the report must not hide the failure of the test)
        return [_impossible(error)]


def _impossible(error: Exception) -> str:
    return f"(this part of the report cannot be made: {error!r})"


def _nodes(cluster: Cluster) -> str:
    """Returns the address of each node, with its state unless it is running."""
    nodes = [
        f"node {each.node} at {each.listeners[0].advertised}" + (f" ({each.state})" if each.state != "running" else "")
        for each in cluster.nodes()
    ]
    return f"cluster: {', '.join(nodes)}"


def _story(watched: Watched, count: int, since: int) -> Iterator[str]:
    """Yields the story of the test."""
    yield f"what happened in this test, with {count} exchange{'s' * (count != 1)}:" if count else "no request was served in this test:"
    story = watched.cluster.wire.story(since, without(watched.foreign), watched.begin_ms)
    yield from (f"  {line}" for line in story.splitlines())


def without(connections: Iterable[int]) -> str:
    """Returns a filter that leaves out connections."""
    return " and ".join(f"connection!={each}" for each in sorted(connections))


def _narrow(lines: Iterable[str]) -> Iterator[str]:
    """Yields the lines in as many rows as they need."""
    for line in lines:
        indent = " " * (len(line) - len(line.lstrip()) + 4)
        yield from wrap(line, COLUMNS, subsequent_indent=indent, break_on_hyphens=False) or [""]


def _groups(cluster: Cluster, exchanges: Sequence[Exchange]) -> Iterator[str]:
    """Yields the groups that the exchanges name."""
    named = {name for exchange in exchanges for name in exchange.groups}
    groups = [group for group in cluster.groups() if group.group_id in named]
    for group in groups[:MAX_GROUPS]:
        yield from _group(group)
    yield from _more(len(groups) - MAX_GROUPS, "groups")


def _group(group: GroupInfo) -> Iterator[str]:
    lag = "unknown lag" if group.lag is None else f"lag {group.lag}"
    yield f"group {group.group_id}: {group.state}, {len(group.members)} member{'s' * (len(group.members) != 1)}, {lag}"
    for offset in group.offsets[:MAX_OFFSETS]:
        committed = "nothing committed" if offset.committed is None else f"committed {offset.committed}"
        yield f"  {offset.topic}-{offset.partition}: {committed}, lag {offset.lag}"
    yield from _more(len(group.offsets) - MAX_OFFSETS, "partitions")


def _faults(cluster: Cluster, exchanges: Sequence[Exchange]) -> Iterator[str]:
    """Yields the faults of the cluster, and those that have been removed but were seen in the exchanges."""
    active = cluster.list_faults()
    lines = [f"fault {each.fault} ({each.options}): {_hits(each.hits)}{_why(each.hits, each.missed)}" for each in active]
    numbers = {f"fault {each.fault}:" for each in active}
    removed = Counter(text for exchange in exchanges for text in exchange.faults if not text.startswith(tuple(numbers)))
    lines += [f"{text}: {_hits(hits)}, and is removed" for text, hits in removed.items()]
    yield from lines[:MAX_FAULTS]
    yield from _more(len(lines) - MAX_FAULTS, "faults")


def _hits(hits: int) -> str:
    return f"{hits} hit{'s' * (hits != 1)}"


def _why(hits: int, missed: str) -> str:
    return f"; {missed}" if missed and not hits else ""


def _findings(watched: Watched, since: int) -> Iterator[str]:
    """Yields the doctor's findings about clients of the test."""
    foreign = {entry.sequence for entry in watched.cluster.wire.since(since) if entry.connection in watched.foreign}
    findings = [each for each in watched.cluster.doctor(since) if not foreign.issuperset(each.exchanges)]
    for each in findings[:MAX_FINDINGS]:
        yield f"doctor: {each.name}: {each.client}"
        yield f"  problem: {each.problem}"
        yield f"  advice:  {each.advice}"
    yield from _more(len(findings) - MAX_FINDINGS, "findings")


def _more(count: int, things: str) -> Iterator[str]:
    if count > 0:
        yield f"  and {count} more {things}"
