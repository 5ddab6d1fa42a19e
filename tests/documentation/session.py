"""Runs the shell listings of a page as its reader would: one after the other in one folder, with the output that the page shows.

A `console` listing contains commands after `$ `, whose further lines may follow `> `, with their standard output. In the output, `...`
stands for any text, and a line of `...` for any number of lines. Times and other values that differ in each run (`VARYING`) are not
compared.

`odradek serve` runs in the background until the end of the session, on free ports, for which the addresses of the pages stand
(127.0.0.1:9092, 127.0.0.1:9099, http://127.0.0.1:8081).

`odradek trace` is stopped when it has printed as many lines as the page shows. Exported variables remain.
"""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path
from types import TracebackType
from typing import NamedTuple, Self

from .listings import ROOT, Listing

TIMEOUT_S = 60
SERVER, WATCHER = "odradek serve ", "odradek trace "
DOCUMENTED = {
    "bootstrap.servers": "127.0.0.1:9092,127.0.0.1:9093",
    "control": "127.0.0.1:9099",
    "schema.registry.url": "http://127.0.0.1:8081",
}
LISTENERS = ("127.0.0.1:9099", "127.0.0.1:8081")
"""The addresses in the pages, by the names of the lines in which a server prints its real ones."""
VARYING = re.compile(
    r"\b\d{13}\b|\d\d:\d\d:\d\d\.\d{3}|\d+(?:\.\d+)? m?s\b|(?<=\bin )\d+\.\d+s|(?<=node )\d+|#\d+|\(\d+\)|\b\d+ B\b|\bv\d+\b"
)
"""Times, durations, sizes, versions, and numbers of nodes, connections and requests."""


class Command(NamedTuple):
    """A command and the output that the page shows; None if it shows none."""

    text: str
    output: str | None


def commands(listing: Listing) -> Iterator[Command]:
    """Yields the commands of a listing; a `shell` listing is one command."""
    if listing.language == "shell":
        yield Command(listing.text, None)
        return
    for part in re.split(r"^\$ ", listing.text, flags=re.MULTILINE)[1:]:
        text = re.match(r"(?:.*\\\n)*.*\n(?:> .*\n)*", part)
        assert text is not None
        yield Command(re.sub("^> ", "", text[0], flags=re.MULTILINE), part[text.end() :])


class Session:
    """A folder in which the commands of one page run."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._addresses: dict[str, str] = {}
        self._servers: list[subprocess.Popen[str]] = []
        bin_folder = os.path.dirname(sys.executable)  # noqa: PTH120  (a venv's Python is a link, which must not be followed)
        paths = os.pathsep.join([str(ROOT / ".dev"), str(ROOT)])
        self._environ = os.environ | {"PATH": f"{bin_folder}{os.pathsep}{os.environ['PATH']}", "PYTHONPATH": paths, "NO_COLOR": "1"}

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None) -> None:
        for server in self._servers:
            _stop(server)

    def add_file(self, listing: Listing) -> None:
        (self._folder / listing.file).write_text(self._with_real(listing.text), encoding="utf-8")

    def run(self, command: Command) -> None:
        """Runs a command. Raises AssertionError if it fails or prints something else than the page shows."""
        if command.text.startswith(SERVER) and "--exec" not in command.text:
            shown = self._served(command)
        elif command.text.startswith(WATCHER):
            shown = self._watched(command)
        else:
            shown = self._finished(command)
        if command.output is not None:
            assert_shown(command.output, self._with_documented(shown))

    def _served(self, command: Command) -> str:
        """Starts a server. Returns the lines that it prints, as many as the page shows, and learns its addresses from them."""
        text = f"{command.text.strip()} --port 0"
        for address in LISTENERS:
            text = text.replace(address, "127.0.0.1:0")
        server = self._started(text)
        self._servers.append(server)
        lines = _lines_of(server, command)
        for line in lines:
            name, _, real = line.strip().partition("=")
            if name in DOCUMENTED:
                self._addresses |= dict(zip(DOCUMENTED[name].split(","), real.split(","), strict=False))
        return "".join(lines)

    def _watched(self, command: Command) -> str:
        """Returns the first lines that a command prints, which would not end by itself."""
        watcher = self._started(self._with_real(command.text))
        try:
            return "".join(_lines_of(watcher, command))
        finally:
            _stop(watcher)

    def _started(self, command: str) -> subprocess.Popen[str]:
        arguments = ["bash", "-c", f"exec {command}"]
        quiet = subprocess.DEVNULL
        return subprocess.Popen(arguments, cwd=self._folder, env=self._environ, text=True, stdout=subprocess.PIPE, stderr=quiet)

    def _finished(self, command: Command) -> str:
        """Returns the output of a command, after it has ended without an error. A listing without output ends at the first error."""
        kept = self._folder / ".environment"
        options = "uo" if command.output is not None else "euo"
        script = f"set -{options} pipefail\n{self._with_real(command.text)}\nstatus=$?\nenv -0 > {kept}\nexit $status"
        arguments = ["bash", "-c", script]
        done = subprocess.run(arguments, cwd=self._folder, env=self._environ, text=True, timeout=TIMEOUT_S, capture_output=True)
        assert done.returncode == 0, f"{command.text}\nexit code {done.returncode}\n{done.stdout}{done.stderr}"
        self._environ = dict(line.split("=", 1) for line in kept.read_text(encoding="utf-8").split("\0") if line)
        return done.stdout

    def _with_real(self, text: str) -> str:
        for documented, real in self._addresses.items():
            text = text.replace(documented, real)
        return text

    def _with_documented(self, text: str) -> str:
        for documented, real in self._addresses.items():
            text = text.replace(real, documented)
        return text


def _lines_of(process: subprocess.Popen[str], command: Command) -> list[str]:
    """Returns as many lines of the output of a process as the page shows."""
    assert process.stdout is not None
    assert command.output, f"{command.text}: the page has to show the first lines of the output"
    return [process.stdout.readline() for _ in command.output.splitlines() if _.strip()]


def _stop(process: subprocess.Popen[str]) -> None:
    process.send_signal(signal.SIGTERM)
    process.communicate(timeout=TIMEOUT_S)


def assert_shown(expected: str, actual: str) -> None:
    """Raises AssertionError unless the output has the lines that a page shows."""
    pattern = "".join(map(_pattern, _lines(expected)))
    found = "".join(f"{line}\n" for line in _lines(actual))
    assert re.fullmatch(pattern, found), f"the page shows\n{expected}\nbut the output is\n{actual}"


def _pattern(line: str) -> str:
    return "(?:.*\n)*?" if line == "..." else ".*".join(re.escape(part) for part in line.split("...")) + "\n"


def _lines(text: str) -> Iterable[str]:
    return [VARYING.sub("T", " ".join(line.split())) for line in text.splitlines() if line.strip()]
