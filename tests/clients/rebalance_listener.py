"""A listener for consumers of kafka-python and aiokafka."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any


def listener_of(base: Any, on_change: Callable[[], None]) -> Any:
    """Returns an instance of a subclass of `base`, the client's ConsumerRebalanceListener, that calls `on_change` at each change."""

    def change(_self: object, _partitions: object) -> None:
        on_change()

    return type("Listener", (base,), {"on_partitions_revoked": change, "on_partitions_assigned": change})()
