"""odradek: a Kafka-compatible broker emulator, and a Spark data source.

The root of the repository is the package `odradek`: pyproject.toml installs it under that name together with the code folders.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .broker import AsyncCluster, Cluster
    from .broker.control_errors import ControlError, ControlRefused, ControlTimeout, InvalidControl
    from .broker.controls.clock import AsyncClock, Clock
    from .broker.controls.fault_handles import AsyncFaultHandle, FaultHandle
    from .broker.controls.schemas import AsyncSchemas, Schemas
    from .broker.controls.wire import AsyncWire, Wire
    from .broker.embedding import formats
    from .broker.embedding.assertions import assert_committed, assert_records, record
    from .broker.embedding.formats import Format
    from .broker.embedding.group import AsyncGroup, Group
    from .broker.embedding.topic import AsyncTopic, Topic, TopicRecord
    from .broker.wire.exchange import Event, Exchange
    from .simulation.decorator import simulation
    from .simulation.errors import SimulationError
    from .simulation.run import Simulation, simulate

__all__ = [
    "AsyncClock",
    "AsyncCluster",
    "AsyncFaultHandle",
    "AsyncGroup",
    "AsyncSchemas",
    "AsyncTopic",
    "AsyncWire",
    "Clock",
    "Cluster",
    "ControlError",
    "ControlRefused",
    "ControlTimeout",
    "Event",
    "Exchange",
    "FaultHandle",
    "Format",
    "Group",
    "InvalidControl",
    "Schemas",
    "Simulation",
    "SimulationError",
    "Topic",
    "TopicRecord",
    "Wire",
    "__version__",
    "assert_committed",
    "assert_records",
    "formats",
    "record",
    "simulate",
    "simulation",
]

__version__ = "0.1.0"  # pyproject.toml reads the version from here

_MODULES = {
    "broker.control_errors": ("ControlError", "ControlRefused", "ControlTimeout", "InvalidControl"),
    "broker.controls.clock": ("AsyncClock", "Clock"),
    "broker.controls.fault_handles": ("AsyncFaultHandle", "FaultHandle"),
    "broker.controls.schemas": ("AsyncSchemas", "Schemas"),
    "broker.controls.wire": ("AsyncWire", "Wire"),
    "broker.embedding.cluster": ("AsyncCluster", "Cluster"),
    "broker.embedding.assertions": ("assert_committed", "assert_records", "record"),
    "broker.embedding.formats": ("Format",),
    "broker.embedding.group": ("AsyncGroup", "Group"),
    "broker.embedding.topic": ("AsyncTopic", "Topic", "TopicRecord"),
    "broker.wire.exchange": ("Event", "Exchange"),
    "simulation.errors": ("SimulationError",),
    "simulation.run": ("Simulation", "simulate"),
}
"""The names of each module, which is imported on first use because Spark's workers need none of them."""

_PACKAGES = {"formats": ".broker.embedding.formats", "simulation": ".simulation"}
"""The names that are modules."""

if not TYPE_CHECKING:  # type checkers would accept every name otherwise

    def __getattr__(name: str) -> object:
        """Returns a name of `__all__` from its module. Raises AttributeError for any other name."""
        from importlib import import_module

        if name in _PACKAGES:
            return import_module(_PACKAGES[name], __name__)
        for module, names in _MODULES.items():
            if name in names:
                return getattr(import_module(f".{module}", __name__), name)
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
