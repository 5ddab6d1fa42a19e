"""The generated parts of the documents are current, and the command that writes them changes nothing else."""

from __future__ import annotations

import pytest

from tests import documents

GENERATED = [
    documents.README,
    documents.CONFIGURATION,
    documents.CONTROLS,
    documents.CONFORMANCE,
    documents.SERVED_APIS,
    documents.FAMILIES,
]


@pytest.mark.parametrize("name", GENERATED)
def test_document_follows_from_the_code(name: str) -> None:
    assert documents.read(name) == documents.rendered()[name], f"{name} is not current: run `make docs`"


def test_readme_with_missing_rows_gets_them_back(monkeypatch: pytest.MonkeyPatch) -> None:
    current = documents.readme()
    (row,) = (line for line in current.splitlines(keepends=True) if line.startswith("| 0 | Produce |"))
    monkeypatch.setattr(documents, "read", lambda _: current.replace(row, "| 7 | Nothing | 0 |\n"))
    assert documents.readme() == current


def test_readme_without_the_table_raises(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(documents, "read", lambda _: "# odradek\n")
    with pytest.raises(ValueError, match=r"README\.md has 0 tables"):
        documents.readme()
