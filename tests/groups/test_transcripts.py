"""Replays the transcripts tests/groups/*.txt."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.groups.transcript import Player
from tests.transcripts import replay

TRANSCRIPTS = sorted(Path(__file__).parent.glob("*.txt"))


@pytest.mark.parametrize("path", TRANSCRIPTS, ids=lambda path: path.stem)
def test_transcript(path: Path) -> None:
    replay(path, Player())


def test_transcripts_exist() -> None:
    assert TRANSCRIPTS
