"""A class name stands for one concept: where several modules use one, `shared_class_names.txt` gives the reason."""

from __future__ import annotations

import ast
from collections import defaultdict
from pathlib import Path

ROOT = Path(__file__).parents[2]
CODE = ("broker", "plugin", "protocol", "simulation", "storage", "spark_sink")
SCHEMAS = {"protocol/messages", "protocol/stored"}
"""The folders of Kafka's messages and records. Their classes have the names that Kafka gives them, each within its own schema."""
ROWS = Path(__file__).with_name("shared_class_names.txt").read_text(encoding="utf-8").splitlines()[1:]
PERMITTED = {name for name, _, _ in (row.partition(": ") for row in ROWS)}


def shared_names() -> dict[str, set[str]]:
    """Returns the modules that define a class, by its name, for names of several modules. Kafka's schemas count as one module."""
    modules: defaultdict[str, set[str]] = defaultdict(set)
    for path in (path for folder in CODE for path in (ROOT / folder).rglob("*.py")):
        module = path.relative_to(ROOT)
        place = "Kafka's schemas" if module.parent.as_posix() in SCHEMAS else module.as_posix()
        for node in ast.parse(path.read_text(encoding="utf-8")).body:
            if isinstance(node, ast.ClassDef):
                modules[node.name].add(place)
    return {name: places for name, places in modules.items() if len(places) > 1}


def test_class_names_are_unique_or_have_a_reason() -> None:
    shared = shared_names()
    assert {name: modules for name, modules in shared.items() if name not in PERMITTED} == {}
    assert shared.keys() >= PERMITTED, "shared_class_names.txt lists names that only one module uses"


def test_reasons_are_complete_and_in_order() -> None:
    names = [name for name, separator, reason in (row.partition(": ") for row in ROWS) if separator and reason]
    assert names == sorted(PERMITTED)
