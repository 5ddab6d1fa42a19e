"""Completion of the command line, in the shells that the machine has."""

from __future__ import annotations

import os
import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from odradek import Cluster
from odradek.broker.cli import _parser
from odradek.broker.commands.completion import add_controls
from odradek.broker.controls.declaration import CONTROLS
from tests.broker.commands.console import Console
from tests.broker.process.serve_process import CLEAN, COMMAND

argcomplete = pytest.importorskip("argcomplete")


@pytest.fixture
def environ(tmp_path: Path) -> dict[str, str]:
    """An environment whose path contains the command odradek."""
    command = tmp_path / "bin" / "odradek"
    command.parent.mkdir()
    command.write_text(f'#!/bin/sh\nexec {shlex.join(COMMAND)} "$@"\n')
    command.chmod(0o755)
    clean = {name: value for name, value in CLEAN.items() if name not in ("BOOTSTRAP_SERVERS", "ODRADEK_CONTROL")}
    return clean | {"PATH": f"{command.parent}{os.pathsep}{os.environ['PATH']}", "HOME": str(tmp_path), "BOOTSTRAP_SERVERS": "127.0.0.1:1"}


def needs(shell: str) -> str:
    """Returns the path of a shell. Skips the test if the machine does not have it."""
    if (path := shutil.which(shell)) is None:
        pytest.skip(f"{shell} is not installed")
    return path


def in_bash(line: str, environ: dict[str, str], tmp_path: Path) -> list[str]:
    """Returns the completions of the function that the script registers, called as bash calls it at Tab."""
    script = r"""
        eval "$(odradek completion bash)"
        COMP_LINE=$1 COMP_POINT=${#1} COMP_TYPE=9
        [[ $(complete -p odradek) =~ -F\ ([^ ]+) ]]
        "${BASH_REMATCH[1]}" odradek 2>/dev/null
        printf '%s\n' "${COMPREPLY[@]}"
    """
    command = [needs("bash"), "--norc", "-c", script, "bash", line]
    return subprocess.run(command, env=environ, cwd=tmp_path, capture_output=True, text=True, check=True).stdout.split()


def in_zsh(line: str, environ: dict[str, str], tmp_path: Path) -> list[str]:
    """Returns the last word of the line after Tab in a terminal with zsh, which completes it if there is one completion."""
    script = r"""
        zmodload zsh/zpty
        zpty shell zsh -f -i
        zpty -w shell 'autoload -U compinit; compinit -u -D; eval "$(odradek completion zsh)"'
        zpty -w shell 'show() { print -r -- "BUFFER=[$BUFFER]" }; zle -N show; bindkey "^X" show; print REA""DY'
        zpty -r -m shell line '*READY*'
        zpty -w -n shell "$1"$'\t\x18'
        zpty -r -m shell line '*BUFFER=*]*'
        print -r -- "$line"
    """
    command = [needs("zsh"), "-f", "-c", script, "zsh", line]
    shown = subprocess.run(command, env=environ, cwd=tmp_path, capture_output=True, text=True, check=True, timeout=60).stdout
    (buffer,) = re.findall(r"BUFFER=\[(.*)\]", shown)
    return str(buffer).split()[-1:]


def in_fish(line: str, environ: dict[str, str], tmp_path: Path) -> list[str]:
    script = "odradek completion fish | source; complete --do-complete $argv[1]"
    command = [needs("fish"), "--no-config", "-c", script, line]
    shown = subprocess.run(command, env=environ, cwd=tmp_path, capture_output=True, text=True, check=True).stdout
    return [found.partition("\t")[0] for found in shown.splitlines()]


Shell = Callable[[str, dict[str, str], Path], list[str]]
SHELLS = [in_bash, in_zsh, in_fish]


@pytest.mark.parametrize("shell", SHELLS)
@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("odradek topics desc", "describe"),
        ("odradek produce orders --compression zs", "zstd"),
        ("odradek ctl topic create --replication-f", "--replication-factor"),
        ("odradek serve --data see", "seed.jsonl"),
        ("odradek serve --log-level WA", "WARN"),
        ("odradek serve --qui", "--quiet"),
    ],
)
def test_word_is_completed(shell: Shell, line: str, expected: str, environ: dict[str, str], tmp_path: Path) -> None:
    (tmp_path / "seed.jsonl").touch()
    assert shell(line, environ, tmp_path) == [expected]


@pytest.mark.parametrize("shell", SHELLS)
def test_names_of_topics_and_groups_are_completed(shell: Shell, environ: dict[str, str], tmp_path: Path, console: Console) -> None:
    with Cluster(nodes=1, topics={"orders": 1, "payments": 1}) as cluster:
        environ["BOOTSTRAP_SERVERS"] = cluster.bootstrap_servers
        console.use(cluster)
        console.succeed("groups", "reset-offsets", "billing", "--topic", "orders", "--to", "latest")
        assert shell("odradek groups delete bil", environ, tmp_path) == ["billing"]
        assert shell("odradek consume ord", environ, tmp_path) == ["orders"]
        assert shell(f"odradek topics --bootstrap-server {cluster.bootstrap_servers} delete pay", environ, tmp_path) == ["payments"]
        assert shell("odradek ctl topic delete pay", environ, tmp_path) == ["payments"]


def test_several_words_are_offered(environ: dict[str, str], tmp_path: Path) -> None:
    assert {"serve", "produce", "consume", "topics", "groups", "ctl"} <= set(in_bash("odradek ", environ, tmp_path))
    assert in_bash("odradek topics ", environ, tmp_path) == ["list", "describe", "create", "delete"]


def test_cluster_that_does_not_answer_offers_nothing(environ: dict[str, str], tmp_path: Path) -> None:
    assert in_bash("odradek consume or", environ, tmp_path) == []


def test_commands_of_controls_are_all_in_the_parser() -> None:
    parser = _parser()
    add_controls(parser)
    for words in CONTROLS:
        assert parser.parse_args(["ctl", *words]).command == "ctl"


def test_missing_package_is_one_line(console: Console, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "argcomplete.shell_integration", None)
    result = console.run("completion", "bash")
    assert (result.code, result.output) == (2, "")
    assert result.errors == "odradek: completion needs the package argcomplete: pip install 'odradek[completion]'\n"


def test_unknown_shell_is_a_usage_error(console: Console) -> None:
    result = console.run("completion", "csh")
    assert (result.code, result.output) == (2, "")
    assert "unknown value 'csh'; did you mean" in result.errors
