"""The types of the parameters that several controls have, with their help texts and units."""

from __future__ import annotations

from typing import Annotated

from ..snapshots.table import Snapshot

NodeId = Annotated[int, "the id of a node"]
TopicName = Annotated[str, "the name of a topic"]
PartitionIndex = Annotated[int, "the index of a partition"]
TimeoutS = Annotated[float, "how long to wait at most, in seconds of the wall clock"]
SnapshotId = Annotated[Snapshot | int, "a snapshot or its id"]
