"""Results as plain text."""

from __future__ import annotations

from typing import Any

import pytest

from odradek.broker.commands.tables import as_table


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (5, "5\n"),
        (None, "-\n"),
        ("a\x1b[31mb\nc", "a\\x1b[31mb\\nc\n"),
        ([], ""),
        (["a", 1], "a\n1\n"),
        ({"name": "orders", "lag": 12, "open": True, "ids": [1, 2]}, "name  orders\nlag   12\nopen  true\nids   1,2\n"),
        ([{"a": 1, "b": "xx"}, {"a": 22, "c": None}], "A   B   C\n1   xx  -\n22  -   -\n"),
        ([{"a": {"x": [1]}, "b": [{"c": 1}, {"c": 2}]}], 'A           B\n{"x": [1]}  2\n'),
        ([{"base64": "/w=="}], '{"base64": "/w=="}\n'),
        ({"name": "t", "partitions": [{"partition": 0}], "empty": []}, "name   t\nempty  \n\npartitions:\nPARTITION\n0\n"),
    ],
)  # fmt: skip
def test_result_becomes_aligned_text(value: Any, expected: str) -> None:
    assert [line.rstrip() for line in as_table(value).splitlines()] == [line.rstrip() for line in expected.splitlines()]
