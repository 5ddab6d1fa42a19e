"""Compares an answer with the recorded one of Karapace, and says why some differ."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, NamedTuple

RECORDED = Path(__file__).with_name("recorded.json")


class Recorded(NamedTuple):
    """A request of a script and the answer to it. Ids in bodies are numbered in the order of their first appearance in the script."""

    script: str
    line: str
    status: int
    body: Any


class Ids:
    """The ids of a script, in the order of their first appearance."""

    def __init__(self) -> None:
        self.first: int | None = None
        self._numbers: dict[int, int] = {}

    def numbered(self, line: str, body: Any) -> Any:
        """Returns a body in which numbers stand for ids."""
        if isinstance(body, dict):
            return {name: self._number(value) if name in ("id", "maxId") else self.numbered(line, value) for name, value in body.items()}
        if isinstance(body, list):
            return [self._number(each) if "referencedby" in line and isinstance(each, int) else self.numbered(line, each) for each in body]
        return body

    def _number(self, schema_id: int) -> int:
        if self.first is None:
            self.first = schema_id
        return self._numbers.setdefault(schema_id, len(self._numbers) + 1)


def read_recorded() -> list[Recorded]:
    return [Recorded(*each) for each in json.loads(RECORDED.read_text(encoding="utf-8"))]


def simplified(body: Any) -> Any:
    """Returns a body without the texts of errors, which are each registry's own; the text of a schema is compared as JSON."""
    if isinstance(body, dict):
        return {
            name: _as_json(value) if name == "schema" else simplified(value)
            for name, value in body.items()
            if name not in ("message", "messages")
        }
    return [simplified(each) for each in body] if isinstance(body, list) else body


def _as_json(text: Any) -> Any:
    return json.loads(text) if isinstance(text, str) else text


def contains(ours: Any, theirs: Any) -> bool:
    """Returns whether an answer has everything that the recorded one has. Newer members, such as the GUID, come in addition."""
    if isinstance(ours, dict) and isinstance(theirs, dict):
        return all(name in ours and contains(ours[name], value) for name, value in theirs.items())
    return bool(ours == theirs)
