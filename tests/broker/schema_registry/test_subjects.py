"""Names of subjects and contexts."""

from __future__ import annotations

import pytest

from odradek.broker.schema_registry.subjects import Subject, is_valid_subject, normal_name, qualified_name


@pytest.mark.parametrize(("text", "context", "name"), [
    ("orders", ".", "orders"),
    (":.:orders", ".", "orders"),
    (":.billing:orders", ".billing", "orders"),
    (":.billing:a:b", ".billing", "a:b"),
    (":.billing:", ".billing", ""),
    (":.billing", ".billing", ""),
    (":*:orders", "*", "orders"),
    (":orders", ".", ":orders"),
    ("", ".", ""),
])  # fmt: skip
def test_subject_is_split(text: str, context: str, name: str) -> None:
    assert Subject.parse(text) == (context, name)


def test_subject_is_normalized_and_qualified() -> None:
    assert normal_name(":.:orders") == "orders" and normal_name(":.b:orders") == ":.b:orders"
    assert qualified_name("c", ":.b:orders") == ":.b:c" and qualified_name("c", "orders") == "c"
    assert qualified_name(":.x:c", ":.b:orders") == ":.x:c"


@pytest.mark.parametrize("text", ["a\nb", "__GLOBAL", ":.c:__EMPTY", ":.__GLOBAL:a", "\x7f", "\x9f"])
def test_invalid_subject_is_recognized(text: str) -> None:
    assert not is_valid_subject(text)


def test_markup_in_a_subject_is_valid() -> None:
    assert is_valid_subject("<b>&'\"") and is_valid_subject(":.__GLOBAL:", for_settings=True)
