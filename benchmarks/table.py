"""The table of medians and ratios that a run prints."""

from __future__ import annotations

from collections.abc import Sequence

from .brokers import ODRADEK
from .rows import Medians, Row, text_of


def table(rows: Sequence[Row], names: Sequence[str], medians: Medians) -> list[str]:
    """Returns the lines of the table: the figure of each broker, odradek's figure divided by each peer's, and the targets."""
    peers = [name for name in names if name != ODRADEK]
    width = max((len(row.name) for row in rows), default=0) + 2
    heads = "".join(f"{name:>9}" for name in (*names, *(f"/ {peer}" for peer in peers)))
    lines = [f"{'':<{width}}{'':<6}{heads}  target"]
    for row in rows:
        figures = "".join(f"{text_of(medians.get((row.name, name))):>9}" for name in names)
        shown = "".join(f"{ratio(row, peer, medians):>9}" for peer in peers)
        targets = "; ".join(target.verdict(row.name, medians) for target in row.targets)
        lines.append(f"{row.name:<{width}}{row.unit:<6}{figures}{shown}  {targets}".rstrip())
    return lines


def ratio(row: Row, peer: str, medians: Medians) -> str:
    """Returns odradek's figure divided by a peer's; "-" if one of them is missing."""
    ours, theirs = medians.get((row.name, ODRADEK)), medians.get((row.name, peer))
    return f"{ours / theirs:.2f}" if ours and theirs else "-"
