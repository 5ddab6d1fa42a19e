"""Runs Rust programs in the folders next to this file and builds them when needed."""

from __future__ import annotations

import shutil
import subprocess
import sys
from hashlib import sha256
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

from tests.cache import Unavailable, cached
from tests.clients.client import PATIENCE_S


def run_rust(folder: str, *arguments: str) -> str:
    """Returns the output of a program, whose package has the name of its folder. Skips the test if the program cannot be built."""
    if shutil.which("cargo") is None:
        pytest.skip("Rust is not installed")
    package = Path(__file__).with_name(folder)
    sources = sha256(b"".join(package.joinpath(name).read_bytes() for name in ("Cargo.lock", "Cargo.toml", "src/main.rs")))

    def fill(directory: Path) -> None:
        with TemporaryDirectory() as target:  # hundreds of MB of libraries, of which the program is a small part
            subprocess.run(["cargo", "build", "--quiet", "--locked", "--target-dir", target], cwd=package, stdout=sys.stderr, check=True)
            shutil.copy(Path(target, "debug", folder), directory)

    try:
        program = cached(f"{folder}-{sources.hexdigest()[:12]}", fill) / folder
    except Unavailable as reason:
        pytest.skip(str(reason))
    done = subprocess.run([str(program), *arguments], capture_output=True, text=True, timeout=PATIENCE_S, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout.strip()
