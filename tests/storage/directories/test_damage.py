from __future__ import annotations

from pathlib import Path
from random import SystemRandom

from tests.storage.directories.damage_run import run

SEED = SystemRandom().getrandbits(32)


def test_damaged_files_raise_nothing_else(tmp_path: Path) -> None:
    run(300, SEED, tmp_path)
