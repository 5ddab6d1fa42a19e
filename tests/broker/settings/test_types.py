"""Checks of values by ranges and words, with Kafka's error messages."""

from __future__ import annotations

from odradek.broker.settings.rows import TOPIC_SETTINGS
from odradek.broker.settings.types import OneOf, Range


def test_complaint_is_kafkas_error_message() -> None:
    assert Range(1).complaint(0) == "Value must be at least 1"
    assert Range(1, 17).complaint(18) == "Value must be no more than 17"
    assert Range(1, 17).complaint(17) is None
    level = TOPIC_SETTINGS["compression.gzip.level"].valid
    assert level is not None
    assert [level.complaint(value) for value in (-1, 1, 9)] == [None] * 3
    assert level.complaint(0) == level.complaint(10) == "Value must be between 1 and 9 or equal to -1"
    assert OneOf("a", "b").complaint("A") == "String must be one of: a, b"
    assert OneOf("A", ignore_case=True).complaint("a") is None
