"""A short run of `make kills`."""

from __future__ import annotations

from pathlib import Path
from random import SystemRandom

import pytest

from tests.kills.run import kill_repeatedly

KILLS = 2


@pytest.mark.clients
@pytest.mark.sockets
def test_killed_cluster_keeps_what_was_acknowledged(tmp_path: Path) -> None:
    seed = SystemRandom().getrandbits(32)
    outcome = kill_repeatedly(KILLS, seed, tmp_path)
    assert outcome.violations == [], f"make kills KILLS={KILLS} SEED={seed}"
    assert outcome.written > 100
