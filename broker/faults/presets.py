"""Ready-made faults that change the cluster as well: an election that takes time, a coordinator that moves, and a write that is torn."""

from __future__ import annotations

from collections.abc import Callable
from glob import escape

from ...protocol.errors import ErrorCode
from ...protocol.messages.consumer_group_heartbeat import CONSUMER_GROUP_HEARTBEAT
from ...protocol.messages.fetch import FETCH
from ...protocol.messages.heartbeat import HEARTBEAT
from ...protocol.messages.join_group import JOIN_GROUP
from ...protocol.messages.list_offsets import LIST_OFFSETS
from ...protocol.messages.metadata import METADATA
from ...protocol.messages.offset_commit import OFFSET_COMMIT
from ...protocol.messages.offset_fetch import OFFSET_FETCH
from ...protocol.messages.offset_for_leader_epoch import OFFSET_FOR_LEADER_EPOCH
from ...protocol.messages.produce import PRODUCE
from ...protocol.messages.sync_group import SYNC_GROUP
from ...protocol.schema import Message
from ..api.gate import Answering, Asked
from ..cluster.state import ClusterState
from ..topics.names import CONSUMER_OFFSETS
from ..topics.partition import Partition, Topic
from .acts import Act, Serve
from .creation import add_fault
from .errors import Error
from .fault import Criteria, Fault
from .options import FaultOptions
from .table import Faults

_LED = (PRODUCE.name, FETCH.name, LIST_OFFSETS.name, OFFSET_FOR_LEADER_EPOCH.name)
"""The APIs that only the leader of a partition serves."""
_COORDINATED = (JOIN_GROUP, SYNC_GROUP, HEARTBEAT, OFFSET_COMMIT, OFFSET_FETCH, CONSUMER_GROUP_HEARTBEAT)
"""The APIs that members of a group send to its coordinator again and again."""


class NoLeader(Act):
    """Answers as a node does while a partition elects a leader."""

    def __init__(self, faults: Faults) -> None:
        self._metadata = Error(ErrorCode.LEADER_NOT_AVAILABLE, None, "before", faults.elements)
        self._led = Error(ErrorCode.NOT_LEADER_OR_FOLLOWER, None, "before", faults.elements)

    def serve(self, asked: Asked, request: Message, rest: Serve) -> Answering:
        act = self._metadata if asked.header.api is METADATA else self._led
        act.fault = self.fault
        return (yield from act.serve(asked, request, rest))


def leader_election(faults: Faults, topic: Topic, takes_ms: int) -> Fault:
    """Elects other leaders for the partitions of a topic where possible, and adds a fault as if that took some time of the cluster."""
    for partition in topic.partitions:
        move_leader(faults.cluster, partition)
    options = FaultOptions(
        api=(METADATA.name, *_LED),
        topic=escape(topic.name),
        partitions=range(len(topic.partitions)),
        until=faults.cluster.timers.now_ms + takes_ms,
    )
    text = f"leader election of topic={topic.name} takes_ms={takes_ms}"
    fault = Fault(faults.next_number(), text, Criteria(options), [NoLeader(faults)], faults.cluster.random)
    faults.add(fault)
    return fault


class TearWrite(Act):
    """Lets the cluster crash within the write of the request's records. `tear` orders that, before they are appended."""

    def __init__(self, tear: Callable[[], None]) -> None:
        self._tear = tear

    def serve(self, _asked: Asked, request: Message, rest: Serve) -> Answering:
        self._tear()
        return (yield from rest(request))


def torn_write(faults: Faults, topic: str, tear: Callable[[], None]) -> Fault:
    """Adds a fault that calls `tear` at the next Produce to a topic."""
    options = FaultOptions(api=PRODUCE.name, topic=escape(topic), times=1)
    fault = Fault(faults.next_number(), f"torn_write of topic={topic}", Criteria(options), [TearWrite(tear)], faults.cluster.random)
    faults.add(fault)
    return fault


def coordinator_moves(faults: Faults, group: str) -> Fault:
    """Moves the coordinator of a group to another node, which has to load the group when the first member comes."""
    cluster = faults.cluster
    cluster.topics.ensure_internal(CONSUMER_OFFSETS)
    partition = cluster.coordinator_log.partition(group, CONSUMER_OFFSETS)
    if partition is not None:
        move_anywhere(cluster, partition)
    options = FaultOptions(
        api=[api.name for api in _COORDINATED],
        node=None if partition is None else partition.leader,
        group=escape(group),
        times=1,
        error="COORDINATOR_LOAD_IN_PROGRESS",
    )
    return add_fault(faults, options)


def move_leader(cluster: ClusterState, partition: Partition) -> None:
    """Makes another in-sync replica the leader. If there is none, the leader stays."""
    others = [node_id for node_id in partition.isr if node_id != partition.leader and node_id in cluster.brokers.running]
    if others:
        cluster.replica_control.move_leader(partition, others[0])


def move_anywhere(cluster: ClusterState, partition: Partition) -> None:
    """Makes another node the leader, which copies the records if it is not a replica. If no other node is running, the leader stays."""
    former = partition.leader
    move_leader(cluster, partition)
    others = [node_id for node_id in cluster.brokers.running if node_id != former]
    if partition.leader == former and others:
        cluster.replica_control.replace(partition, [others[0]])
