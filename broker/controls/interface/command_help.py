"""The help of `odradek ctl`: of all commands, of those that begin with a word, or of one command with its arguments.

It is derived from the docstrings that Python's users read. A command prints what a method returns, ends with an exit code instead of an
exception, and has options instead of parameters. Sentences that begin with "Raises" or "In Python" are for Python's users only.
"""

from __future__ import annotations

import re
import textwrap
from collections.abc import Sequence
from itertools import groupby

from ..declaration import CONTROLS, Control
from .command_line import command_of, find_control, group_of, is_flag, option_of, positionals_of
from .examples import example_of
from .results import json_of
from .signatures import Parameter, parameters_of

WIDTH = 100
COMMON_OPTIONS = (
    ("--control HOST:PORT", "the control listener of the cluster (default: ODRADEK_CONTROL, or 127.0.0.1:9099)"),
    ("--control-token TOKEN", "its token (default: ODRADEK_CONTROL_TOKEN)"),
    ("--command-config FILE", "a properties file with odradek.control and odradek.control.token"),
    ("--output table|json", "the format of the result (default: table)"),
    ("--help", "print this help"),
)
_INTRODUCTION = """\
usage: odradek ctl COMMAND ... [options]

Controls a running cluster, which odradek serve --control 127.0.0.1:9099 offers.
Exit code: 0; 1 if it did not happen, such as a wait that timed out; 2 for a mistake in the call."""

_PYTHON_ONLY = ("Raises ", "In Python, ")
_VERBS = (
    (r"^Returns (when|once) ", "Waits until "),
    (r"\breturns (when|once) ", "ends when "),
    (r"\bReturns\b", "Prints"),
    (r"\breturns\b", "prints"),
)


def help_of(tokens: Sequence[str]) -> str:
    """Returns the help for the words of a command. Raises InvalidControl for other words."""
    if group_of(tokens) == tuple(tokens):
        return _help_of_group(tuple(tokens))
    return _help_of_control(find_control(tokens)[0])


def usage_of(control: Control) -> str:
    """Returns the command with the names of its arguments."""
    parts = ["odradek ctl", *control.words]
    for parameter in positionals_of(control):
        name = parameter.name.upper() + (" ..." if parameter.shape.repeats else "")
        parts.append(name if parameter.required else f"[{name}]")
    named = [each for each in parameters_of(control).values() if each not in positionals_of(control)]
    return " ".join([*parts, *(f"[{_option(each)}]" for each in named)])


def _help_of_group(group: tuple[str, ...]) -> str:
    controls = [control for words, control in CONTROLS.items() if words[: len(group)] == group]
    families = groupby(sorted(controls, key=_family), _family)
    lists = [f"{family} commands:\n" + _columns([(" ".join(each.words), summary_of(each)) for each in found]) for family, found in families]
    more = f"odradek ctl {' '.join(controls[0].words)} --help describes a command and its arguments."
    return "\n\n".join([_INTRODUCTION, *lists, more, "options:\n" + _columns(COMMON_OPTIONS)]) + "\n"


def _help_of_control(control: Control) -> str:
    usage = textwrap.fill(f"usage: {usage_of(control)}", WIDTH, subsequent_indent="    ", break_on_hyphens=False, break_long_words=False)
    parts = [usage, _paragraphs(help_text_of(control))]
    if parameters := parameters_of(control):
        parts.append(
            "arguments:\n" + _columns([(_label(each, control), in_command_words(describe(each), control)) for each in parameters.values()])
        )
    parts += [f"example:\n  {command_of(control, example_of(control))}", "options:\n" + _columns(COMMON_OPTIONS)]
    return "\n\n".join(parts) + "\n"


def describe(parameter: Parameter) -> str:
    """Returns the help of a parameter with its type and its default."""
    default = f"; default: {json_of(parameter.default)}" if parameter.has_default else ""
    repeats = "; may be repeated" if parameter.shape.repeats else ""
    return f"{parameter.help} ({parameter.shape.name}{default}{repeats})"


def _label(parameter: Parameter, control: Control) -> str:
    return parameter.name.upper() if parameter in positionals_of(control) else _option(parameter)


def _option(parameter: Parameter) -> str:
    option = option_of(parameter.name)
    return option if is_flag(parameter) else f"{option} {parameter.name.rpartition('_')[2].upper()}"


def _family(control: Control) -> str:
    return control.words[0]


def _paragraphs(text: str) -> str:
    return "\n\n".join(textwrap.fill(each, WIDTH, break_on_hyphens=False, break_long_words=False) for each in text.split("\n\n"))


def _columns(rows: Sequence[tuple[str, str]]) -> str:
    width = min(24, max(len(first) for first, _ in rows))
    lines: list[str] = []
    for first, second in rows:
        text = textwrap.wrap(second, WIDTH - width - 4)
        if len(first) > width:
            lines.append(f"  {first}")
            first = ""
        lines += [f"  {label:<{width}}  {line}" for label, line in zip([first, *[""] * len(text)], text, strict=False)]
    return "\n".join(lines)


# The words of the command line


def summary_of(control: Control) -> str:
    """Returns the first line of a command's help."""
    return help_text_of(control).partition("\n")[0]


def help_text_of(control: Control) -> str:
    """Returns what a command does and prints: a summary, and a paragraph of details if there are any."""
    paragraphs = (_for_commands(paragraph, control) for paragraph in control.help.split("\n\n"))
    return "\n\n".join(filter(None, paragraphs))


def in_command_words(text: str, control: Control) -> str:
    """Returns a text with each name in backticks as the command line writes it."""
    return re.sub("`([^`]*)`", lambda match: _word_of(match[1], control), text)


def _for_commands(paragraph: str, control: Control) -> str:
    sentences = re.split(r"(?<=\.)\s+(?=[A-Z`])", " ".join(paragraph.split()))
    text = " ".join(each for each in sentences if not each.startswith(_PYTHON_ONLY))
    for pattern, words in _VERBS:
        text = re.sub(pattern, words, text)
    return in_command_words(text, control)


def _word_of(code: str, control: Control) -> str:
    """Returns the option of a parameter, the words of a control, or anything else as it is."""
    name, _, value = code.partition("=")
    if parameter := parameters_of(control).get(name):
        if value:
            return option_of(f"no_{name}") if value == "False" else option_of(name)
        return name.upper() if parameter in positionals_of(control) else option_of(name)
    other = next((each for each in CONTROLS.values() if each.method.__name__ == name and each.owner in ("", control.owner)), None)
    return f"'{' '.join(other.words)}'" if other else code
