"""Every tests/transactions/*.txt is played; ODRADEK_REWRITE=1 writes what was seen into it, for review in the diff."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tests.transactions.transcript import Player

TRANSCRIPTS = sorted(Path(__file__).parent.glob("*.txt"))


def played(text: str) -> str:
    player = Player()
    blocks = []
    for block in text.strip().split("\n\n"):
        commands, separator, _ = block.partition("\n----")
        lines = [line for line in commands.splitlines() if not line.startswith("#")]
        blocks.append(f"{commands}\n----\n{player.play(lines)}" if lines else commands + separator)
    return "\n\n".join(blocks) + "\n"


@pytest.mark.parametrize("path", TRANSCRIPTS, ids=lambda path: path.stem)
def test_transcript(path: Path) -> None:
    text = path.read_text()
    seen = played(text)
    if os.environ.get("ODRADEK_REWRITE"):
        path.write_text(seen)
    else:
        assert seen == text


def test_there_are_transcripts() -> None:
    assert TRANSCRIPTS
