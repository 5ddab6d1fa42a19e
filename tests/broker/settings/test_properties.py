"""server.properties is parsed as by Java, and a program's values are converted to the same texts."""

from __future__ import annotations

import pytest

from odradek.broker.settings.properties import SettingValue, as_text, parse_properties


@pytest.mark.parametrize(
    ("text", "pairs"),
    [
        ("a=1\nb = 2\nc:3\nd 4\ne\t:\t5", {"a": "1", "b": "2", "c": "3", "d": "4", "e": "5"}),
        ("# no\n  ! no\n\n   \na=1", {"a": "1"}),
        ("a=1\r\nb=2\rc=3", {"a": "1", "b": "2", "c": "3"}),
        ("listeners=A://h:1,\\\n    B://h:2\nb=2", {"listeners": "A://h:1,B://h:2", "b": "2"}),
        ("a=one\\\n# two", {"a": "one# two"}),
        ("a=C:\\\\\nb=2", {"a": "C:\\", "b": "2"}),
        ("a=1\\", {"a": "1"}),
        ("a\\=b=c\\td\\u0041\\q", {"a=b": "c\tdAq"}),
        ("a==b", {"a": "=b"}),
        ("a=\nb", {"a": "", "b": ""}),
        ("a=1\na=2", {"a": "2"}),
        ("a=x y ", {"a": "x y "}),
        ("", {}),
    ],
)
def test_parse_properties_returns_what_java_loads(text: str, pairs: dict[str, str]) -> None:
    assert parse_properties(text) == pairs


@pytest.mark.parametrize(("value", "text"), [("x", "x"), (3, "3"), (0.5, "0.5"), (True, "true"), (False, "false")])
def test_as_text_returns_text_of_properties_file(value: SettingValue, text: str) -> None:
    assert as_text("name", value) == text
