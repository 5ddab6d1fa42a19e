"""Compares with Confluent's own classes, whose answers to pairs of schemas are recorded in the folder `recorded`.

A line is a pair: `reader` and `writer` with the canonical and the normal text where these differ from it, whether a schema is refused, and
the messages, in which %s stands for the names of the two schemas. `differs` gives the reason why our answer is another one on purpose.
"""

import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from odradek.broker.schema_registry.schemas import InvalidSchema, Reference, Schema, find_incompatibilities, parse_schema

RECORDED = Path(__file__).parent / "recorded"
TYPES = ["AVRO", "JSON", "PROTOBUF"]


def load(schema_type: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (RECORDED / f"{schema_type.lower()}.jsonl").read_text(encoding="utf-8").splitlines()]


def parse(schema_type: str, text: str, references: list[dict[str, str]]) -> Schema | None:
    resolved: list[Reference] = []
    for declared in references:
        resolved.append(Reference(declared["name"], declared["name"], 1, parse_schema(schema_type, declared["text"], resolved)))
    try:
        return parse_schema(schema_type, text, resolved)
    except InvalidSchema:
        return None


def find_differences(schema_type: str, pair: dict[str, Any]) -> list[str]:
    found: list[str] = []
    schemas: list[Schema] = []
    for side in ("reader", "writer"):
        schema = parse(schema_type, pair[side], pair.get("references", []))
        if (schema is None) != pair.get(f"{side}_refused", False):
            found.append(f"the {side} is {'refused' if schema is None else 'accepted'}")
        if schema is None:
            continue
        schemas.append(schema)
        text = pair.get(f"{side}_text", pair[side])
        for name, ours, theirs in (
            ("text", schema.text, text),
            ("normal text", schema.normal_text(), pair.get(f"{side}_normalized", text)),
        ):
            if name == "text" and pair["name"].startswith("descriptor"):
                continue  # a descriptor has the normal text, so that it can have the id of the text from which it was made
            if ours != theirs and f"{side}_refused" not in pair:
                found.append(f"{name} of the {side}: {ours} instead of {theirs}")
    if len(schemas) == 2 and "messages" in pair:
        messages = find_incompatibilities(schemas[0], schemas[1], reader_name="%s", writer_name="%s")
        if messages != pair["messages"]:
            found.append(f"messages: {messages} instead of {pair['messages']}")
    return found


@pytest.mark.parametrize("schema_type", TYPES)
def test_answers_are_those_of_confluent(schema_type: str) -> None:
    pairs = load(schema_type)
    assert len(pairs) >= 500
    wrong = [(pair["name"], found) for pair in pairs if "differs" not in pair and (found := find_differences(schema_type, pair))]
    assert not wrong[:3]


@pytest.mark.parametrize("schema_type", TYPES)
def test_listed_differences_exist_and_are_few(schema_type: str) -> None:
    listed = [pair for pair in load(schema_type) if "differs" in pair]
    assert len(listed) <= 10
    assert not [pair["name"] for pair in listed if "messages" in pair and not find_differences(schema_type, pair)]


@pytest.mark.parametrize("schema_type", TYPES)
def test_recorded_pairs_are_of_both_kinds(schema_type: str) -> None:
    kinds = Counter(bool(pair["messages"]) for pair in load(schema_type) if "messages" in pair)
    assert min(kinds[True], kinds[False]) >= 120
