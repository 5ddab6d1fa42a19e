"""The help of `odradek`, with its examples, and the version."""

from __future__ import annotations

import re
import shlex

import pytest

import odradek
from odradek.broker import cli
from odradek.broker.cli import _parser, main
from odradek.broker.commands import consume, doctor, dump, explain, groups, healthcheck, produce, replay, serve, topics, trace


def test_bare_command_prints_help(capsys: pytest.CaptureFixture[str]) -> None:
    assert main([]) == 0
    assert capsys.readouterr().out == _parser().format_help()


WITH_EXAMPLES = (serve, produce, consume, topics, groups, dump, healthcheck, trace, explain, replay, doctor)


@pytest.mark.parametrize("text", [cli.EXAMPLES, *(command.EXAMPLES for command in WITH_EXAMPLES)])
def test_examples_of_the_help_are_accepted(text: str) -> None:
    examples = re.findall(r"^  odradek (\S.*?)(?:  .*)?$", re.sub(r"\\\n +", "", text), re.MULTILINE)
    assert len(examples) >= 2
    for example in examples:
        assert _parser().parse_args(shlex.split(example)).command == example.split()[0]


def test_help_of_serve_has_defaults_and_examples(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit, match="0"):
        main(["serve", "--help"])
    text = capsys.readouterr().out
    assert text.endswith(serve.EXAMPLES)
    found = re.findall(r"\(default: ([^);]+)", re.sub(r"\s+", " ", text))
    assert {"2", "9092", "127.0.0.1", "text"} <= set(found)


def test_version_is_that_of_the_package(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit, match="0"):
        main(["--version"])
    assert capsys.readouterr().out == f"odradek {odradek.__version__}\n"
