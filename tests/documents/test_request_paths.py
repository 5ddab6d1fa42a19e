"""The paths of requests do not grow unnoticed, and `make paths` prints them."""

from __future__ import annotations

import pytest

from documents import request_paths

MAX_FILES = {
    "Produce": 11,
    "Produce, repeated": 9,
    "Produce, hit by a fault": 11,
    "Fetch": 11,
    "JoinGroup": 21,
    "CreateTopics": 21,
    "restore of a snapshot": 33,
}


@pytest.fixture(scope="module")
def traced() -> dict[str, request_paths.Trace]:
    return request_paths.paths() | request_paths.other_paths()


@pytest.mark.parametrize("path", MAX_FILES)
def test_path_enters_no_more_files_than_before(path: str, traced: dict[str, request_paths.Trace]) -> None:
    assert len(traced[path].files) <= MAX_FILES[path], f'`make paths OF="{path}"` lists the files'


def test_trace_begins_with_the_connection(traced: dict[str, request_paths.Trace]) -> None:
    assert {traced[name].files[0] for name in ("Produce", "Fetch", "JoinGroup", "CreateTopics")} == {"broker/connections/connection.py"}


def test_table_contains_files_and_changes_of_each_path() -> None:
    title, *rows = request_paths.table().splitlines()
    assert title.split() == ["files", "changes"]
    paths = ["Produce", "Fetch", "JoinGroup", "CreateTopics", "Produce, repeated", "Produce, hit by a fault", "restore of a snapshot"]
    assert [row[:25].rstrip() for row in rows] == paths
    assert all(int(files) < int(changes) for files, changes in (row[25:].split() for row in rows))
