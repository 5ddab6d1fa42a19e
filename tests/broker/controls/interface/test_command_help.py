"""The help of commands: the words of the command line, without those of Python, for every control and every command."""

from __future__ import annotations

import argparse
import re
from collections.abc import Iterator

import pytest

from odradek.broker.cli import _parser
from odradek.broker.commands.completion import add_controls
from odradek.broker.controls import cluster_controls  # noqa: F401  (declares the controls)
from odradek.broker.controls.declaration import CONTROLS, Control
from odradek.broker.controls.interface.command_help import help_of, help_text_of, in_command_words, summary_of

PYTHON = re.compile(
    r"`|\b([Rr]eturns|Raises|raises|In Python|None|True|False|str|dict|tuple|cluster\.(?!odradek\b)\w+|Cluster"
    r"|\w+Error|InvalidControl|ControlRefused)\b"
)
GROUPS = sorted({words[:length] for words in CONTROLS for length in range(len(words))})


def parsers_in(parser: argparse.ArgumentParser) -> Iterator[argparse.ArgumentParser]:
    yield parser
    for action in parser._actions:
        if isinstance(action, argparse._SubParsersAction):
            for command in action.choices.values():
                yield from parsers_in(command)


@pytest.mark.parametrize("declared", CONTROLS.values(), ids=lambda declared: " ".join(declared.words))
def test_help_of_a_command_has_no_words_of_python(declared: Control) -> None:
    text = help_of(declared.words)
    assert not PYTHON.search(text), text
    assert summary_of(declared) in " ".join(text.split())


@pytest.mark.parametrize("group", GROUPS, ids=" ".join)
def test_list_of_commands_has_no_words_of_python(group: tuple[str, ...]) -> None:
    assert not PYTHON.search(help_of(group))


def test_help_of_other_commands_has_no_words_of_python() -> None:
    parser = _parser()
    add_controls(parser)
    found = {each.prog: match[0] for each in parsers_in(parser) if (match := PYTHON.search(each.format_help()))}
    assert not found


def test_commands_are_listed_by_family() -> None:
    listed = re.findall(r"^(\w+) commands:\n((?:  .*\n)+)", help_of([]), re.MULTILINE)
    assert [family for family, _ in listed] == sorted({words[0] for words in CONTROLS})
    for family, rows in listed:
        named = re.findall(rf"^  ({family}\b[\w\- ]*?)(?:  |$)", rows, re.MULTILINE)
        assert named == [" ".join(words) for words in CONTROLS if words[0] == family]


@pytest.mark.parametrize(
    ("words", "part"),
    [
        ("topic create", "Creates a topic and prints its description."),
        ("fault wait", "Waits until a fault has hit this many requests."),
        ("clock advance", "and ends when all is done."),
        ("clock freeze", "It then passes only by 'clock advance' and 'clock set', until 'clock run' is called."),
        ("node stop", "With --no-graceful they move after broker.session.timeout.ms."),
        ("record wait", "Waits until a topic has N records"),
        ("state restore", "Brings the cluster back to the state of a snapshot"),
    ],
)
def test_names_are_those_of_the_command_line(words: str, part: str) -> None:
    assert part in help_text_of(CONTROLS[tuple(words.split())])


def test_sentences_for_python_are_left_out() -> None:
    save = CONTROLS["state", "save"]
    assert "Cluster.load" in save.help
    assert help_text_of(save).endswith("\n\nodradek serve --load starts a cluster with this state.")


def test_name_of_a_control_is_one_of_the_same_object() -> None:
    assert in_command_words("`set` and `advance`", CONTROLS["clock", "show"]) == "'clock set' and 'clock advance'"
    assert in_command_words("`metric.reporters`", CONTROLS["telemetry", "list"]) == "metric.reporters"
