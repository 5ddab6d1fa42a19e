"""docs/cluster.md has every argument of `Cluster` and `Cluster.load`, in order, with its type, default, option of serve and an example."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable

import pytest

from odradek import AsyncCluster, Cluster
from tests.documentation.command_options import options_of_commands

from .listings import PROGRAM, listings, read

PAGE = "docs/cluster.md"
ROW = re.compile(
    r"^\| (?:\[`(?P<linked>\w+)`\]\(#[\w-]+\)|`(?P<name>\w+)`) \| `(?P<type>.+?)` \| (?P<default>.+?) \| (?P<option>.*?) ?\|$", re.MULTILINE
)
HEADING = "## Cluster.load"


def tables() -> tuple[list[re.Match[str]], list[re.Match[str]]]:
    """Returns the rows of the arguments of `Cluster`, and of those of `Cluster.load`."""
    made, _, loaded = read(PAGE).partition(HEADING)
    return list(ROW.finditer(made)), list(ROW.finditer(loaded))


def described(rows: list[re.Match[str]]) -> list[tuple[str, str, str]]:
    return [(row["linked"] or row["name"], row["type"].replace("\\|", "|"), row["default"]) for row in rows]


def signature_of(function: Callable[..., object]) -> list[tuple[str, str, str]]:
    """Returns the arguments of a function as the page writes them: name, type and default."""
    parameters = [each for each in inspect.signature(function).parameters.values() if each.name != "self"]
    return [
        (each.name, each.annotation, "required" if each.default is inspect.Parameter.empty else f"`{each.default!r}`")
        for each in parameters
    ]


def test_page_has_the_arguments_of_the_signature() -> None:
    made, loaded = tables()
    assert described(made) == signature_of(Cluster.__init__) == signature_of(AsyncCluster.__init__)
    assert described(loaded) == signature_of(Cluster.load) == signature_of(AsyncCluster.load)


def test_page_names_options_of_serve() -> None:
    options = [found for rows in tables() for row in rows for found in re.findall(r"--[a-z-]+", row["option"])]
    assert set(options) <= options_of_commands()["serve"]


@pytest.mark.parametrize("name", [name for name, _, _ in signature_of(Cluster.__init__)])
def test_page_has_an_example_of_each_argument(name: str) -> None:
    calls = [listing.text for listing in listings(PAGE) if listing.language == PROGRAM]
    assert re.search(rf"^## (?:.* and )?{name}\b", read(PAGE), re.MULTILINE)
    assert any(re.search(rf"\bCluster\([^()]*\b{name}=", text) for text in calls)
