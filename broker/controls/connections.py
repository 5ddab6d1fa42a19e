"""Controls that describe the connections of clients, and the requests on them that are not answered yet, with what they wait for."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from ..frozen_data import FrozenData
from .declaration import Controls, control
from .nodes import remedy

if TYPE_CHECKING:
    from ..api.context import Parked
    from ..cluster.silence import Silence
    from ..cluster.state import ClusterState
    from ..connections.connection import Connection
    from ..topics.partition import Partition

MAX_NAMED = 3
STANDS_STILL = "the time of the cluster, which stands still; advance moves it, and run lets it pass again"


class ConnectionInfo(FrozenData):
    """An open connection. `client_id` is that of its last request; `waits_for` is the API of a request that is not answered yet."""

    connection: int
    node: int
    listener: str
    host: str
    port: int
    client_id: str
    software_name: str
    software_version: str
    principal: str
    waits_for: str | None


class WaitingRequest(FrozenData):
    """A request that is not answered yet, and what it waits for, in words.

    `api` is empty on a connection to a paused or isolated node, which does not read what the client sends. `left_ms` is the time of the
    cluster after which the request is answered at the latest, None if nothing limits it.
    """

    connection: int
    node: int
    peer: str
    client_id: str
    software: str
    api: str
    version: int
    waits_for: list[str]
    left_ms: int | None


class ConnectionControls(Controls):
    """The connections of a cluster, and the requests that wait."""

    @control("connection list", reads=True)
    async def connections(self) -> list[ConnectionInfo]:
        """Returns all open connections in the order in which they were opened."""
        found = []
        for connection in self._server.listeners.connections():
            client, parked = connection.client, connection.parked
            found.append(
                ConnectionInfo(
                    connection=client.connection_id,
                    node=connection.broker.node_id,
                    listener=client.listener_name,
                    host=client.client_host,
                    port=client.client_port,
                    client_id=client.client_id,
                    software_name=client.software_name,
                    software_version=client.software_version,
                    principal=client.principal,
                    waits_for=None if parked is None else parked.header.api.name,
                )
            )
        return found

    @control("connection waiting", reads=True)
    async def waiting_requests(self) -> list[WaitingRequest]:
        """Returns the requests that are not answered yet, with what they wait for, in the order of their connections.

        A reason is, for example, records of a partition, members of a group, replicas of a partition, a fault, or the time of the cluster
        if that stands still. A paused or isolated node reads no requests, so that each of its connections is listed.
        """
        server = self._server
        stands_still = server.clock.speed == 0
        return [
            _waiting_request(connection, server.cluster, server.now_ms, stands_still=stands_still)
            for connection in server.listeners.connections()
            if connection.parked is not None or connection.broker.silence is not None
        ]


def _waiting_request(connection: Connection, cluster: ClusterState, now_ms: float, *, stands_still: bool) -> WaitingRequest:
    client, parked = connection.client, connection.parked
    deadline_ms = None if parked is None or parked.wait is None else parked.wait.deadline_ms
    reasons = [] if parked is None else [_reason(parked, cluster)]
    if connection.broker.silence is not None:
        reasons.append(_silent_node(connection.broker.node_id, connection.broker.silence))
    if stands_still and deadline_ms is not None:
        reasons.append(STANDS_STILL)
    return WaitingRequest(
        connection=client.connection_id,
        node=connection.broker.node_id,
        peer=client.address,
        client_id=client.client_id,
        software=client.software,
        api="" if parked is None else parked.header.api.name,
        version=0 if parked is None else parked.header.version,
        waits_for=reasons,
        left_ms=None if deadline_ms is None else max(0, round(deadline_ms - now_ms)),
    )


def _reason(parked: Parked, cluster: ClusterState) -> str:
    """Returns what the handler of a request waits for. Its keys tell a wait of the handler from one of a fault."""
    from ..scheduling.waiting import Reply
    from ..topics.partition import Partition

    wait = parked.wait
    if wait is None:
        return "its next turn"
    if not wait.what:
        return _records(parked)
    key = next(iter(parked.keys), None)
    if isinstance(key, Reply):
        return wait.what + _missing_members(parked, cluster)
    if isinstance(key, Partition):
        return wait.what + _missing_replicas(key)
    return wait.what


def _records(parked: Parked) -> str:
    names = _some(list(map(repr, parked.keys)))
    least = getattr(parked.request, "min_bytes", 1)
    return f"records of {names}" + (f", at least {least} bytes" if least > 1 else "") if names else "some time"


def _missing_members(parked: Parked, cluster: ClusterState) -> str:
    """Returns which members of a classic group a JoinGroup or SyncGroup waits for."""
    from ..groups.classic.group import ClassicGroup

    group = cluster.groups.get(getattr(parked.request, "group_id", ""))
    if not isinstance(group, ClassicGroup):
        return ""
    if parked.header.api.name == "SyncGroup":
        return f", which its leader {group.leader} has not sent"
    missing = [f"{member.client_id} ({member.member_id})" for member in group.members.values() if member.join_reply is None]
    return f", which waits for {_some(missing)} to join again" if missing else ", which waits for more members to join"


def _missing_replicas(partition: Partition) -> str:
    """Returns which replicas a Produce with acks=all waits for."""
    behind = [f"node {node}" for node in partition.in_sync_laggards]
    if len(partition.isr) < partition.min_isr:
        behind.append(f"{partition.min_isr - len(partition.isr)} more in sync (min.insync.replicas={partition.min_isr})")
    return f": {_some(behind)}" if behind else ""


def _some(names: Sequence[str]) -> str:
    more = f" and {len(names) - MAX_NAMED} more" if len(names) > MAX_NAMED else ""
    return ", ".join(names[:MAX_NAMED]) + more


def _silent_node(node_id: int, silence: Silence) -> str:
    return f"node {node_id}, which is {silence.value}; {remedy(silence)}"
