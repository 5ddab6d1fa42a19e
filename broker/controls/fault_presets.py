"""Controls that add ready-made faults, one for each situation that clients should survive."""

from __future__ import annotations

from glob import escape
from math import inf
from typing import Annotated

from ..control_errors import InvalidControl, unknown
from ..faults.options import FaultOptions
from ..frozen_data import FrozenData
from .declaration import control
from .fault_handles import AsyncFaultHandle, adding
from .faults import FaultControls
from .nodes import NodeControls
from .parameters import Duration, GroupId, NodeId, TopicName, duration_ms

_WRITING = ("Produce", "OffsetCommit", "TxnOffsetCommit", "EndTxn")
"""The APIs that clients wait for while a node writes to its disk."""


class CrashedClient(FrozenData):
    """The number of connections that a crash of a client has ended, and the groups in which its sessions have expired."""

    connections: int
    groups: list[str]


class FaultPresetControls(FaultControls, NodeControls):
    """Ready-made faults."""

    @control("fault preset lost-acks")
    @adding
    async def lost_acks(self, topic: TopicName, times: Annotated[int, "how many acknowledgements are lost"] = 1) -> AsyncFaultHandle:
        """Loses the acknowledgements of a topic: the records are appended, then the connection is reset.

        Producers send the records again. Without idempotence they are then stored twice.
        """
        return self._add_fault(FaultOptions(api="Produce", topic=escape(topic), times=times, drop=True, stage="after", close="rst"))

    @control("fault preset flaky")
    @adding
    async def flaky(self, percent: Annotated[float, "how many of 100 requests fail"]) -> AsyncFaultHandle:
        """Resets the connection of some requests, before anything is done, as an unreliable network does."""
        if not 0 < percent <= 100:
            raise InvalidControl("percent", f"must be above 0 and at most 100, not {percent}")
        return self._add_fault(FaultOptions(probability=percent / 100, drop=True, close="rst"))

    @control("fault preset firewall")
    @adding
    async def firewall(self, node: NodeId) -> AsyncFaultHandle:
        """Lets all requests to a node hang while their connections stay open, as a firewall does that drops packets."""
        return self._add_fault(FaultOptions(node=node, hang=True))

    @control("fault preset slow-network")
    @adding
    async def slow_network(self, ms: Annotated[int, "the delay of each response in milliseconds"]) -> AsyncFaultHandle:
        """Delays all responses."""
        return self._add_fault(FaultOptions(delay_ms=ms))

    @control("fault preset leader-election")
    @adding
    async def leader_election(self, topic: TopicName, takes: Duration) -> AsyncFaultHandle:
        """Elects other leaders for a topic. Until that is done, its partitions have no leader.

        Clients get LEADER_NOT_AVAILABLE and NOT_LEADER_OR_FOLLOWER for as long. A partition without another in-sync replica keeps its
        leader.
        """
        takes_ms = round(duration_ms("takes", takes))
        topics = self._server.cluster.topics
        if topic not in topics:
            raise unknown("topic", "topic", topic, topics)
        from ..faults.presets import leader_election

        with self._server.control_turn(f"electing leaders of {topic}"):
            return self._handle_of(leader_election(self._server.core.faults, topics[topic], takes_ms))

    @control("fault preset coordinator-moves")
    @adding
    async def coordinator_moves(self, group: GroupId) -> AsyncFaultHandle:
        """Moves the coordinator of a group to another node, if there is one.

        The former one answers NOT_COORDINATOR, and the new one COORDINATOR_LOAD_IN_PROGRESS once.
        """
        from ..faults.presets import coordinator_moves

        with self._server.control_turn(f"moving the coordinator of {group}"):
            return self._handle_of(coordinator_moves(self._server.core.faults, group))

    @control("fault preset disk-full")
    @adding
    async def disk_full(self, node: NodeId) -> AsyncFaultHandle:
        """Lets a node refuse all records with KAFKA_STORAGE_ERROR."""
        return self._add_fault(FaultOptions(api="Produce", node=node, error="KAFKA_STORAGE_ERROR"))

    @control("fault preset disk-slow")
    @adding
    async def disk_slow(self, node: NodeId, ms: Annotated[int, "how long each write takes in milliseconds"]) -> AsyncFaultHandle:
        """Delays what a node writes, as a slow disk does: records, committed offsets and ends of transactions. Reads are not delayed."""
        return self._add_fault(FaultOptions(api=_WRITING, node=node, delay_ms=ms))

    @control("fault preset torn-write")
    @adding
    async def torn_write(self, topic: TopicName) -> AsyncFaultHandle:
        """Lets all nodes crash within the next write to a topic, so that a part of its last batch is in the file, and starts them again.

        They start with what the data directory contains, after recovery has cut off the torn batch. The records of that request are not
        acknowledged, and producers send them again. Connections are closed, and groups have no members until these join again. Raises
        InvalidControl for a cluster without a data directory.
        """
        server = self._server
        if not server.keeps_data:
            text = "torn_write needs a data directory: start the cluster with data_dir or --data-dir"
            raise InvalidControl.of_call("topic", text)
        from ..faults.presets import torn_write

        with server.control_turn(f"tearing the next write to {topic}"):
            return self._handle_of(torn_write(server.core.faults, topic, lambda: server.tear_next_write(topic)))

    @control("fault preset not-enough-replicas")
    @adding
    async def not_enough_replicas(self, topic: TopicName) -> AsyncFaultHandle:
        """Refuses records of a topic with acks=all, as if fewer than min.insync.replicas were in sync."""
        return self._add_fault(FaultOptions(api="Produce", topic=escape(topic), acks=-1, error="NOT_ENOUGH_REPLICAS"))

    @control("fault preset rolling-restart")
    async def rolling_restart(
        self, pause_s: Annotated[float, "how long each node is stopped, and how long after it the next one stops, in cluster time"]
    ) -> None:
        """Stops and starts one node after the other, and returns when all have been restarted."""
        _check_seconds("pause_s", pause_s)
        for number, node_id in enumerate(self._server.cluster.brokers.running):
            if number:
                await self._pause(pause_s, "pausing a rolling restart")
            await self.stop_node(node_id)
            await self._pause(pause_s, "pausing a rolling restart")
            await self.start_node(node_id)

    @control("fault preset outage")
    async def outage(self, seconds: Annotated[float, "how long the nodes are away, in seconds of the cluster's time"]) -> None:
        """Crashes all running nodes at once and starts them again, and returns when they accept connections. No record is lost.

        Nodes that are stopped, paused or isolated already stay so. While the clock is frozen, the outage ends when the time is moved.
        """
        _check_seconds("seconds", seconds)
        nodes = [node_id for node_id, broker in self._server.cluster.brokers.items() if broker.running and broker.silence is None]
        try:
            for node_id in nodes:
                await self.stop_node(node_id, graceful=False)
            await self._pause(seconds, "waiting for the end of an outage")
        finally:
            for node_id in self._server.cluster.brokers.keys() & nodes:
                await self._server.nodes.start(node_id)

    @control("fault preset crash-client")
    async def crash_client(self, client_id: Annotated[str, "the client id"]) -> CrashedClient:
        """Makes the cluster see the crash of a client: its connections end, and its sessions in groups expire, so that groups rebalance.

        A client that is still alive connects and joins again. To keep it away, add a fault for its client id first. Its open
        transactions stay open until transaction.timeout.ms. Raises InvalidControl if nothing in the cluster belongs to this client id.
        """
        server, cluster = self._server, self._server.cluster
        connections = [each for each in server.listeners.connections() if each.client.client_id == client_id]
        sessions = [
            (group, member.member_id) for group in cluster.groups for member in group.members.values() if member.client_id == client_id
        ]
        if not connections and not sessions:
            known = {each.client.client_id for each in server.listeners.connections()}
            known.update(member.client_id for group in cluster.groups for member in group.members.values())
            raise unknown("client_id", "client", client_id, sorted(known))
        with server.control_turn(f"crashing the client {client_id}"):
            for connection in connections:
                connection.resets = True
                connection.close(f"the client {client_id} was crashed")
            for group, member_id in sessions:
                if (key := ("session", group.group_id, member_id)) in cluster.timers:
                    cluster.timers.set(key, 0, group.timer_action("session", member_id))
        return CrashedClient(len(connections), sorted({group.group_id for group, _ in sessions}))

    async def _pause(self, seconds: float, doing: str) -> None:
        """Returns after some time of the cluster, or when its state is replaced by `restore` or `reset`."""
        import asyncio

        server, core = self._server, self._server.core
        over = asyncio.Event()
        with server.control_turn(doing):
            core.timers.set(over, round(seconds * 1000), over.set)
        while not over.is_set() and self._server.core is core:
            await self._server.driver.next_change()


def _check_seconds(name: str, seconds: float) -> None:
    if not 0 <= seconds < inf:
        raise InvalidControl(name, f"must be 0 or more seconds, not {seconds}")
