"""Directories in the user's cache that a registry fills the first time a test needs them."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path


class Unavailable(Exception):
    """Something that this machine lacks; the text is the reason for which a test is skipped."""


def cached(name: str, fill: Callable[[Path], None]) -> Path:
    """Returns a directory in the user's cache, which `fill` fills the first time. Raises Unavailable when a program fails."""
    home = Path(os.environ.get("XDG_CACHE_HOME", "~/.cache"), "odradek").expanduser()
    home.mkdir(parents=True, exist_ok=True)
    if not (home / name).is_dir():
        with tempfile.TemporaryDirectory(dir=home) as work:
            content = Path(work, name)
            content.mkdir()
            try:
                fill(content)
            except (OSError, subprocess.CalledProcessError) as error:
                raise Unavailable(f"{name} could not be installed: {error}") from error
            with suppress(OSError):  # another process has created it meanwhile
                content.rename(home / name)
    return home / name


def packages(name: str, *requirements: str) -> Path:
    """Returns a directory with packages and their dependencies."""

    def fill(directory: Path) -> None:
        pip = [sys.executable, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--target", str(directory)]
        subprocess.run([*pip, *requirements], stdout=sys.stderr, check=True)

    return cached(name, fill)


def interpreter(name: str, *requirements: str) -> Path:
    """Returns the Python of a virtual environment with packages and their dependencies. Its scripts cannot run, because it is moved."""

    def fill(directory: Path) -> None:
        subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(directory)], check=True)
        pip = [sys.executable, "-m", "pip", "--python", str(directory / "bin" / "python"), "install", "--quiet"]
        subprocess.run([*pip, "--disable-pip-version-check", *requirements], stdout=sys.stderr, check=True)

    return cached(f"{name}-python{sys.version_info.major}.{sys.version_info.minor}", fill) / "bin" / "python"
