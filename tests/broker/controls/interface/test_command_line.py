"""Controls on the command line: words, arguments and help."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest

from odradek.broker.control_errors import InvalidControl
from odradek.broker.controls.declaration import CONTROLS, Control
from odradek.broker.controls.interface.command_help import COMMON_OPTIONS, help_of, help_text_of, in_command_words, usage_of
from odradek.broker.controls.interface.command_line import command_of, find_control, group_of, pairs_of
from odradek.broker.controls.interface.examples import example_of
from odradek.broker.controls.interface.signatures import bind, bind_texts, parameters_of
from tests.broker.controls.interface.sample_control import SAMPLE, declared_sample  # noqa: F401  (a fixture)

ROOT = Path(__file__).parents[4]
ALL = pytest.mark.parametrize("declared", CONTROLS.values(), ids=lambda declared: " ".join(declared.words))


@pytest.mark.parametrize(
    ("arguments", "pairs"),
    [
        ("2", [("node", "2")]),
        ("2 10m", [("node", "2"), ("pause", "10m")]),
        ("--pause 10m 2", [("pause", "10m"), ("node", "2")]),
        ("--node=2 10m", [("node", "2"), ("pause", "10m")]),
        ("2 --names a --names=b", [("node", "2"), ("names", "a"), ("names", "b")]),
        ("2 --flag", [("node", "2"), ("flag", "true")]),
        ("2 --no-flag --flag=false", [("node", "2"), ("flag", "false"), ("flag", "false")]),
        ("--names --flag 2", [("names", "--flag"), ("node", "2")]),
        ("-2", [("node", "-2")]),
        ("-- -x --names", [("node", "-x"), ("pause", "--names")]),
    ],
)
def test_arguments_become_pairs(arguments: str, pairs: list[tuple[str, str]]) -> None:
    assert pairs_of(SAMPLE, arguments.split()) == pairs


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ("2 10m 3", "unexpected argument '3'"),
        ("2 --nmaes a", "--nmaes: there is no option '--nmaes'; did you mean '--names'?"),
        ("2 --when f", "--when: there is no option '--when'"),
        ("2 --no-names", "--no-names: there is no option '--no-names'; did you mean '--names'?"),
        ("2 --names", "--names: needs a value (names)"),
        ("2 -n a", "-n: there is no option '-n'"),
    ],
)
def test_invalid_arguments_are_named(arguments: str, message: str) -> None:
    with pytest.raises(InvalidControl, match=re.escape(message)):
        pairs_of(SAMPLE, arguments.split())


def test_list_without_its_option_takes_all_arguments() -> None:
    control, arguments = find_control(shlex.split("record produce orders a b c --partition 0"))
    assert control.words == ("record", "produce")
    assert pairs_of(control, arguments) == [("topic", "orders"), *(("records", each) for each in "abc"), ("partition", "0")]


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ("nod stop 2", "there is no command 'nod'; did you mean 'node'?"),
        ("node stpo 2", "there is no command 'node stpo'; did you mean 'node stop'?"),
        ("node", "give a command: "),
        ("2", "there is no command '2'; use one of "),
    ],
)
def test_unknown_command_suggests_the_nearest(words: str, message: str) -> None:
    with pytest.raises(InvalidControl) as raised:
        find_control(words.split())
    assert str(raised.value).startswith(message)


@ALL
def test_example_command_is_the_example_call(declared: Control) -> None:
    example = example_of(declared)
    words = shlex.split(command_of(declared, example))
    assert words[:2] == ["odradek", "ctl"]
    control, arguments = find_control(words[2:])
    assert control is declared
    assert bind_texts(control, pairs_of(control, arguments)) == bind(declared, example)


@pytest.mark.parametrize("name", ["docs/serving.md", "docs/testing.md", "docs/time.md", "docs/controls/node.md", "docs/controls/fault.md"])
def test_commands_in_documents_are_accepted(name: str) -> None:
    found = re.findall(r"odradek ctl ((?:[a-z-]+ )+.+?)(?=`|$)", (ROOT / name).read_text(encoding="utf-8"), re.MULTILINE)
    assert found
    for text in found:
        control, arguments = find_control(shlex.split(text))
        bind_texts(control, pairs_of(control, arguments))


@ALL
def test_help_of_a_command_has_all_parameters(declared: Control) -> None:
    text = help_of(declared.words)
    assert " ".join(text.split()).startswith(f"usage: {usage_of(declared)} {' '.join(help_text_of(declared).split())}")
    flat = " ".join(text.split())
    assert all(" ".join(in_command_words(each.help, declared).split()) in flat for each in parameters_of(declared).values())
    assert f"\n  {command_of(declared, example_of(declared))}\n" in text
    assert max(map(len, text.splitlines())) <= 140


@ALL
def test_parameters_do_not_hide_common_options(declared: Control) -> None:
    taken = {option.split()[0].removeprefix("--").replace("-", "_") for option, _ in COMMON_OPTIONS}
    assert not parameters_of(declared).keys() & taken


def test_help_lists_the_commands_of_a_group() -> None:
    text = help_of(["clock"])
    assert "\n  clock advance  Moves the time forward by a duration" in text
    assert "node stop" not in text
    assert "\n  node stop " in help_of([])
    assert all(option in text for option, _ in COMMON_OPTIONS)


@pytest.mark.usefixtures("declared_sample")
def test_help_of_a_sample_is_aligned() -> None:
    assert group_of(["sample", "do"]) == ("sample",)
    usage, summary, arguments, *_ = help_of(["sample", "do"]).split("\n\n")
    assert usage == "usage: odradek ctl sample do NODE [PAUSE] [--names NAMES] [--flag]"
    assert summary == "Does a sample."
    assert arguments.splitlines()[1] == "  NODE           the id of a node (an integer)"
    assert arguments.splitlines()[-1] == "  --flag         a flag (true or false; default: true)"
