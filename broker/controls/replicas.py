"""Controls of replicas: who leads, which nodes have replicas, and how far followers lag.

They change partitions in the same way as requests of administrators do (ElectLeaders, AlterPartitionReassignments), with two exceptions:
`lag` stops a follower, which no request can do, and `set_replicas` copies records at once.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated, Literal

from ..control_errors import InvalidControl
from ..frozen_data import FrozenData
from ..topics.names import CONSUMER_OFFSETS, TRANSACTION_STATE
from .declaration import control
from .nodes import NodeControls
from .parameters import NodeId, PartitionIndex, TopicName
from .topics import TopicControls

if TYPE_CHECKING:
    from ..topics.partition import Partition


class Election(FrozenData):
    """A partition that has elected a leader."""

    topic: str
    partition: int
    leader: int
    leader_epoch: int


class ReplicaControls(NodeControls, TopicControls):
    """The replicas of a cluster."""

    # Leaders

    @control("leader move")
    async def move_leader(self, topic: TopicName, partition: PartitionIndex, node: NodeId) -> None:
        """Makes an in-sync replica the leader of a partition, in a new leader epoch. Does nothing if it leads already.

        If the new leader lags, records that are not committed are truncated. The leader may move back when preferred leaders are elected.
        """
        found = self._replica(topic, partition, node)
        self._check_electable(found, node)
        if found.leader != node:
            self._move_leader(found, node)

    @control("leader elect")
    async def elect(
        self,
        kind: Annotated[Literal["preferred", "unclean"], "preferred: the first replica; unclean: any running replica"],
        topic: Annotated[str | None, "only this topic"] = None,
        partitions: Annotated[Sequence[int] | None, "only these partitions of the topic"] = None,
    ) -> list[Election]:
        """Elects leaders where necessary, as kafka-leader-election does, and returns the elections that were held.

        `preferred` elects first replicas that are in sync. `unclean` elects a running replica of each partition without a leader, at the
        price of the records that it lacks.
        """
        chosen = self._partitions_of(topic, partitions)
        cluster = self._server.cluster
        elections = []
        with self._server.control_turn(f"holding {kind} elections"):
            for partition in chosen:
                if _elect(partition, kind, cluster.brokers.running):
                    cluster.replica_control.changed(partition)
                    elections.append(Election(partition.topic.name, partition.index, partition.leader, partition.leader_epoch))
            cluster.write_missing_markers()
        return elections

    @control("coordinator move")
    async def move_coordinator(
        self,
        node: NodeId,
        *,
        group: Annotated[str | None, "the id of a group"] = None,
        transactional_id: Annotated[str | None, "a transactional id, instead of a group"] = None,
    ) -> None:
        """Makes a node the coordinator of a group or transactional id. Clients get NOT_COORDINATOR from the former one.

        All groups (or transactional ids) of the same partition of __consumer_offsets (or __transaction_state) move with it.
        """
        if (group is None) == (transactional_id is None):
            raise InvalidControl("group", "give either group or transactional_id")
        self._broker(node)
        cluster = self._server.cluster
        key, name = (transactional_id or "", TRANSACTION_STATE) if group is None else (group, CONSUMER_OFFSETS)
        with self._server.control_turn(f"creating {name}"):
            cluster.topics.ensure_internal(name)
        partition = cluster.coordinator_log.partition(key, name)
        if partition is None:
            raise InvalidControl("node", f"{name} cannot be created, because no node is running")
        await self.move_leader(name, partition.index, node)

    # Replicas

    @control("replica set")
    async def set_replicas(
        self, topic: TopicName, partition: PartitionIndex, replicas: Annotated[Sequence[int], "ids of nodes; the first one is preferred"]
    ) -> None:
        """Replaces the replicas of a partition. New replicas copy its records at once, unless reassignments are held."""
        found = self._partition(self._topic(topic), partition)
        self._check_replicas(replicas)
        if not found.has_leader and set(replicas) - set(found.replicas):
            raise InvalidControl("partition", f"{found} has no leader from which replicas could copy; start a node first")
        with self._server.control_turn(f"changing the replicas of {found}"):
            self._server.cluster.replica_control.replace(found, list(replicas))

    @control("reassignment hold")
    async def hold_reassignments(self) -> None:
        """Keeps reassignments in progress, also those that clients start, until `release_reassignments`.

        They are listed as in progress and can be cancelled, but added replicas do not copy records.
        """
        with self._server.control_turn("holding reassignments"):
            self._server.cluster.replica_control.hold_reassignments()

    @control("reassignment release")
    async def release_reassignments(self) -> None:
        """Completes the reassignments that were held, and lets new ones complete by themselves again."""
        with self._server.control_turn("releasing reassignments"):
            self._server.cluster.replica_control.release_reassignments()

    # Followers

    @control("replica lag")
    async def lag(
        self,
        topic: TopicName,
        partition: PartitionIndex,
        node: NodeId,
        records: Annotated[int, "the distance at which the replica follows; with 0 it stops where it is"] = 0,
    ) -> None:
        """Makes a follower stop, or follow at a distance of `records`, until `catch_up` or until it is elected leader.

        The high watermark waits for it while it is in sync. It leaves the in-sync replicas after replica.lag.time.max.ms.
        """
        found = self._replica(topic, partition, node)
        if found.leader == node:
            raise InvalidControl("node", f"node {node} leads {found} and cannot lag; move its leader first")
        if records < 0:
            raise InvalidControl("records", f"must not be negative, but it is {records}")
        with self._server.control_turn(f"stopping the follower {node} of {found}"):
            self._server.cluster.replica_control.lag(found, node, records)

    @control("replica catch-up")
    async def catch_up(self, topic: TopicName, partition: PartitionIndex, node: NodeId) -> None:
        """Lets a follower that lags catch up. It is in sync at once if its node is running. Does nothing for other replicas."""
        found = self._replica(topic, partition, node)
        if node in found.held:
            with self._server.control_turn(f"letting the follower {node} of {found} catch up"):
                self._server.cluster.replica_control.end_lag(found, node)

    # Checks

    def _replica(self, topic: str, index: int, node: int) -> Partition:
        """Returns a partition. Raises InvalidControl if it does not exist or the node has no replica of it."""
        partition = self._partition(self._topic(topic), index)
        self._broker(node)
        if node not in partition.replicas:
            raise InvalidControl("node", f"node {node} has no replica of {partition}; its replicas are {partition.replicas}")
        return partition

    def _check_electable(self, partition: Partition, node: int) -> None:
        if node not in self._server.cluster.brokers.running:
            raise InvalidControl("node", f"node {node} is not running and cannot lead {partition}")
        if node not in partition.isr:
            raise InvalidControl("node", f"node {node} is not in sync with {partition}; its in-sync replicas are {partition.isr}")

    def _check_replicas(self, replicas: Sequence[int]) -> None:
        if not replicas:
            raise InvalidControl("replicas", f"must be a list of node ids, not {replicas!r}")
        if len(set(replicas)) < len(replicas):
            raise InvalidControl("replicas", f"{list(replicas)} contains a node twice")
        brokers = self._server.cluster.brokers
        for node in replicas:
            if node not in brokers:
                raise InvalidControl("replicas", f"there is no node {node!r}; use some of {', '.join(map(str, brokers))}")

    def _partitions_of(self, topic: str | None, partitions: Sequence[int] | None) -> list[Partition]:
        if topic is None and partitions is not None:
            raise InvalidControl("partitions", "give the topic as well")
        if topic is None:
            return list(self._server.cluster.topics.partitions())
        found = self._topic(topic)
        return list(found.partitions) if partitions is None else [self._partition(found, index) for index in partitions]

    def _move_leader(self, partition: Partition, node: int) -> None:
        with self._server.control_turn(f"moving the leader of {partition}"):
            self._server.cluster.replica_control.move_leader(partition, node)


def _elect(partition: Partition, kind: str, running: Sequence[int]) -> bool:
    """Holds an election if the partition needs one. Returns whether it has a new leader."""
    if kind == "preferred":
        return partition.replicas[0] in running and partition.prefer_first_replica()
    return not partition.has_leader and partition.elect_uncleanly(running)
