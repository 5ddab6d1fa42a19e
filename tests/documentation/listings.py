"""The listings of README.md and of the pages in docs/: fenced blocks with a language.

Each is run or read by test_listings.py, or has an entry in not_run.py.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).parents[2]
FENCE = re.compile(r"^```(?P<language>[^\n`]*)\n(?P<text>.*?)^```$", re.MULTILINE | re.DOTALL)
FILE = re.compile(r"(?:#|//) (?P<name>[\w.-]+\.\w+)\n")
"""The first line of a listing that is a file of the page's session: a comment with its name."""
INDENTED = re.compile(r"(?<=\n\n)    \S.*")
SESSION = ("shell", "console")
PROGRAM = "python"
FAMILIES = ("apis", "configuration", "conformance", "controls")
GENERATED = tuple(
    path.relative_to(ROOT).as_posix()
    for name in FAMILIES
    for path in (ROOT / "docs" / f"{name}.md", *sorted((ROOT / "docs" / name).glob("*.md")))
)
"""Pages that follow from the code; their examples are tested with the generators."""


class Listing(NamedTuple):
    """A block of a page. `line` is the number of its first line of text."""

    page: str
    line: int
    language: str
    text: str

    @property
    def file(self) -> str:
        """Returns the name of the file that the listing is, or "" if it has none."""
        found = FILE.match(self.text)
        return found["name"] if found else ""

    @property
    def is_directive(self) -> bool:
        return self.language.startswith("{")

    def __str__(self) -> str:
        return f"{self.page}:{self.line}: {self.text.splitlines()[0]}"


def pages() -> list[str]:
    """Returns README.md and the pages of the documentation that are not generated, by their paths in the repository."""
    found = sorted(path.relative_to(ROOT).as_posix() for path in (ROOT / "docs").rglob("*.md") if "_build" not in path.parts)
    return ["README.md", *(name for name in found if name not in GENERATED)]


def read(page: str) -> str:
    return (ROOT / page).read_text(encoding="utf-8")


def listings(page: str, text: str | None = None) -> Iterator[Listing]:
    """Yields the listings of a page, or of a text that stands for it."""
    text = read(page) if text is None else text
    for block in FENCE.finditer(text):
        yield Listing(page, text.count("\n", 0, block.start("text")) + 1, block["language"].strip(), block["text"])


def indented(text: str) -> list[str]:
    """Returns first lines of blocks that are indented instead of fenced, and therefore have no language."""
    return INDENTED.findall(FENCE.sub("", text))
