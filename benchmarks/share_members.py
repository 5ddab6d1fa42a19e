"""Measures a share group of 100 members: how long it takes to form, and what their heartbeats cost the broker.

Each member has a plain socket and sends ShareGroupHeartbeat. The group has formed when all members are in the same epoch and each has a
partition. Its assignments are computed without a pause between them (share.assignment.interval.ms=0), which otherwise takes a second.
"""

from __future__ import annotations

import itertools
import os
import socket
import time
from typing import Any

from odradek.protocol.errors import ErrorCode
from odradek.protocol.frame import decode_response, encode_request
from odradek.protocol.messages.find_coordinator import FIND_COORDINATOR, FindCoordinatorRequest
from odradek.protocol.messages.incremental_alter_configs import (
    INCREMENTAL_ALTER_CONFIGS,
    AlterableConfig,
    AlterConfigsResource,
    IncrementalAlterConfigsRequest,
)
from odradek.protocol.messages.share_group_heartbeat import SHARE_GROUP_HEARTBEAT, ShareGroupHeartbeatRequest, ShareGroupHeartbeatResponse
from odradek.protocol.schema import Api, Message

from .formation import Address, connected, frame
from .topics import TIMEOUT_S

MEMBERS, ROUNDS = 100, 30
GROUP, SET = 32, 0
LOADING = (ErrorCode.COORDINATOR_LOAD_IN_PROGRESS, ErrorCode.COORDINATOR_NOT_AVAILABLE, ErrorCode.NOT_COORDINATOR)
"""The errors of Apache Kafka until its coordinator has loaded the group; the heartbeat is then sent again."""
_groups = itertools.count()


class ShareMembers:
    """The members of a new group that read one topic. Closing it closes their connections; their sessions end later."""

    def __init__(self, address: Address, topic: str) -> None:
        self.group_id, self.topic = f"bench-share-{os.getpid()}-{next(_groups)}", topic
        self._connections = [connected(address) for _ in range(MEMBERS)]
        self._epochs = [0] * MEMBERS
        self._has_partitions = [False] * MEMBERS
        self._await_coordinator()
        config = AlterableConfig(name="share.assignment.interval.ms", config_operation=SET, value="0")
        resource = AlterConfigsResource(resource_type=GROUP, resource_name=self.group_id, configs=[config])
        request = IncrementalAlterConfigsRequest(resources=[resource], validate_only=False)
        answer = self._call(self._connections[0], INCREMENTAL_ALTER_CONFIGS, 1, request)
        if answer.responses[0].error_code:
            raise RuntimeError(f"IncrementalAlterConfigs failed with error {answer.responses[0].error_code}")

    def close(self) -> None:
        for connection in self._connections:
            connection.close()

    def form(self) -> float:
        """Returns the seconds until all members have a partition in the same epoch. Raises RuntimeError if that takes too long."""
        began = time.perf_counter()
        while not (len(set(self._epochs)) == 1 and all(self._has_partitions)):
            self.beat()
            if time.perf_counter() > began + TIMEOUT_S:
                raise RuntimeError(f"the share group has not formed within {TIMEOUT_S} s")
        return time.perf_counter() - began

    def beat(self) -> None:
        """Sends a heartbeat of each member and waits for all responses."""
        for number, connection in enumerate(self._connections):
            epoch = self._epochs[number]
            request = ShareGroupHeartbeatRequest(
                group_id=self.group_id,
                member_id=f"member-{number}",
                member_epoch=epoch,
                subscribed_topic_names=None if epoch else [self.topic],
            )
            connection.sendall(b"".join(encode_request(SHARE_GROUP_HEARTBEAT, 1, 1, "bench", request)))
        for number, connection in enumerate(self._connections):
            self._receive(number, decode_response(SHARE_GROUP_HEARTBEAT, 1, frame(connection))[1])

    def _receive(self, number: int, response: ShareGroupHeartbeatResponse) -> None:
        if response.error_code in LOADING:
            return
        if response.error_code:
            raise RuntimeError(f"ShareGroupHeartbeat failed with error {response.error_code}")
        self._epochs[number] = response.member_epoch
        if response.assignment is not None:
            self._has_partitions[number] = any(topic.partitions for topic in response.assignment.topic_partitions)

    def _await_coordinator(self) -> None:
        """Makes the broker create its internal topic, and waits until it coordinates the group."""
        deadline = time.monotonic() + TIMEOUT_S
        while time.monotonic() < deadline:
            answer = self._call(self._connections[0], FIND_COORDINATOR, 2, FindCoordinatorRequest(key=self.group_id))
            if answer.error_code == ErrorCode.NONE:
                return
            time.sleep(0.05)
        raise RuntimeError("the share group has no coordinator")

    @staticmethod
    def _call(connection: socket.socket, api: Api, version: int, request: Message) -> Any:
        connection.sendall(b"".join(encode_request(api, version, 1, "bench", request)))
        return decode_response(api, version, frame(connection))[1]
