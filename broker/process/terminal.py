"""Output for a person: tables, colours, and the greeting of a cluster with the addresses of its nodes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TextIO

from ..settings.cluster_config import ClusterConfig

BOLD, DIM, CYAN = 1, 2, 36
HEADINGS = ("NODE", "LISTENER", "ADDRESS")


def greeting(config: ClusterConfig, bootstrap_servers: str, control: str | None) -> str:
    """Returns a table of the listeners of all nodes, and `export` lines for a shell."""
    rows = [(str(each.node_id), each.name, each.advertised) for node in config.nodes for each in node.listeners]
    exports = [f"export BOOTSTRAP_SERVERS={bootstrap_servers}", *([f"export ODRADEK_CONTROL={control}"] if control else [])]
    return "\n".join(["", *table([HEADINGS, *rows]), "", *exports, "", "Ctrl-C stops the cluster.", ""])


def table(rows: Sequence[Sequence[str]]) -> list[str]:
    """Returns rows as lines with aligned columns."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return ["  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in rows]


def has_colours(stream: TextIO, environ: Mapping[str, str]) -> bool:
    """Returns whether a stream may be coloured: a terminal may, unless the environment says NO_COLOR (no-color.org) or TERM=dumb."""
    return stream.isatty() and not environ.get("NO_COLOR") and environ.get("TERM") != "dumb"


def painted(code: int, text: str) -> str:
    """Returns a text with the ANSI code of a colour or style around it."""
    return f"\x1b[{code}m{text}\x1b[0m"
