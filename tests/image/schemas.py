"""Checks of files against the schemas of their formats."""

from __future__ import annotations

import shutil
import subprocess
import sysconfig
from pathlib import Path

import pytest


def checked(tool: str, *arguments: str) -> tuple[int, str]:
    """Runs an installed tool, and returns its exit code and its output."""
    program = shutil.which(tool, path=sysconfig.get_path("scripts"))
    if program is None:
        pytest.skip(f"{tool} is not installed: pip install -e '.[dev]'")
    done = subprocess.run([program, *arguments], capture_output=True, text=True, check=False)
    return done.returncode, done.stdout + done.stderr


def fits(schema: str, file: Path) -> tuple[int, str]:
    return checked("check-jsonschema", "--builtin-schema", f"vendor.{schema}", str(file))
