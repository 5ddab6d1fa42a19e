"""The generated parts of the documents are current, and the command that writes them changes nothing else."""

from __future__ import annotations

import pytest

from tests import api_page, documents
from tests.differential.comparison import KnownDifference

GENERATED = [
    documents.API_PAGE,
    documents.CONFIGURATION,
    documents.CONTROLS,
    documents.CONFORMANCE,
    documents.SERVED_APIS,
    documents.FAMILIES,
]


@pytest.mark.parametrize("name", GENERATED)
def test_document_follows_from_the_code(name: str) -> None:
    assert documents.read(name) == documents.rendered()[name], f"{name} is not current: run `make docs`"


def test_page_of_apis_with_missing_rows_gets_them_back() -> None:
    current = documents.read(documents.API_PAGE)
    (row,) = (line for line in current.splitlines(keepends=True) if line.startswith("| 0 | [Produce]"))
    assert api_page.rewritten(current.replace(row, "| 7 | ControlledShutdown | 0 |\n")) == current


def test_page_of_apis_without_the_mark_raises() -> None:
    with pytest.raises(ValueError, match=r"docs/apis\.md has no line"):
        api_page.rewritten("# odradek\n")


def test_deviations_with_one_reason_are_joined() -> None:
    known = [
        KnownDifference("fetch.a", "records", ("Fetch",), "because of the limit"),
        KnownDifference("fetch.b", "error_code", ("Fetch", "Produce"), "the same"),
    ]
    found = api_page.deviations(known)
    assert [str(each) for each in found["Fetch"]] == [
        "* Because of the limit.\n  Differs: `records`, `error_code`; in the cases `fetch.a`, `fetch.b`."
    ]
    assert [each.cases for each in found["Produce"]] == [("fetch.b",)]
