"""The transaction coordinator answers requests and times out as in each transcript, tests/broker/transactions/*.txt."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.broker.transactions.transcript import Player
from tests.transcripts import replay

TRANSCRIPTS = sorted(Path(__file__).parent.glob("*.txt"))


@pytest.mark.parametrize("path", TRANSCRIPTS, ids=lambda path: path.stem)
def test_coordinator_transcript_gives_the_recorded_output(path: Path) -> None:
    replay(path, Player())


def test_there_are_transcripts() -> None:
    assert TRANSCRIPTS
