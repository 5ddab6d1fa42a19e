"""Runs scenarios that are written as text files.

A scenario consists of blocks: commands, a line `----`, and the output of the commands. ODRADEK_REWRITE=1 replaces the outputs in the file
by the present ones.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import Protocol


class Player(Protocol):
    def play(self, lines: list[str]) -> str:
        """Executes the commands and returns their output."""


def replay(path: Path, player: Player) -> None:
    """Runs all blocks of a file and compares the outputs."""
    text = path.read_text()
    rewritten = _played(text, player)
    if os.environ.get("ODRADEK_REWRITE"):
        path.write_text(rewritten)
    else:
        assert rewritten == text


def _played(text: str, player: Player) -> str:
    blocks = []
    for block in text.strip().split("\n\n"):
        commands, separator, _ = block.partition("\n----")
        lines = [line for line in commands.splitlines() if not line.startswith("#")]
        blocks.append(f"{commands}\n----\n{player.play(lines)}" if lines else commands + separator)
    return "\n\n".join(blocks) + "\n"
