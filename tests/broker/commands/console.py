"""Runs commands of `odradek` in this process, as a shell would: with standard input, and with the cluster in the environment."""

from __future__ import annotations

import io
import json
import sys
from typing import Any, NamedTuple

import pytest

from odradek import Cluster
from odradek.broker.cli import main


class Result(NamedTuple):
    """The exit code and the output of a command."""

    code: int
    output: str
    errors: str

    @property
    def json(self) -> Any:
        return json.loads(self.output)

    @property
    def json_lines(self) -> list[Any]:
        return [json.loads(line) for line in self.output.splitlines()]


class Stream(io.TextIOWrapper):
    """A standard stream in memory, which may be a terminal."""

    def __init__(self, content: bytes = b"", *, is_terminal: bool = False) -> None:
        self._is_terminal = is_terminal
        super().__init__(io.BytesIO(content), encoding="utf-8", newline="")

    def isatty(self) -> bool:
        return self._is_terminal

    @property
    def text(self) -> str:
        """The text that was written."""
        self.flush()
        assert isinstance(self.buffer, io.BytesIO)
        return self.buffer.getvalue().decode("utf-8", "replace")


class Console:
    """Runs commands beside a cluster."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self._monkeypatch = monkeypatch

    def use(self, cluster: Cluster) -> None:
        self._monkeypatch.setenv("BOOTSTRAP_SERVERS", cluster.bootstrap_servers)

    def run(self, *argv: str, given: bytes = b"", is_terminal: bool = False, shows_errors: bool = False) -> Result:
        """Runs a command with standard input. Standard output may be a terminal, and with `shows_errors` standard error is one."""
        output, errors = Stream(is_terminal=is_terminal), Stream(is_terminal=shows_errors)
        with self._monkeypatch.context() as patched:
            patched.setattr(sys, "stdin", Stream(given))
            patched.setattr(sys, "stdout", output)
            patched.setattr(sys, "stderr", errors)
            try:
                code = main(argv)
            except SystemExit as ended:
                code = int(ended.code or 0)
        return Result(code, output.text, errors.text)

    def succeed(self, *argv: str, given: bytes = b"", is_terminal: bool = False) -> Result:
        """Runs a command that must succeed without a word on stderr."""
        result = self.run(*argv, given=given, is_terminal=is_terminal)
        assert (result.code, result.errors) == (0, "")
        return result
