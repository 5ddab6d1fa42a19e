"""Scenarios as text: commands, a line `----`, and what everybody saw. ODRADEK_REWRITE=1 writes down what is seen now."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Protocol


class Player(Protocol):
    def play(self, lines: list[str]) -> str:
        """Does what the lines say, and tells what was seen."""


def replay(path: Path, player: Player) -> None:
    """Plays a file to its end and compares."""
    text = path.read_text()
    seen = _played(text, player)
    if os.environ.get("ODRADEK_REWRITE"):
        path.write_text(seen)
    else:
        assert seen == text


def _played(text: str, player: Player) -> str:
    blocks = []
    for block in text.strip().split("\n\n"):
        commands, separator, _ = block.partition("\n----")
        lines = [line for line in commands.splitlines() if not line.startswith("#")]
        blocks.append(f"{commands}\n----\n{player.play(lines)}" if lines else commands + separator)
    return "\n\n".join(blocks) + "\n"
