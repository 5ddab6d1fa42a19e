"""Pairs the alternatives of two combined schemas: as many as possible, each with one other."""

from __future__ import annotations

from collections.abc import Sequence


def count_matches(edges: Sequence[Sequence[int]]) -> int:
    """Returns the size of a maximum matching, where `edges[i]` are the partners that `i` may have (Kuhn's algorithm, without recursion)."""
    partner_of: dict[int, int] = {}
    return sum(_augment(start, edges, partner_of) for start in range(len(edges)))


def _augment(start: int, edges: Sequence[Sequence[int]], partner_of: dict[int, int]) -> bool:
    """Finds a partner for `start`, if need be by finding others for those that have one. Returns whether it was possible."""
    reached_from: dict[int, int] = {}
    pending = [start]
    while pending:
        node = pending.pop()
        for partner in edges[node]:
            if partner in reached_from:
                continue
            reached_from[partner] = node
            if partner not in partner_of:
                _reassign(partner, start, reached_from, partner_of)
                return True
            pending.append(partner_of[partner])
    return False


def _reassign(partner: int, start: int, reached_from: dict[int, int], partner_of: dict[int, int]) -> None:
    """Gives each node of the path from `start` the partner from which the next one was reached."""
    previous = {node: other for other, node in partner_of.items()}
    while True:
        node = reached_from[partner]
        partner_of[partner] = node
        if node == start:
            return
        partner = previous[node]
