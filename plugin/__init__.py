"""Clusters for the tests of other projects: a pytest plugin, and a mix-in for unittest. Both use the public interface only.

The names of `__all__` are for annotations, `import`s of the mix-in and filters of warnings. They are imported on first use, because pytest
imports this package in every project in which odradek is installed.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .faults import AsyncKafkaFaults, KafkaFaults
    from .fixtures import MakeKafkaCluster
    from .left_open import KafkaClientLeftOpenWarning
    from .shared_clusters import AsyncKafkaClusters, KafkaClusters, KafkaClusterStoppedWarning
    from .unittest_mixin import KafkaTestMixin
    from .wire import AsyncKafkaWire, KafkaWire

__all__ = [
    "AsyncKafkaClusters",
    "AsyncKafkaFaults",
    "AsyncKafkaWire",
    "KafkaClientLeftOpenWarning",
    "KafkaClusterStoppedWarning",
    "KafkaClusters",
    "KafkaFaults",
    "KafkaTestMixin",
    "KafkaWire",
    "MakeKafkaCluster",
]

_MODULES = {
    "faults": ("AsyncKafkaFaults", "KafkaFaults"),
    "fixtures": ("MakeKafkaCluster",),
    "left_open": ("KafkaClientLeftOpenWarning",),
    "shared_clusters": ("AsyncKafkaClusters", "KafkaClusterStoppedWarning", "KafkaClusters"),
    "unittest_mixin": ("KafkaTestMixin",),
    "wire": ("AsyncKafkaWire", "KafkaWire"),
}

if not TYPE_CHECKING:  # type checkers would accept every name otherwise

    def __getattr__(name: str) -> object:
        """Returns a name of `__all__` from its module. Raises AttributeError for any other name."""
        from importlib import import_module

        for module, names in _MODULES.items():
            if name in names:
                return getattr(import_module(f".{module}", __name__), name)
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
