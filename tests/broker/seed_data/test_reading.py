"""Files of seed data."""

from __future__ import annotations

import os
import re
from pathlib import Path

import pytest

from odradek.broker.seed_data.entries import SeedRecord
from odradek.broker.seed_data.reading import files_of, read_entries
from odradek.broker.settings.properties import InvalidConfig


def test_files_are_found_by_file_folder_and_pattern(tmp_path: Path) -> None:
    for name in ("b.jsonl", "a.jsonl", "c.csv", "readme.txt"):
        (tmp_path / name).write_text("")
    a, b, c = (tmp_path / name for name in ("a.jsonl", "b.jsonl", "c.csv"))
    assert files_of(tmp_path) == [a, b, c]
    assert files_of(str(tmp_path / "*.jsonl")) == [a, b]
    assert files_of([c, tmp_path / "b.jsonl"]) == [c, b]


def test_place_without_seed_data_is_refused(tmp_path: Path) -> None:
    for place in (tmp_path, tmp_path / "*.jsonl", tmp_path / "nothing.jsonl"):
        with pytest.raises(InvalidConfig, match=f"no seed data at {re.escape(str(place))}: give a file, a folder"):
            files_of(place)


def test_lines_of_json_and_of_csv_give_the_same_entries(tmp_path: Path) -> None:
    json_lines, rows = tmp_path / "orders.jsonl", tmp_path / "orders.csv"
    json_lines.write_text('{"key": "k", "value": "a, b", "headers": {"h": "1"}, "partition": 1}\n\n{"value": null, "timestamp": 5}\n')
    rows.write_text('key,value,headers,partition,timestamp\r\nk,"a, b","{""h"": ""1""}",1,\r\n,,,,5\r\n')
    first = SeedRecord("orders", 1, None, b"k", b"a, b", (("h", b"1"),), None)
    second = SeedRecord("orders", None, 5, None, None, (), None)
    assert list(read_entries([json_lines])) == [(f"{json_lines}:1", first), (f"{json_lines}:3", second)]
    assert list(read_entries([rows])) == [(f"{rows}:2", first), (f"{rows}:3", second)]


@pytest.mark.parametrize(
    ("name", "content", "problem"),
    [
        ("t.jsonl", b'{"value": 1}\n{"vlaue": 1}\n', ":2: unknown field 'vlaue'"),
        ("t.jsonl", b"[1]\n", ":1: must be a JSON object, not [1]"),
        ("t.jsonl", b'{"value": 1}\n{"value": \n', ": after line 1: "),
        ("t.jsonl", b"\xff\n", ": after line 0: "),
        ("t.csv", b"value,colour\n1,red\n", ":0: unknown column 'colour'; the columns are topic, partition"),
        ("t.csv", b"key,value\n1\n", "line 2 does not have 2 cells"),
        ("t.csv", b"key,value\n1,2,3\n", "line 2 does not have 2 cells"),
        ("t.csv", b"partition\nx\n", ":2: partition: must be an integer, not 'x'"),
        ("t.csv", b"headers\n{\n", ": after line 0: "),
        ("t.txt", b"", ": seed data is read from .jsonl and .csv files"),
    ],
)
def test_invalid_line_is_refused_with_its_place(tmp_path: Path, name: str, content: bytes, problem: str) -> None:
    file = tmp_path / name
    file.write_bytes(content)
    with pytest.raises(InvalidConfig) as refused:
        list(read_entries([file]))
    assert str(refused.value).startswith(str(file)) and problem in str(refused.value)


def test_file_that_cannot_be_read_is_named(tmp_path: Path) -> None:
    with pytest.raises(InvalidConfig, match=r"cannot read .*/gone.jsonl: No such file"):
        list(read_entries([tmp_path / "gone.jsonl"]))


def test_pipe_is_no_seed_data(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "orders.jsonl")
    with pytest.raises(InvalidConfig, match=r"cannot read .*/orders.jsonl: it is a named pipe"):
        list(read_entries([tmp_path / "orders.jsonl"]))


def test_bytes_that_have_been_read_are_reported(tmp_path: Path) -> None:
    files = [tmp_path / "a.jsonl", tmp_path / "b.csv"]
    files[0].write_text('{"value": "größe"}\n' * 5_000)
    files[1].write_text("value\n1\n")
    reported: list[int] = []
    entries = list(read_entries(files, reported.append))
    assert len(entries) == 5_001
    assert sum(reported) == sum(file.stat().st_size for file in files)
    assert len(reported) > 5
