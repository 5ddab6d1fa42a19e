"""Example values of parameters, for the documentation and the OpenAPI document.

An example belongs to the name of a parameter. A required parameter whose name has none gets the example of its type.
"""

from __future__ import annotations

from typing import Any

from ..controls.declaration import Control
from .shapes import Boolean, Choice, Duration, Integer, Moment, Number, Shape
from .signatures import Parameter, parameters_of
from .structures import ListOf, MappingOf, OneOf

_BY_NAME: dict[str, Any] = {
    "acks": -1,
    "api": "Produce",
    "configs": {"cleanup.policy": "compact"},
    "duration": "10m",
    "error": "NOT_LEADER_OR_FOLLOWER",
    "file": "cluster.odradek",
    "group": "billing",
    "hits": 2,
    "moment": "2027-01-01T00:00:00Z",
    "n": 3,
    "node": 2,
    "partition": 0,
    "partitions": 4,
    "path": "cluster.odradek",
    "records": ["first", {"key": "k", "value": "second"}],
    "speed": 60,
    "topic": "orders",
    "transactional_id": "payments",
}
_SHOWN_OPTIONALS = frozenset({"duration", "speed", "partitions", "api", "error"})
"""Optional parameters that examples contain, because a call without them would show little."""


def example_of(control: Control) -> dict[str, Any]:
    """Returns the arguments of an example call as JSON values."""
    shown = [each for each in parameters_of(control).values() if each.required or each.name in _SHOWN_OPTIONALS]
    return {each.name: _value(each) for each in shown}


def _value(parameter: Parameter) -> Any:
    return _BY_NAME[parameter.name] if parameter.name in _BY_NAME else _of_shape(parameter.shape)


def _of_shape(shape: Shape) -> Any:
    if isinstance(shape, OneOf):
        return _of_shape(shape.members[0])
    if isinstance(shape, ListOf):
        return [_of_shape(shape.item)]
    if isinstance(shape, Choice):
        return shape.values[0]
    plain: dict[type[Shape], Any] = {
        Boolean: True, Integer: 1, Number: 1.5, Duration: "10m", Moment: "2027-01-01T00:00:00Z", MappingOf: {}
    }  # fmt: skip
    return plain.get(type(shape), "example")
