"""The commands in docs/commands.md run as they are written, in one folder and beside one cluster, and print what the page shows.

The cluster of the page listens on free ports, so the addresses in commands and outputs are replaced by those of the page.
"""

from __future__ import annotations

import os
import re
import shlex
import signal
import subprocess
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

import pytest

from odradek.broker.cli import COMMANDS
from tests.broker.commands.console import Console
from tests.broker.process.serve_process import CLEAN, COMMAND, running

from .listings import listings
from .session import commands

PAGE = "docs/commands.md"
SERVERS, CONTROL = "127.0.0.1:9092", "127.0.0.1:9099"
VARIABLES = ("BOOTSTRAP_SERVERS", "ODRADEK_CONTROL")


LISTINGS = [(listing, command) for listing in listings(PAGE) if listing.language == "console" for command in commands(listing)]


def matches(shown: str, output: str) -> bool:
    """Returns whether an output is as shown, where `...` stands for any text."""
    pattern = ".*".join(re.escape(part) for part in re.split(r"\.\.\.\n?", shown))
    return re.fullmatch(f"{pattern}\n?" if "..." in shown else pattern, output, re.DOTALL) is not None


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder in which the commands run, with the command odradek in `bin`."""
    folder = tmp_path_factory.mktemp("commands")
    command = folder / "bin" / "odradek"
    command.parent.mkdir()
    command.write_text(f'#!/bin/sh\nexec {shlex.join(COMMAND)} "$@"\n')
    command.chmod(0o755)
    return folder


@contextmanager
def cluster_of_the_page() -> Iterator[tuple[dict[str, str], str]]:
    """Runs the first command of the page on a terminal. Yields the addresses of the page with those in use, and the output."""
    _, first = LISTINGS[0]
    argv = shlex.split(first.text.replace(CONTROL, "127.0.0.1:0"))[2:]
    ours, theirs = os.openpty()
    with running([*argv, "--port", "0"], stderr=theirs) as process, os.fdopen(ours, encoding="utf-8", newline="") as terminal:
        os.close(theirs)
        assert process.stdout is not None
        output = process.stdout.readline() + process.stdout.readline()
        while "Ctrl-C stops" not in output:
            output += terminal.readline().replace("\r\n", "\n")
        servers, control = (line.partition("=")[2] for line in output.splitlines()[:2])
        yield {SERVERS: servers, CONTROL: control}, output
        process.send_signal(signal.SIGINT)
        assert process.wait(10) == 0


def replaced(text: str, names: Mapping[str, str]) -> str:
    for name, other in names.items():
        text = text.replace(name, other)
    return text


def run(command: str, folder: Path, console: Console) -> tuple[int, str]:
    """Returns the exit code and the output of a command.

    A command that needs no shell runs in this process, because starting Python would take most of the time.
    """
    if command.startswith("odradek ") and not re.search(r"[|<>&;$#]", command):
        result = console.run(*shlex.split(command.replace("\\\n", ""))[1:])
        return result.code, result.output + result.errors
    environ = CLEAN | {name: os.environ[name] for name in VARIABLES} | {"PATH": f"{folder / 'bin'}{os.pathsep}{os.environ['PATH']}"}
    shell = ["bash", "-c", command]
    done = subprocess.run(shell, cwd=folder, env=environ, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=60)
    return done.returncode, done.stdout


@pytest.mark.slow
@pytest.mark.sockets
def test_commands_of_the_page_print_what_it_shows(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("argcomplete")
    monkeypatch.chdir(folder)
    with cluster_of_the_page() as (addresses, output):
        back = {used: documented for documented, used in addresses.items()}
        assert replaced(output, back) == LISTINGS[0][1].output
        for name, documented in zip(VARIABLES, (SERVERS, CONTROL), strict=True):
            monkeypatch.setenv(name, addresses[documented])
        for listing, (command, shown) in LISTINGS[1:]:
            code, output = run(replaced(command, addresses), folder, Console(monkeypatch))
            printed = replaced(output, back)
            assert shown is not None
            assert (code == 0) is not shown.startswith("odradek: ")
            assert matches(shown, printed), f"{listing.page}:{listing.line}: {command}printed\n{printed}instead of\n{shown}"


def test_page_has_an_example_of_each_command() -> None:
    used = {word for _, command in LISTINGS for word in re.findall(r"odradek (\w+)", command.text)}
    assert used >= {*COMMANDS, "ctl"}
