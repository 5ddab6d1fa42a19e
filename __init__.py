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
    from .broker.controls.wire import AsyncWire, Wire
    from .broker.handles import formats
    from .broker.handles.assertions import assert_committed, assert_records, record
    from .broker.handles.formats import Format
    from .broker.handles.group import AsyncGroup, Group
    from .broker.handles.topic import AsyncTopic, Topic, TopicRecord
    from .broker.wire.exchange import Event, Exchange

__all__ = [
    "AsyncClock",
    "AsyncCluster",
    "AsyncFaultHandle",
    "AsyncGroup",
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
    "Topic",
    "TopicRecord",
    "Wire",
    "__version__",
    "assert_committed",
    "assert_records",
    "formats",
    "record",
]

__version__ = "0.1.0"  # pyproject.toml reads the version from here

_MODULES = {
    "broker.control_errors": ("ControlError", "ControlRefused", "ControlTimeout", "InvalidControl"),
    "broker.controls.clock": ("AsyncClock", "Clock"),
    "broker.controls.fault_handles": ("AsyncFaultHandle", "FaultHandle"),
    "broker.controls.wire": ("AsyncWire", "Wire"),
    "broker.embedded": ("AsyncCluster", "Cluster"),
    "broker.handles.assertions": ("assert_committed", "assert_records", "record"),
    "broker.handles.formats": ("Format",),
    "broker.handles.group": ("AsyncGroup", "Group"),
    "broker.handles.topic": ("AsyncTopic", "Topic", "TopicRecord"),
    "broker.wire.exchange": ("Event", "Exchange"),
}
"""The names of each module, which is imported on first use because Spark's workers need none of them."""

if not TYPE_CHECKING:  # type checkers would accept every name otherwise

    def __getattr__(name: str) -> object:
        """Returns a name of `__all__` from its module. Raises AttributeError for any other name."""
        from importlib import import_module

        if name == "formats":
            return import_module(".broker.handles.formats", __name__)
        for module, names in _MODULES.items():
            if name in names:
                return getattr(import_module(f".{module}", __name__), name)
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
