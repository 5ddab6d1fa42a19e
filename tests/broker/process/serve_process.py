"""`odradek serve` in a process of its own, and the command line with which it is started."""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path

ROOT = Path(__file__).parents[3]
COMMAND = shlex.split(os.environ.get("ODRADEK", "")) or [
    sys.executable,
    "-c",
    "import sys; from odradek.broker.cli import main; sys.exit(main())",
]
"""The command line of this clone, or the program that the variable ODRADEK names, such as the executable of `make dist`."""
CLEAN = {name: value for name, value in os.environ.items() if not name.startswith("KAFKA_")} | {"PYTHONPATH": str(ROOT / ".dev")}


@contextmanager
def running(
    argv: Sequence[str], environ: Mapping[str, str] | None = None, *, stderr: int = subprocess.PIPE
) -> Iterator[subprocess.Popen[str]]:
    process = subprocess.Popen(
        [*COMMAND, "serve", *argv], env=CLEAN | dict(environ or {}), stdout=subprocess.PIPE, stderr=stderr, text=True
    )
    try:
        yield process
    finally:
        process.kill()
        process.communicate()


def bootstrap_servers(process: subprocess.Popen[str]) -> str:
    assert process.stdout is not None
    first_line = process.stdout.readline()
    match = re.fullmatch(r"bootstrap\.servers=(\S+)\n", first_line)
    assert match, (first_line, process.stderr and process.stderr.read())
    return match[1]
