"""Parameters of controls, and binding arguments to them."""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from datetime import timedelta
from typing import Any

import pytest

from odradek.broker.control_errors import InvalidControl
from odradek.broker.controls import cluster_controls  # noqa: F401  (declares the controls)
from odradek.broker.controls.declaration import CONTROLS, Control
from odradek.broker.controls.interface.examples import example_of
from odradek.broker.controls.interface.signatures import bind, bind_texts, parameters_of, python_only_of, result_of
from tests.broker.controls.interface.sample_control import SAMPLE, declared_sample  # noqa: F401  (a fixture)


def test_parameters_have_help_and_defaults() -> None:
    parameters = parameters_of(SAMPLE)
    described = {name: (each.help, each.required, each.positional, each.has_default) for name, each in parameters.items()}
    assert described == {
        "node": ("the id of a node", True, True, False),
        "pause": (parameters["pause"].help, False, True, False),
        "names": ("names", False, False, True),
        "flag": ("a flag", False, False, True),
    }
    assert parameters["pause"].help.startswith("a duration: a number of seconds")
    assert python_only_of(SAMPLE) == {"when": "a function"}
    assert result_of(SAMPLE) == Mapping[str, int]


def test_json_fields_are_bound_by_name() -> None:
    assert bind(SAMPLE, {"pause": "1s", "node": 2}) == {"node": 2, "pause": timedelta(seconds=1)}


def test_texts_of_one_name_are_bound_together() -> None:
    assert bind_texts(SAMPLE, [("names", "a"), ("node", "2"), ("names", "b")]) == {"node": 2, "names": ["a", "b"]}


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ({}, "node: is required (the id of a node)"),
        ({"node": 1, "pauze": 1}, "pauze: there is no parameter 'pauze'; did you mean 'pause'?"),
        ({"node": 1, "when": None}, "when: there is no parameter 'when'; use one of node, pause, names, flag"),
        ({"node": 1, "self": None}, "self: there is no parameter 'self'; use one of"),
        ({"node": None}, "node: must be an integer, not null"),
        ({"node": 1, "x" * 10_000: None}, f"{'x' * 249}: there is no parameter '{'x' * 249}'; use one of"),
    ],
)
def test_invalid_arguments_name_the_parameter(values: dict[str, Any], message: str) -> None:
    with pytest.raises(InvalidControl) as raised:
        bind(SAMPLE, values)
    assert str(raised.value).startswith(message)
    assert raised.value.parameter == message.partition(":")[0]


@pytest.mark.parametrize("declared", CONTROLS.values(), ids=lambda declared: " ".join(declared.words))
def test_control_is_complete_outside_of_python(declared: Control) -> None:
    """Every parameter has a type that JSON has and a help text, and the example can be bound."""
    parameters = parameters_of(declared)
    names = list(inspect.signature(declared.method).parameters)[1:]
    assert {*parameters, *python_only_of(declared)} == set(names)
    assert [each.name for each in parameters.values() if not each.help] == []
    assert bind(declared, example_of(declared)).keys() <= set(names)
