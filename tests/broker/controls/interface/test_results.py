"""Results of controls as JSON, and their schemas."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from enum import Enum
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from odradek.broker.controls.interface.results import json_of, json_pieces, json_value, result_schema
from odradek.broker.controls.interface.shapes import Schema


class Colour(Enum):
    RED = "red"


@dataclass(frozen=True)
class Child:
    """A child."""

    payload: bytes | None
    pairs: tuple[tuple[str, bytes | None], ...] = ()


@dataclass(frozen=True)
class Parent:
    """A parent."""

    name: str
    children: list[Child]
    by_topic: dict[str, list[int]]
    since: datetime | None

    @property
    def count(self) -> int:
        """How many children there are."""
        return len(self.children)


class Handle:
    """An object with methods."""

    def described(self) -> Child:
        return Child(b"\xff")


PARENT = Parent('a"\n', [Child(b"text"), Child(None, (("h", b"\x80"),))], {"orders": [0, 1]}, datetime(2026, 1, 31, tzinfo=UTC))


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (None, None),
        (True, True),
        (1.5, 1.5),
        (float("inf"), None),
        ("ü", "ü"),
        (b"\xc3\xbc", "ü"),
        (memoryview(b"\xff"), {"base64": "/w=="}),
        (datetime(2026, 1, 31, 12, 0, 0, 5000, tzinfo=UTC), "2026-01-31T12:00:00.005000Z"),
        (timedelta(minutes=1), 60.0),
        (Colour.RED, "red"),
        (Path("a/b"), "a/b"),
        ((), []),
        ({1: {2, 3}}, {"1": [2, 3]}),
        (Handle(), {"payload": {"base64": "/w=="}, "pairs": []}),
        (
            PARENT,
            {
                "name": 'a"\n',
                "children": [{"payload": "text", "pairs": []}, {"payload": None, "pairs": [["h", {"base64": "gA=="}]]}],
                "by_topic": {"orders": [0, 1]},
                "since": "2026-01-31T00:00:00Z",
                "count": 2,
            },
        ),
    ],
)
def test_result_becomes_json(value: Any, expected: Any) -> None:
    assert json.loads(json_of(value)) == json_value(value) == expected


def test_long_list_is_encoded_in_pieces() -> None:
    assert len(list(json_pieces(list(range(1000))))) >= 1000


@pytest.mark.parametrize(
    ("annotation", "value"),
    [
        (Parent, PARENT),
        (list[Parent], [PARENT]),
        (tuple[Parent, ...], ()),
        (Mapping[str, Child], {"a": Child(b"")}),
        (Parent | None, None),
        (Handle, Handle()),
        (int, 5),
        (list[str], ["a"]),
    ],
)
def test_schema_accepts_the_result(annotation: Any, value: Any) -> None:
    definitions: dict[str, Schema] = {}
    schema = {**result_schema(annotation, definitions), "components": {"schemas": definitions}}
    Draft202012Validator.check_schema(schema)
    Draft202012Validator(schema).validate(json_value(value))


def test_schema_names_fields_and_properties() -> None:
    definitions: dict[str, Schema] = {}
    assert result_schema(Parent, definitions) == {"$ref": "#/components/schemas/Parent"}
    assert definitions["Parent"]["required"] == ["name", "children", "by_topic", "since", "count"]
    assert definitions["Parent"]["description"] == "A parent."
    assert not Draft202012Validator({**definitions["Parent"], "components": {"schemas": definitions}}).is_valid({"name": "a"})
