"""Share consumption: one member acquires and accepts the records of a topic, as fast as the broker can serve it.

The member is a loop on odradek's codec, because the share consumer of the Java client takes more CPU than any broker. It opens a session
without joining the group, which Kafka allows. Each of its ShareFetch requests accepts the records of the one before.
"""

from __future__ import annotations

import socket
import time
from contextlib import closing
from struct import Struct
from typing import Any

from odradek.broker.share_partitions.records import SharePartitionKey
from odradek.protocol.frame import decode_response, encode_request
from odradek.protocol.messages.find_coordinator import FIND_COORDINATOR, FindCoordinatorRequest
from odradek.protocol.messages.initialize_share_group_state import (
    INITIALIZE_SHARE_GROUP_STATE,
    InitializeShareGroupStateRequest,
    InitializeStateData,
)
from odradek.protocol.messages.initialize_share_group_state import PartitionData as NewState
from odradek.protocol.messages.metadata import METADATA, MetadataRequest, MetadataRequestTopic
from odradek.protocol.messages.share_fetch import SHARE_FETCH, AcknowledgementBatch, FetchPartition, FetchTopic, ShareFetchRequest
from odradek.protocol.schema import Api, Message

from .brokers import KAFKA, ODRADEK, Broker
from .pipeline import Pipeline, batch
from .rows import Figures, Measure, Row, Target
from .topics import TIMEOUT_S, new_topic

ACCEPT, SHARE = 1, 2
GROUP = "benchmark"
RECORDS, BATCH, MOST = 1_000_000, 500, 500
"""The records of the topic, those of one batch, and those that one request acquires."""
_LENGTH = Struct(">i")


class Member:
    """A connection of one member of a share group."""

    def __init__(self, broker: Broker) -> None:
        self._socket = socket.create_connection(broker.address, TIMEOUT_S)
        self._socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self._answers = self._socket.makefile("rb", buffering=1 << 20)

    def call(self, api: Api, version: int, request: Message) -> Any:
        self._socket.sendall(b"".join(encode_request(api, version, 1, "benchmark", request)))
        (size,) = _LENGTH.unpack(self._answers.read(4))
        return decode_response(api, version, memoryview(self._answers.read(size)))[1]

    def initialize(self, topic_id: bytes) -> None:
        """Stores the state of partition 0 with the start offset 0. Kafka creates the share coordinator when it is first looked for."""
        state = InitializeStateData(topic_id=topic_id, partitions=[NewState(partition=0, state_epoch=0, start_offset=0)])
        request = InitializeShareGroupStateRequest(group_id=GROUP, topics=[state])
        key = SharePartitionKey(GROUP, topic_id, 0).text
        end_s = time.monotonic() + TIMEOUT_S
        while self.call(INITIALIZE_SHARE_GROUP_STATE, 0, request).results[0].partitions[0].error_code:
            self.call(FIND_COORDINATOR, 6, FindCoordinatorRequest(key_type=SHARE, coordinator_keys=[key]))
            if time.monotonic() > end_s:
                raise TimeoutError("the share coordinator is not available")

    def fetch(self, topic_id: bytes, epoch: int, accepted: tuple[int, int] | None) -> tuple[int, int] | None:
        """Accepts the offsets from the first to the last of `accepted`. Returns those that are acquired, None if there are none."""
        batches = []
        if accepted is not None:
            batches.append(AcknowledgementBatch(first_offset=accepted[0], last_offset=accepted[1], acknowledge_types=[ACCEPT]))
        request = ShareFetchRequest(
            group_id=GROUP,
            member_id="member",
            share_session_epoch=epoch,
            max_wait_ms=500,
            min_bytes=1,
            max_bytes=1 << 20,
            max_records=MOST,
            batch_size=MOST,
            topics=[FetchTopic(topic_id=topic_id, partitions=[FetchPartition(partition_index=0, acknowledgement_batches=batches)])],
            forgotten_topics_data=[],
        )
        response = self.call(SHARE_FETCH, 2, request)
        ranges = [each for topic in response.responses for partition in topic.partitions for each in partition.acquired_records]
        return (ranges[0].first_offset, ranges[-1].last_offset) if ranges else None

    def close(self) -> None:
        self._answers.close()
        self._socket.close()


def consumption(broker: Broker) -> Figures:
    """Measures how fast one member acquires and accepts records of 100 bytes, 500 with each request."""
    with new_topic(broker) as topic, closing(Member(broker)) as member:
        with Pipeline(broker.address, topic, batch(BATCH, 100)) as pipeline:
            end_offset = pipeline.run(RECORDS // BATCH) * BATCH
        topic_id = member.call(METADATA, 12, MetadataRequest(topics=[MetadataRequestTopic(name=topic)])).topics[0].topic_id
        member.initialize(topic_id)
        held, epoch = member.fetch(topic_id, 0, None), 1
        began_s, cpu_s = time.perf_counter(), broker.cpu_s()
        while held is None or held[1] + 1 < end_offset:
            held, epoch = member.fetch(topic_id, epoch, held), epoch + 1
        seconds = time.perf_counter() - began_s
        return {
            "share consumption 100 B": end_offset / seconds / 1e6,
            "ShareFetch with 500 acknowledgements: CPU": (broker.cpu_s() - cpu_s) / epoch * 1e6,
        }


MEASURES = (
    Measure(
        (
            Row("share consumption 100 B", "M/s", (Target(2, KAFKA, at_least=True),)),
            Row("ShareFetch with 500 acknowledgements: CPU", "us", (Target(1000),)),
        ),
        consumption,
        (ODRADEK, KAFKA),
    ),
)
