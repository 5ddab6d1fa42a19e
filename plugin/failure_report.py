"""The section `kafka exchanges` in the report of a failed test, made of the public methods of its clusters.

It contains for each cluster the last exchanges of the test as a sequence diagram, the groups that they name with their lag, the faults with
their hits, and the doctor's findings. Each part is limited in number and length, and a part that cannot be made says why, because an error
of the report must not hide the failure of the test.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .. import Cluster
    from ..broker.controls.groups import GroupInfo
    from ..broker.wire.exchange import Exchange
    from .watching import Watched

MOST_EXCHANGES = 30
MOST_EXAMINED = 1000
"""The latest exchanges in which groups, faults and mistakes are looked for, because that takes a second for 5,000 of them."""
MOST_LINES = 120
MOST_COLUMNS = 200
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
        parts.append(_part(lambda: _exchanges(watched.cluster, since)))
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


def _exchanges(cluster: Cluster, since: int) -> str:
    """Returns the diagram of the last exchanges, and what the latest exchanges of the test show."""
    exchanges = cluster.requests(since=since)
    if not exchanges:
        return "\n".join(["no client has sent a request in this test", *_faults(cluster, [])])
    shown, latest = exchanges[-MOST_EXCHANGES:], exchanges[-MOST_EXAMINED:]
    head = f"the last {len(shown)} of {len(exchanges)} exchanges of this test:"
    diagram = _limited(cluster.wire.diagram("text", since=shown[0].sequence).splitlines())
    return "\n".join([head, *diagram, *_groups(cluster, latest), *_faults(cluster, latest), *_findings(cluster, latest[0].sequence)])


def _limited(lines: Sequence[str]) -> list[str]:
    """Returns the heads and the last lines of a diagram."""
    if len(lines) > MOST_LINES:
        lines = [*lines[:3], f"... {len(lines) - MOST_LINES} lines are left out", *lines[3 - MOST_LINES :]]
    return [f"  {line if len(line) <= MOST_COLUMNS else line[: MOST_COLUMNS - 1] + '…'}" for line in lines]


def _groups(cluster: Cluster, exchanges: Sequence[Exchange]) -> Iterator[str]:
    """Yields the groups that the exchanges name."""
    named = {name for exchange in exchanges for name in exchange.groups}
    groups = [group for group in cluster.groups() if group.group_id in named]
    for group in groups[:MOST_GROUPS]:
        yield from _group(group)
    yield from _more(len(groups) - MOST_GROUPS, "groups")


def _group(group: GroupInfo) -> Iterator[str]:
    lag = "unknown lag" if group.lag is None else f"lag {group.lag}"
    yield f"group {group.group_id}: {group.state}, {len(group.members)} member{'s' * (len(group.members) != 1)}, {lag}"
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


def _findings(cluster: Cluster, since: int) -> Iterator[str]:
    """Yields the doctor's findings."""
    findings = cluster.doctor(since)
    for each in findings[:MOST_FINDINGS]:
        yield f"doctor: {each.name}: {each.client}"
        yield f"  problem: {each.problem}"
        yield f"  advice:  {each.advice}"
    yield from _more(len(findings) - MOST_FINDINGS, "findings")


def _more(count: int, things: str) -> Iterator[str]:
    if count > 0:
        yield f"  and {count} more {things}"
