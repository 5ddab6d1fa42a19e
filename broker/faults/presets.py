"""Ready-made faults that follow the state of the cluster: a leader election, and a coordinator that moves."""

from __future__ import annotations

from ...protocol.errors import ErrorCode
from ...protocol.messages.fetch import FETCH
from ...protocol.messages.find_coordinator import FIND_COORDINATOR
from ...protocol.messages.list_offsets import LIST_OFFSETS
from ...protocol.messages.metadata import METADATA
from ...protocol.messages.offset_for_leader_epoch import OFFSET_FOR_LEADER_EPOCH
from ...protocol.messages.produce import PRODUCE
from ..topics.topic import Topic
from .errors import Error
from .fault import Fault, Schedule
from .match import Criteria
from .table import Faults

_LED = (PRODUCE.name, FETCH.name, LIST_OFFSETS.name, OFFSET_FOR_LEADER_EPOCH.name)
"""The APIs that only the leader of a partition serves."""


def leader_election(faults: Faults, topic: Topic, takes_ms: int) -> Fault:
    """Adds a fault in which the partitions of a topic have no leader for some time of the cluster."""
    criteria = Criteria(
        apis=(METADATA.name, *_LED),
        topic=topic.name,
        partitions=frozenset(range(len(topic.partitions))),
        until_ms=faults.cluster.timers.now_ms + takes_ms,
    )
    codes = {METADATA.key: ErrorCode.LEADER_NOT_AVAILABLE}
    act = Error(ErrorCode.NOT_LEADER_OR_FOLLOWER, None, "before", faults.elements, codes)
    ...
