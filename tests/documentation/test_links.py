"""Links in the documents of the repository lead to files and headings that exist, as GitHub shows them."""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path

import pytest

from .listings import FENCE, GENERATED, ROOT, pages, read

DOCUMENTS = [*pages(), *GENERATED, "ARCHITECTURE.md", "CHANGELOG.md", "CONTRIBUTING.md", "SECURITY.md"]
LINK = re.compile(r"\]\((?!https?://)(?P<path>[^)#\s]*)(?:#(?P<anchor>[^)\s]+))?\)")


@cache
def anchors(document: str) -> set[str]:
    """Returns the anchors that GitHub makes for the headings of a document."""
    headings = re.findall(r"^#+ (.+)$", FENCE.sub("", read(document)), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


def broken(document: str, text: str) -> list[str]:
    """Returns the links of a text that lead nowhere, as if the text were the document."""
    found = []
    for link in LINK.finditer(FENCE.sub("", text)):
        target = (ROOT / document).parent / link["path"] if link["path"] else ROOT / document
        name = target.resolve().relative_to(ROOT.resolve()).as_posix()
        if not target.exists() or (link["anchor"] and link["anchor"] not in anchors(name)):
            found.append(link[0])
    return found


@pytest.mark.parametrize("document", DOCUMENTS)
def test_links_of_a_document_lead_somewhere(document: str) -> None:
    assert not broken(document, read(document))


def test_links_to_missing_files_and_headings_are_found() -> None:
    text = "[a](faults.md) [b](missing.md) [c](faults.md#match) [d](faults.md#missing) [e](#missing)\n```text\n[f](missing.md)\n```\n"
    assert broken("docs/index.md", text) == ["](missing.md)", "](faults.md#missing)", "](#missing)"]


def test_pages_are_all_in_a_table_of_contents() -> None:
    listed = set()
    for index in (*pages(), *GENERATED):
        for block in FENCE.finditer(read(index)):
            if block["language"].strip() == "{toctree}":
                names = [line for line in block["text"].splitlines() if line and not line.startswith(":") and "<self>" not in line]
                listed |= {(Path(index).parent / f"{name}.md").as_posix() for name in names}
    assert listed == {*pages(), *GENERATED} - {"README.md", "docs/index.md"}
