"""Share consumption: the records of a topic are acquired and accepted by one member, as fast as the broker can serve it.

The member is a small program of its own on odradek's codec, because the Java client's share consumer spends more CPU than any broker. It
opens a session without joining the group, which Kafka allows, and each of its ShareFetch requests accepts the records of the one before.
"""

from __future__ import annotations

import socket
import time
from struct import Struct
from typing import Any

from odradek.protocol.frame import decode_response, encode_request
from odradek.protocol.messages.find_coordinator import FIND_COORDINATOR, FindCoordinatorRequest
from odradek.protocol.messages.initialize_share_group_state import (
    INITIALIZE_SHARE_GROUP_STATE,
    InitializeShareGroupStateRequest,
    InitializeStateData,
)
from odradek.protocol.messages.initialize_share_group_state import PartitionData as NewState
from odradek.protocol.schema import Api, Message

from .topics import TIMEOUT_S

ACCEPT, SHARE = 1, 2
GROUP = "benchmark"
_LENGTH = Struct(">i")


class Member:
    """A connection of one member of a share group."""

    def __init__(self, bootstrap_servers: str) -> None:
        host, _, port = bootstrap_servers.split(",")[0].rpartition(":")
        self._socket = socket.create_connection((host, int(port)), TIMEOUT_S)
        self._socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self._answers = self._socket.makefile("rb", buffering=1 << 20)

    def call(self, api: Api, version: int, request: Message) -> Any:
        self._socket.sendall(b"".join(encode_request(api, version, 1, "benchmark", request)))
        (size,) = _LENGTH.unpack(self._answers.read(4))
        return decode_response(api, version, memoryview(self._answers.read(size)))[1]

    def initialize(self, topic_id: bytes) -> None:
        """Stores the state of partition 0 with the start offset 0. The share coordinator may take some time to be created."""
        request = InitializeShareGroupStateRequest(
            group_id=GROUP,
            topics=[InitializeStateData(topic_id=topic_id, partitions=[NewState(partition=0, state_epoch=0, start_offset=0)])],
        )
        end_s = time.monotonic() + TIMEOUT_S
        while self.call(INITIALIZE_SHARE_GROUP_STATE, 0, request).results[0].partitions[0].error_code:
            self.call(FIND_COORDINATOR, 4, FindCoordinatorRequest(key_type=0, coordinator_keys=[GROUP]))
            if time.monotonic() > end_s:
                raise TimeoutError("the share coordinator is not available")
