"""The help of controls in the words of the command line, derived from the docstrings that Python's users read.

A command prints what a method returns, ends with an exit code instead of an exception, and has options instead of parameters. Sentences
that begin with "Raises" or "In Python" are for Python's users only.
"""

from __future__ import annotations

import re

from ..declaration import CONTROLS, Control
from .command_line import option_of, positionals_of
from .signatures import parameters_of

_PYTHON_ONLY = ("Raises ", "In Python, ")
_VERBS = (
    (r"^Returns (when|once) ", "Waits until "),
    (r"\breturns (when|once) ", "ends when "),
    (r"\bReturns\b", "Prints"),
    (r"\breturns\b", "prints"),
)


def summary_of(control: Control) -> str:
    """Returns the first line of a command's help."""
    return help_text_of(control).partition("\n")[0]


def help_text_of(control: Control) -> str:
    """Returns what a command does and prints: a summary, and a paragraph of details if there are any."""
    paragraphs = (_for_commands(paragraph, control) for paragraph in control.help.split("\n\n"))
    return "\n\n".join(filter(None, paragraphs))


def in_command_words(text: str, control: Control) -> str:
    """Returns a text with each name in backticks as the command line writes it."""
    return re.sub("`([^`]*)`", lambda match: _named(match[1], control), text)


def _for_commands(paragraph: str, control: Control) -> str:
    sentences = re.split(r"(?<=\.)\s+(?=[A-Z`])", " ".join(paragraph.split()))
    text = " ".join(each for each in sentences if not each.startswith(_PYTHON_ONLY))
    for pattern, words in _VERBS:
        text = re.sub(pattern, words, text)
    return in_command_words(text, control)


def _named(code: str, control: Control) -> str:
    """Returns the option of a parameter, the words of a control, or anything else as it is."""
    name, _, value = code.partition("=")
    if parameter := parameters_of(control).get(name):
        if value:
            return option_of(f"no_{name}") if value == "False" else option_of(name)
        return name.upper() if parameter in positionals_of(control) else option_of(name)
    other = next((each for each in CONTROLS.values() if each.method.__name__ == name and each.owner in ("", control.owner)), None)
    return f"'{' '.join(other.words)}'" if other else code
