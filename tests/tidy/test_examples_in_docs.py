"""The Python blocks of the pages in docs/ run: those of one page are one program."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

DOCS = Path(__file__).parents[2] / "docs"
PAGES = [page for page in sorted(DOCS.glob("*.md")) if page.name != "spark.md"]  # Spark's page has fragments that need a session


def program(page: Path) -> str:
    """Returns the Python blocks of a page at their line numbers, so that a traceback names the lines of the page."""
    text = page.read_text()
    lines = [""] * (text.count("\n") + 1)
    for block in re.finditer(r"^```python\n(.*?)^```", text, re.MULTILINE | re.DOTALL):
        first = text.count("\n", 0, block.start(1))
        for number, line in enumerate(block[1].splitlines(), first):
            lines[number] = line
    return "\n".join(lines)


@pytest.mark.sockets
@pytest.mark.clients
@pytest.mark.parametrize("page", [page for page in PAGES if "```python" in page.read_text()], ids=lambda page: str(page.name))
def test_python_blocks_of_a_page_run(page: Path) -> None:
    exec(compile(program(page), str(page), "exec"), {"__name__": "docs"})
