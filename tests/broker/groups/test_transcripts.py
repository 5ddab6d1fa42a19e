"""Replays the transcripts tests/broker/groups/*.txt."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.broker.groups.transcript import Player
from tests.transcripts import replay

TRANSCRIPTS = sorted(Path(__file__).parent.glob("*.txt"))


@pytest.mark.parametrize("path", TRANSCRIPTS, ids=lambda path: path.stem)
def test_transcript_replayed_gives_recorded_text(path: Path) -> None:
    replay(path, Player())


def test_transcripts_are_found_in_folder() -> None:
    assert TRANSCRIPTS
