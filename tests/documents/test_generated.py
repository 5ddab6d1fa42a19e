"""The generated parts of the documents are current, and the command that writes them changes nothing else."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from documents import apis, conformance, generated
from tests.differential.comparison import KnownDifference

RENDERED = generated.rendered()


@pytest.mark.parametrize("name", RENDERED)
def test_document_follows_from_the_code(name: str) -> None:
    assert generated.read(name) == RENDERED[name], f"{name} is not current: run `make docs`"


def test_folders_of_generated_pages_have_no_others() -> None:
    pages = generated.generated_pages()
    folders = {(generated.ROOT / name).parent for name in pages if name.count("/") > 1}
    assert {page.relative_to(generated.ROOT).as_posix() for folder in folders for page in folder.iterdir()} <= pages.keys()


def test_writing_removes_former_pages(tmp_path: Path) -> None:
    (tmp_path / "docs" / "controls").mkdir(parents=True)
    (tmp_path / "docs" / "controls" / "former.md").touch()
    generated.write({"docs/controls.md": "all", "docs/controls/new.md": "new"}, tmp_path)
    assert sorted(path.name for path in tmp_path.rglob("*.md")) == ["controls.md", "new.md"]


def test_generated_pages_have_no_notes_for_contributors() -> None:
    for name, text in generated.generated_pages().items():
        if name != conformance.SUITES_PAGE:
            visible = re.sub(r"<!--.*?-->", "", text, flags=re.DOTALL)
            found = re.findall(r"`make \w+`|\w+/\w+\.py|tests/|broker/|known_differences", visible)
            assert not found, f"{name}: {found}"


def test_page_of_apis_with_missing_rows_gets_them_back() -> None:
    current = generated.read(apis.PAGE)
    (row,) = (line for line in current.splitlines(keepends=True) if line.startswith("| 0 | [Produce]"))
    assert apis.pages(current.replace(row, "| 7 | ControlledShutdown | 0 |\n"))[apis.PAGE] == current


def test_page_of_apis_without_the_mark_raises() -> None:
    with pytest.raises(ValueError, match=r"docs/apis\.md has no line"):
        apis.pages("# odradek\n")


def test_deviations_with_one_reason_are_joined() -> None:
    known = [
        KnownDifference("fetch.a", "records", ("Fetch",), "because of the limit"),
        KnownDifference("fetch.b", "error_code", ("Fetch", "Produce"), "the same"),
    ]
    found = apis.deviations(known)
    assert [str(each) for each in found["Fetch"]] == ["* Because of the limit.\n  Differs: `records`, `error_code`."]
    assert [each.fields for each in found["Produce"]] == [("error_code",)]
