"""Options of `odradek` that the documentation names exist, also those in listings that are not run and in sentences."""

from __future__ import annotations

import re
from collections.abc import Iterator

import pytest

from tests.documentation.command_options import options_of_commands

from .listings import pages, read

NAMED = re.compile(r"\bodradek (?P<command>[a-z]+)(?P<rest>(?:[^`\n\\]|\\\n)*)")
QUOTED = re.compile(r"'[^']*'|\"[^\"]*\"")
OPTION = re.compile(r"(?<=\s)--[a-z-]+")


def unknown(text: str) -> Iterator[str]:
    """Yields the commands and options of a text that do not exist."""
    known = options_of_commands()
    for found in NAMED.finditer(text):
        options = OPTION.findall(QUOTED.sub("", found["rest"].partition(" && ")[0]))
        if found["command"] in known:
            yield from (f"{found['command']} {option}" for option in options if option not in known[found["command"]])


@pytest.mark.parametrize("page", pages())
def test_options_in_a_page_exist(page: str) -> None:
    assert not list(unknown(read(page)))


def test_options_that_do_not_exist_are_found() -> None:
    text = "`odradek serve --nodes 2 --colour red --exec 'pytest --quiet'` or\nodradek trace \\\n  --colour"
    assert list(unknown(text)) == ["serve --colour", "trace --colour"]
