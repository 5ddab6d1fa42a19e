"""Formats of keys and values."""

from __future__ import annotations

from typing import Any

import pytest

from odradek import Format, formats
from odradek.broker.embedding.formats import deserialize, serialize


@pytest.mark.parametrize(
    ("format_", "value", "data"),
    [
        (formats.raw, b"\xff", b"\xff"),
        (formats.text, "ß", b"\xc3\x9f"),
        (formats.json, {"a": [1, None]}, b'{"a":[1,null]}'),
        (formats.json, "ß", b'"\xc3\x9f"'),
    ],
)
def test_value_survives_its_format(format_: Format, value: Any, data: bytes) -> None:
    assert serialize(format_, value) == data
    assert deserialize(format_, data) == value


@pytest.mark.parametrize("format_", [formats.raw, formats.text, formats.json])
def test_null_is_no_value_of_a_format(format_: Format) -> None:
    assert serialize(format_, None) is None
    assert deserialize(format_, None) is None
