"""Clients that are written in Go from the ground up: a program of ours in purego/, built the first time."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

from tests.clients.client import PATIENCE_S, Unavailable


def purego(*arguments: str) -> str:
    """What the program prints for these arguments. Raises Unavailable where it cannot be built, AssertionError if it fails."""
    done = subprocess.run([_program(), *arguments], capture_output=True, text=True, timeout=2 * PATIENCE_S, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


def _program() -> str:
    """In the user's cache. Go does nothing where it is as new as its source."""
    if shutil.which("go") is None:
        raise Unavailable("no Go")
    program = Path(os.environ.get("XDG_CACHE_HOME", "~/.cache"), "odradek", "purego").expanduser()
    built = subprocess.run(["go", "build", "-o", str(program), "."], cwd=Path(__file__).with_name("purego"), check=False)
    if built.returncode:
        raise Unavailable("Go could not build the program in purego/, which needs modules from its proxy")
    return str(program)
