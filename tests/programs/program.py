"""A program beside the broker: a child process whose output is kept, and awaited line by line."""

from __future__ import annotations

import os
import re
import subprocess
import threading
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Self

import pytest

from tests.cache import Unavailable, interpreter

PATIENCE_S = 120.0
"""The time limit of everything that a program does, generous because the machine may be busy."""
SHOWN_LINES = 60


def python_with(name: str, *requirements: str) -> str:
    """Returns the Python of a virtual environment with packages of PyPI. Skips the test if they cannot be installed."""
    try:
        return str(interpreter(name, *requirements))
    except Unavailable as reason:
        pytest.skip(str(reason))


class Program:
    """A running program, as a context manager that ends it. `lines` are the lines of its output and its errors."""

    def __init__(self, command: Sequence[str], directory: Path, environment: Mapping[str, str] | None = None) -> None:
        self.lines: list[str] = []
        self._changed = threading.Condition()
        self._ended = False
        # A PYTHONPATH of the tests would precede the program's own packages.
        inherited = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
        self._process = subprocess.Popen(
            command,
            cwd=directory,
            env=inherited | dict(environment or {}),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            errors="replace",
        )
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()

    def _read(self) -> None:
        assert self._process.stdout is not None
        for line in self._process.stdout:
            with self._changed:
                self.lines.append(line.rstrip("\n"))
                self._changed.notify_all()
        with self._changed:
            self._ended = True
            self._changed.notify_all()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.kill()

    def wait_for_line(self, pattern: str) -> re.Match[str]:
        """Returns the match in the first line with the pattern. Raises AssertionError if the program ends or takes too long."""
        deadline_s = time.monotonic() + PATIENCE_S
        seen = 0
        with self._changed:
            while True:
                for line in self.lines[seen:]:
                    if match := re.search(pattern, line):
                        return match
                seen = len(self.lines)
                assert not self._ended, f"the program ended without {pattern!r}:\n{self.output()}"
                assert self._changed.wait(deadline_s - time.monotonic()), f"the program has not printed {pattern!r}:\n{self.output()}"

    def output(self) -> str:
        """Returns the end of the output."""
        return "\n".join(self.lines[-SHOWN_LINES:])

    def wait(self) -> int:
        """Waits until the program ends, and returns its exit code."""
        code = self._process.wait(PATIENCE_S)
        self._reader.join(PATIENCE_S)
        return code

    def terminate(self) -> int:
        """Ends the program in good order, by SIGTERM, and returns its exit code."""
        self._process.terminate()
        return self.wait()

    def kill(self) -> None:
        """Ends the program as a crash does. It may have ended before."""
        self._process.kill()
        self.wait()
        assert self._process.stdout is not None
        self._process.stdout.close()
