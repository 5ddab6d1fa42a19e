"""Conversion of settings from and to text."""

from __future__ import annotations

import pytest

from odradek.broker.settings.parsing import parse, text_of
from odradek.broker.settings.rows import TOPIC_SETTINGS


@pytest.mark.parametrize(
    ("name", "text", "value"),
    [
        ("retention.ms", " 5 ", 5),
        ("segment.bytes", "+2000000", 2_000_000),
        ("preallocate", "TRUE", True),
        ("cleanup.policy", "delete, compact ", ("delete", "compact")),
        ("cleanup.policy", "", ()),
        ("min.cleanable.dirty.ratio", "1e-1", 0.1),
        ("min.cleanable.dirty.ratio", "0.5f", 0.5),
        ("leader.replication.throttled.replicas", "0:1,1:2", ("0:1", "1:2")),
    ],
)
def test_parse_returns_typed_value(name: str, text: str, value: object) -> None:
    assert parse(TOPIC_SETTINGS[name], text) == value


def test_text_of_returns_text_that_java_shows() -> None:
    doubles = {
        0.5: "0.5",
        0.0: "0.0",
        1e7: "1.0E7",
        1.7976931348623157e308: "1.7976931348623157E308",
        0.0001: "1.0E-4",
        12345678.9: "1.23456789E7",
    }
    assert {value: text_of(value) for value in doubles} == doubles
    assert [text_of(value) for value in (None, True, 5, ("a", "b"), (), float("nan"), float("-inf"))] == [
        None, "true", "5", "a,b", "", "NaN", "-Infinity",
    ]  # fmt: skip
