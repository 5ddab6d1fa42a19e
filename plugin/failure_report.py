"""The section `kafka exchanges` in the report of a failed test, made of the public methods of its clusters.

It contains for each cluster the story of the test, the groups that its exchanges name with their lag, the faults with their hits, and the
doctor's findings. Clients that earlier tests have left open are left out. Each part is limited in number and length, and a part that cannot
be made says why, because an error of the report must not hide the failure of the test.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from textwrap import wrap
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .. import Cluster
    from ..broker.controls.groups import GroupInfo
    from ..broker.wire.exchange import Exchange
    from .watching import Watched

MOST_EXAMINED = 1000
"""The latest exchanges in which groups, faults and mistakes are looked for, because that takes a second for 5,000 of them."""
COLUMNS = 120
MOST_GROUPS, MOST_OFFSETS, MOST_FAULTS, MOST_FINDINGS = 10, 10, 20, 5


def report_of(watched: Watched) -> str:
    """Returns the text for a cluster, which begins with its nodes. Raises no exception."""
    try:
        parts = [_nodes(watched.cluster)]
    except Exception as error:
        return f"cluster: {error}"
    if watched.since is None:
        parts.append("its record of exchanges is switched off")
    else:
        since = watched.since
        parts.append(_part(lambda: _exchanges(watched, since)))
    return "\n".join(parts)


def _part(make: Callable[[], str]) -> str:
    try:
        return make()
    except Exception as error:
        return f"(this part of the report cannot be made: {error!r})"


def _nodes(cluster: Cluster) -> str:
    """Returns the address of each node, with its state unless it is running."""
    nodes = [
        f"node {each.node} at {each.listeners[0].advertised}" + (f" ({each.state})" if each.state != "running" else "")
        for each in cluster.nodes()
    ]
    return f"cluster: {', '.join(nodes)}"


def _exchanges(watched: Watched, since: int) -> str:
    """Returns the story of the test, and what its latest exchanges show."""
    cluster, foreign = watched.cluster, watched.foreign
    exchanges = [each for each in cluster.requests(since=since) if each.connection not in foreign]
    latest = exchanges[-MOST_EXAMINED:]
    story = cluster.wire.story(since, _without(foreign), watched.begin_ms).splitlines()
    head = f"what happened in this test, with {len(exchanges)} exchanges:" if exchanges else "no request was served in this test:"
    parts = [*_groups(cluster, latest), *_faults(cluster, latest), *_findings(watched, since)]
    return "\n".join([head, *(f"  {line}" for line in story), *_narrow(parts)])


def _without(connections: Iterable[int]) -> str:
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
    for group in groups[:MOST_GROUPS]:
        yield from _group(group)
    yield from _more(len(groups) - MOST_GROUPS, "groups")


def _group(group: GroupInfo) -> Iterator[str]:
    yield f"group {group.group_id}: {group.state}, {len(group.members)} member{'s' * (len(group.members) != 1)}, lag {group.lag}"
    for offset in group.offsets[:MOST_OFFSETS]:
        committed = "nothing committed" if offset.committed is None else f"committed {offset.committed}"
        yield f"  {offset.topic}-{offset.partition}: {committed}, lag {offset.lag}"
    yield from _more(len(group.offsets) - MOST_OFFSETS, "partitions")


def _faults(cluster: Cluster, exchanges: Sequence[Exchange]) -> Iterator[str]:
    """Yields the faults of the cluster, and those that have been removed but were seen in the exchanges."""
    active = cluster.list_faults()
    lines = [f"fault {each.fault} ({each.options}): {_hits(each.hits)}{_why(each.hits, each.missed)}" for each in active]
    numbers = {f"fault {each.fault}:" for each in active}
    removed = Counter(text for exchange in exchanges for text in exchange.faults if not text.startswith(tuple(numbers)))
    lines += [f"{text}: {_hits(hits)}, and is removed" for text, hits in removed.items()]
    yield from lines[:MOST_FAULTS]
    yield from _more(len(lines) - MOST_FAULTS, "faults")


def _hits(hits: int) -> str:
    return f"{hits} hit{'s' * (hits != 1)}"


def _why(hits: int, missed: str) -> str:
    return f"; {missed}" if missed and not hits else ""


def _findings(watched: Watched, since: int) -> Iterator[str]:
    """Yields the doctor's findings about clients of the test."""
    foreign = {entry.sequence for entry in watched.cluster.wire.since(since) if entry.connection in watched.foreign}
    findings = [each for each in watched.cluster.doctor(since) if not foreign.issuperset(each.exchanges)]
    for each in findings[:MOST_FINDINGS]:
        yield f"doctor: {each.name}: {each.client}"
        yield f"  problem: {each.problem}"
        yield f"  advice:  {each.advice}"
    yield from _more(len(findings) - MOST_FINDINGS, "findings")


def _more(count: int, things: str) -> Iterator[str]:
    if count > 0:
        yield f"  and {count} more {things}"
