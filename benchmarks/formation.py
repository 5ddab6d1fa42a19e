"""Measures how long a group of 100 members takes to form: from the first JoinGroup until every member has its assignment.

Each member has a plain socket and sends what librdkafka sends: JoinGroup without a member id, JoinGroup with the id that it received, then
SyncGroup. Each assignment contains the number of members in its generation. A member whose generation is incomplete sends heartbeats until
it has to join again. All members share one thread, so the figure includes the time in which the client encodes and decodes.
"""

from __future__ import annotations

import itertools
import os
import selectors
import socket
import time
from struct import pack, unpack

from odradek.protocol.errors import ErrorCode
from odradek.protocol.frame import decode_response, encode_request
from odradek.protocol.messages.find_coordinator import FIND_COORDINATOR, FindCoordinatorRequest
from odradek.protocol.messages.heartbeat import HEARTBEAT, HeartbeatRequest
from odradek.protocol.messages.join_group import JOIN_GROUP, JoinGroupRequest, JoinGroupRequestProtocol, JoinGroupResponse
from odradek.protocol.messages.sync_group import SYNC_GROUP, SyncGroupRequest, SyncGroupRequestAssignment
from odradek.protocol.schema import Api, Message

MEMBERS = 100
TIMEOUT_S = 30
VERSIONS = {JOIN_GROUP: 5, SYNC_GROUP: 3, HEARTBEAT: 3}
_SUBSCRIPTION = b"\0\0\0\0\0\1\0\1t\0\0\0\0"
_groups = itertools.count()

Address = tuple[str, int]


def formation_s(address: Address) -> float:
    """Returns the seconds in which a new group forms. Raises RuntimeError for an error response or after TIMEOUT_S without any."""
    group_id = f"bench-{os.getpid()}-{next(_groups)}"
    await_coordinator(address, group_id)
    with selectors.DefaultSelector() as selector:
        members = [_Member(address, group_id) for _ in range(MEMBERS)]
        try:
            for member in members:
                selector.register(member.connection, selectors.EVENT_READ, member)
            began = time.perf_counter()
            for member in members:
                member.join()
            while not all(member.is_complete for member in members):
                ready = selector.select(TIMEOUT_S)
                if not ready:
                    raise RuntimeError(f"the group has not formed within {TIMEOUT_S} s")
                for key, _ in ready:
                    key.data.receive()
            return time.perf_counter() - began
        finally:
            for member in members:
                member.connection.close()


def await_coordinator(address: Address, group_id: str) -> None:
    """Makes the broker create its internal topic, and waits until a broker coordinates the group."""
    deadline = time.monotonic() + TIMEOUT_S
    with connected(address) as connection:
        while time.monotonic() < deadline:
            connection.sendall(b"".join(encode_request(FIND_COORDINATOR, 2, 1, "bench", FindCoordinatorRequest(key=group_id))))
            if decode_response(FIND_COORDINATOR, 2, frame(connection))[1].error_code == ErrorCode.NONE:
                return
            time.sleep(0.05)
    raise RuntimeError("the group has no coordinator")


class _Member:
    """One member. It has one request in flight and continues with the next one when it receives the response."""

    def __init__(self, address: Address, group_id: str) -> None:
        self.connection = connected(address)
        self.group_id = group_id
        self.member_id = ""
        self.generation_id = -1
        self.is_complete = False
        """Whether the member has an assignment in a generation of MEMBERS members."""
        self._sent: Api = JOIN_GROUP

    def _send(self, api: Api, request: Message) -> None:
        self._sent = api
        self.connection.sendall(b"".join(encode_request(api, VERSIONS[api], 1, "bench", request)))

    def join(self) -> None:
        self._send(
            JOIN_GROUP,
            JoinGroupRequest(
                group_id=self.group_id,
                member_id=self.member_id,
                session_timeout_ms=45_000,
                rebalance_timeout_ms=300_000,
                protocol_type="consumer",
                protocols=[JoinGroupRequestProtocol(name="range", metadata=_SUBSCRIPTION)],
            ),
        )

    def receive(self) -> None:
        _, response = decode_response(self._sent, VERSIONS[self._sent], frame(self.connection))
        if response.error_code in (ErrorCode.MEMBER_ID_REQUIRED, ErrorCode.REBALANCE_IN_PROGRESS, ErrorCode.ILLEGAL_GENERATION):
            self.member_id = response.member_id if self._sent is JOIN_GROUP else self.member_id
            self.join()
        elif response.error_code:
            raise RuntimeError(f"{self._sent.name} failed with error {response.error_code}")
        elif self._sent is JOIN_GROUP:
            self._sync(response)
        else:
            if self._sent is SYNC_GROUP:
                self.is_complete = unpack(">i", response.assignment) == (MEMBERS,)
            if not self.is_complete:
                self._heartbeat()

    def _sync(self, joined: JoinGroupResponse) -> None:
        self.generation_id = joined.generation_id
        assignment = pack(">i", len(joined.members))
        request = SyncGroupRequest(
            group_id=self.group_id,
            generation_id=self.generation_id,
            member_id=self.member_id,
            assignments=[SyncGroupRequestAssignment(member_id=each.member_id, assignment=assignment) for each in joined.members],
        )
        self._send(SYNC_GROUP, request)

    def _heartbeat(self) -> None:
        self._send(HEARTBEAT, HeartbeatRequest(group_id=self.group_id, generation_id=self.generation_id, member_id=self.member_id))


def connected(address: Address) -> socket.socket:
    connection = socket.create_connection(address)
    connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVTIMEO, pack("ll", TIMEOUT_S, 0))
    return connection


def frame(connection: socket.socket) -> memoryview:
    size = int.from_bytes(connection.recv(4, socket.MSG_WAITALL))
    return memoryview(connection.recv(size, socket.MSG_WAITALL))
