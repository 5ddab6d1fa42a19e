"""Runs Go programs in the folders next to this file and builds them when needed."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest

from tests.clients.client import PATIENCE_S


def run_go(folder: str, *arguments: str) -> str:
    """Returns the output of a program. Skips the test if the program cannot be built."""
    if shutil.which("go") is None:
        pytest.skip("Go is not installed")
    program = Path(os.environ.get("XDG_CACHE_HOME", "~/.cache"), "odradek", folder).expanduser()
    # Go does not rebuild an up-to-date program.
    if subprocess.run(["go", "build", "-o", str(program), "."], cwd=Path(__file__).with_name(folder), check=False).returncode:
        pytest.skip(f"go build failed in {folder}")
    done = subprocess.run([str(program), *arguments], capture_output=True, text=True, timeout=PATIENCE_S, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout.strip()
