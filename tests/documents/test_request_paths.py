"""The paths of requests do not grow unnoticed, and `make paths` prints them."""

from __future__ import annotations

import pytest

from documents import request_paths

MAX_FILES = {"Produce": 18, "Fetch": 19, "JoinGroup": 29, "CreateTopics": 26}


@pytest.fixture(scope="module")
def traced() -> dict[str, request_paths.Trace]:
    return request_paths.paths()


@pytest.mark.parametrize("api", MAX_FILES)
def test_request_enters_no_more_files_than_before(api: str, traced: dict[str, request_paths.Trace]) -> None:
    assert len(traced[api].files) <= MAX_FILES[api], f'`make paths OF="{api}"` lists the files'


def test_trace_begins_with_the_connection(traced: dict[str, request_paths.Trace]) -> None:
    assert {trace.files[0] for trace in traced.values()} == {"broker/connections/connection.py"}


def test_table_contains_files_and_changes_of_each_path() -> None:
    title, *rows = request_paths.table().splitlines()
    assert title.split() == ["files", "changes"]
    paths = ["Produce", "Fetch", "JoinGroup", "CreateTopics", "Produce, repeated", "Produce, hit by a fault", "restore of a snapshot"]
    assert [row[:25].rstrip() for row in rows] == paths
    assert all(int(files) < int(changes) for files, changes in (row[25:].split() for row in rows))
