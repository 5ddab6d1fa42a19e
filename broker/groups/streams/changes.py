"""The changes of one step of a streams group.

A step computes its changes without changing the group. Their records are written to `__consumer_offsets` (`records.py`), and then the group
applies them (`StreamsGroup.apply`), as Kafka replays its records. So a step that fails leaves no trace.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import NamedTuple

from .member import StreamsMember
from .tasks import Tasks
from .topology import Topology

AssignmentConfigs = tuple[tuple[str, str], ...]
"""The settings that the assignor reads, by name."""
UNVALIDATED = -1
"""Stands for the epoch of the validated topology if tasks cannot be assigned."""


class GroupEpoch(NamedTuple):
    """A group epoch, with everything that made the group begin it."""

    number: int
    metadata_hash: int
    validated_topology_epoch: int
    assignment_configs: AssignmentConfigs


class TargetEpoch(NamedTuple):
    """The group epoch for which a target assignment was computed, and the time of the computation (ms since the Unix epoch)."""

    number: int
    computed_at_ms: int


@dataclass(slots=True)
class Changes:
    """The changed parts of a group; None and empty mean unchanged. `removed` is the id of a member."""

    removed: str | None = None
    metadata: StreamsMember | None = None
    topology: Topology | None = None
    epoch: GroupEpoch | None = None
    targets: dict[str, Tasks] = field(default_factory=dict)
    target_epoch: TargetEpoch | None = None
    current: StreamsMember | None = None

    def __bool__(self) -> bool:
        return self != Changes()
