"""Example calls of controls, for the documentation, the help and the OpenAPI document.

A call contains the required parameters, whose examples belong to their names or, for other names, to their types. A control whose effect is
seen only with optional parameters has a call of its own.
"""

from __future__ import annotations

from typing import Any

from ..declaration import Control
from .shapes import Boolean, Choice, Duration, Integer, IsoTime, Number, Shape
from .signatures import parameters_of
from .structures import Alternatives, ListOf, MappingOf

_CALLS: dict[str, dict[str, Any]] = {
    "capture start": {"file": "orders.pcapng"},
    "clock advance": {"duration": "10m"},
    "clock run": {"speed": 60},
    "coordinator move": {"node": 2, "group": "billing"},
    "fault add": {"api": "Produce", "error": "NOT_LEADER_OR_FOLLOWER", "times": 2},
    "fault damage": {"order": "orders-0#2:gone"},
    "fault point": {"point": "OffsetCommit#1@billing:lost-response"},
    "fault wait": {"fault": 1, "hits": 2},
    "group wait": {"group": "billing", "members": 3, "state": "Stable", "lag": 0},
    "replica lag": {"topic": "orders", "partition": 0, "node": 2, "records": 100},
    "replica set": {"topic": "orders", "partition": 0, "replicas": [2, 3]},
    "schema compatibility": {"level": "FULL", "subject": "orders-value"},
    "topic create": {"topic": "orders", "configs": {"cleanup.policy": "compact"}},
}
_VALUES: dict[str, Any] = {
    "client_id": "billing-1",
    "file": "cluster.odradek",
    "directory": "kafka-data",
    "group": "billing",
    "moment": "2027-01-01T00:00:00Z",
    "ms": 200,
    "n": 3,
    "node": 2,
    "partition": 0,
    "pause_s": 5,
    "percent": 20,
    "records": [{"key": "k", "value": "one"}],
    "replicas": [2, 1],
    "schema": '"string"',
    "seconds": 5,
    "subject": "orders-value",
    "topic": "orders",
    "transactional_id": "payments",
}


def example_of(control: Control) -> dict[str, Any]:
    """Returns the arguments of an example call as JSON values."""
    if call := _CALLS.get(" ".join(control.words)):
        return call
    required = [each for each in parameters_of(control).values() if each.required]
    return {each.name: _VALUES[each.name] if each.name in _VALUES else _of_shape(each.shape) for each in required}


def _of_shape(shape: Shape) -> Any:
    if isinstance(shape, Alternatives):
        return _of_shape(shape.members[0])
    if isinstance(shape, ListOf):
        return [_of_shape(shape.item)]
    if isinstance(shape, Choice):
        return shape.values[0]
    plain: dict[type[Shape], Any] = {
        Boolean: True, Integer: 1, Number: 1.5, Duration: "10m", IsoTime: "2027-01-01T00:00:00Z", MappingOf: {}
    }  # fmt: skip
    return plain.get(type(shape), "example")
