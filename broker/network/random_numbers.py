"""The random numbers of a cluster, from which ids and the placement of replicas follow."""

from __future__ import annotations

from random import Random, SystemRandom
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ..snapshots.cluster import State


def generator(seed: int | None, state: State | None) -> Random:
    """Returns the system's random numbers, or reproducible ones with a seed or with a state that has been saved with a seed."""
    if seed is not None:
        return Random(seed)
    return SystemRandom() if state is None or state["random"] is None else Random()
