"""The declaration of controls and the errors for invalid names."""

from __future__ import annotations

import inspect

import pytest

from odradek.broker.control_errors import unknown
from odradek.broker.controls.clock import AsyncClock, Clock
from odradek.broker.controls.cluster_controls import BlockingControls, ClusterControls
from odradek.broker.controls.declaration import CONTROLS, Control, control
from odradek.broker.controls.schemas import AsyncSchemas, Schemas
from odradek.broker.controls.wire import AsyncWire, Wire

OWNERS: dict[str, tuple[type, type]] = {
    "": (ClusterControls, BlockingControls),
    "clock": (AsyncClock, Clock),
    "schemas": (AsyncSchemas, Schemas),
    "wire": (AsyncWire, Wire),
}


@pytest.mark.parametrize("declared", CONTROLS.values(), ids=lambda declared: " ".join(declared.words))
def test_control_is_offered_by_both_kinds_of_clusters(declared: Control) -> None:
    name = declared.method.__name__
    asynchronous, blocking = OWNERS[declared.owner]
    assert inspect.unwrap(getattr(asynchronous, name)) is inspect.unwrap(declared.method)
    assert inspect.signature(getattr(blocking, name)) == inspect.signature(declared.method)
    assert declared.help.partition("\n")[0].endswith(".")


def test_control_declared_twice_is_refused() -> None:
    async def stop() -> None: ...

    with pytest.raises(ValueError, match="the control 'node stop' is declared twice"):
        control("node stop")(stop)


@pytest.mark.parametrize(
    ("name", "names", "message"),
    [
        ("ordrs", ["orders", "payments"], "topic: there is no topic 'ordrs'; did you mean 'orders'?"),
        (7, [1, 2], "topic: there is no topic 7; use one of 1, 2"),
        ("a", [], "topic: there is no topic 'a'; there is none"),
    ],
)
def test_unknown_name_suggests_the_nearest_or_all(name: object, names: list[object], message: str) -> None:
    error = unknown("topic", "topic", name, names)
    assert (str(error), error.parameter) == (message, "topic")
