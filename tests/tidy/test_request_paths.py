"""ARCHITECTURE.md lists the files that four requests pass through; a trace of the requests finds the same files."""

from __future__ import annotations

import pytest

from tests import request_paths

ARCHITECTURE = (request_paths.ROOT / "ARCHITECTURE.md").read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def traced() -> dict[str, request_paths.Trace]:
    return request_paths.paths()


@pytest.mark.parametrize("api", ["Produce", "Fetch", "JoinGroup", "CreateTopics"])
def test_listed_files_are_those_of_a_trace(api: str, traced: dict[str, request_paths.Trace]) -> None:
    assert request_paths.listed(ARCHITECTURE)[api] == traced[api].files, "the lists are not current: run `make docs`"


def test_trace_begins_with_the_connection(traced: dict[str, request_paths.Trace]) -> None:
    assert {trace.files[0] for trace in traced.values()} == {"broker/connections/connection.py"}


def test_table_contains_files_and_changes_of_each_path() -> None:
    title, *rows = request_paths.table().splitlines()
    assert title.split() == ["files", "changes"]
    paths = ["Produce", "Fetch", "JoinGroup", "CreateTopics", "Produce, repeated", "Produce, hit by a fault", "restore of a snapshot"]
    assert [row[:25].rstrip() for row in rows] == paths
    assert all(int(files) < int(changes) for files, changes in (row[25:].split() for row in rows))


def test_rewritten_lists_replace_only_their_section() -> None:
    text = f"# Title\n\nbefore\n\n{request_paths.SECTION}\n\nold\n\n## After\n\nafter\n"
    rewritten = request_paths.rewritten(text)
    assert rewritten.startswith(f"# Title\n\nbefore\n\n{request_paths.SECTION}\n")
    assert rewritten.endswith("```\n\n## After\n\nafter\n")
    assert "old" not in rewritten


def test_document_without_the_section_raises() -> None:
    with pytest.raises(ValueError, match="no section"):
        request_paths.rewritten("# Title\n")
