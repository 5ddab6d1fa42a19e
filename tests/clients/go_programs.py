"""Clients in Go: programs of ours in folders beside this file, built when they are needed."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest

from tests.clients.client import PATIENCE_S


def run_go(folder: str, *arguments: str) -> str:
    """What the program in a folder prints for these arguments. Fails if it fails; skips the test where it cannot be built."""
    if shutil.which("go") is None:
        pytest.skip("no Go")
    program = Path(os.environ.get("XDG_CACHE_HOME", "~/.cache"), "odradek", folder).expanduser()
    # Nothing is done where the program is as new as its source.
    if subprocess.run(["go", "build", "-o", str(program), "."], cwd=Path(__file__).with_name(folder), check=False).returncode:
        pytest.skip(f"Go could not build {folder}")
    done = subprocess.run([str(program), *arguments], capture_output=True, text=True, timeout=PATIENCE_S, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout.strip()
