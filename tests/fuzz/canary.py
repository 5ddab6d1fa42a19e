"""A well-behaved client beside the fuzzing connections: its answers must be correct and timely, and its records must be preserved."""

from __future__ import annotations

import socket
import time
from contextlib import suppress
from multiprocessing import get_context
from multiprocessing.connection import Connection
from typing import Any, NamedTuple

from odradek.protocol.batches.records import batches
from odradek.protocol.errors import ErrorCode
from odradek.protocol.frame import decode_response, encode_request
from odradek.protocol.messages.create_topics import CREATE_TOPICS, CreatableTopic, CreatableTopicConfig, CreateTopicsRequest
from odradek.protocol.messages.fetch import FETCH, FetchPartition, FetchRequest, FetchTopic
from odradek.protocol.messages.metadata import METADATA, MetadataRequest, MetadataRequestTopic
from odradek.protocol.messages.produce import PRODUCE
from odradek.protocol.schema import Api, Message
from tests.broker.harness import a_batch, produce_request
from tests.broker.network.client import read_exactly

TOPIC = "canary"
PATIENCE_S = 30.0
"""A slower answer is a violation. The limit is generous, because the machine may be loaded."""
PAUSE_S = 0.002

Address = tuple[str, int]


class CanaryReport(NamedTuple):
    """Durations of the round trips before and during the fuzzing, the number of records, and the failure that ended the canary."""

    undisturbed_s: list[float]
    disturbed_s: list[float]
    records: int
    failure: str | None


class Canary:
    """Produces records and reads each of them back; at the end it reads all of them again."""

    def __init__(self, addresses: list[Address]) -> None:
        self._addresses = addresses
        self._sockets: dict[int, socket.socket] = {}
        self._correlation_id = 0
        self.round_trips_s: list[float] = []
        self.values: list[bytes] = []

    def create_topic(self) -> None:
        """Creates a topic whose records are never deleted."""
        configs = [CreatableTopicConfig(name=name, value="-1") for name in ("retention.ms", "retention.bytes")]
        topic = CreatableTopic(name=TOPIC, num_partitions=1, replication_factor=2, assignments=[], configs=configs)
        answer = self._call(0, CREATE_TOPICS, 5, CreateTopicsRequest(topics=[topic], timeout_ms=1000))
        assert not answer.topics[0].error_code, answer

    def check_one_record(self) -> None:
        """Produces one record and reads it back. Raises AssertionError and OSError."""
        value = b"record %d" % len(self.values)
        offset = self._produce(value)
        assert offset == len(self.values), f"record {len(self.values)} has the offset {offset}"
        self.values.append(value)
        assert self._read(offset) == [value], f"offset {offset} contains another record than was written"

    def check_all(self) -> None:
        """Checks that all acknowledged records exist once and in order."""
        read: list[bytes] = []
        while len(read) < len(self.values):
            more = self._read(len(read))
            assert more, f"nothing at offset {len(read)} of {len(self.values)}"
            read += more
        assert read == self.values, "the records read differ from the records written"

    def close(self) -> None:
        for each in self._sockets.values():
            each.close()

    def _produce(self, value: bytes) -> int:
        answer = self._call_leader(PRODUCE, 9, produce_request(TOPIC, a_batch(value)))
        return int(answer.responses[0].partition_responses[0].base_offset)

    def _read(self, offset: int) -> list[bytes]:
        partition = FetchPartition(partition=0, fetch_offset=offset, partition_max_bytes=1 << 20)
        request = FetchRequest(max_wait_ms=0, min_bytes=0, topics=[FetchTopic(topic=TOPIC, partitions=[partition])])
        answer = self._call_leader(FETCH, 12, request)
        return [bytes(record.value or b"") for batch in batches(answer.responses[0].partitions[0].records) for record in batch.records()]

    def _call_leader(self, api: Api, version: int, request: Message) -> Any:
        """Sends a request to the leader. Repeats it only after NOT_LEADER_OR_FOLLOWER, because it had no effect then."""
        for node in [self._leader(), None]:
            answer = self._call(self._leader() if node is None else node, api, version, request)
            partition = answer.responses[0].partition_responses[0] if api is PRODUCE else answer.responses[0].partitions[0]
            if partition.error_code != ErrorCode.NOT_LEADER_OR_FOLLOWER:
                break
        assert partition.error_code == 0, f"{api.name}: {partition}"
        return answer

    def _leader(self) -> int:
        metadata = self._call(0, METADATA, 9, MetadataRequest(topics=[MetadataRequestTopic(name=TOPIC)]))
        assert not metadata.topics[0].error_code, metadata
        return int(metadata.topics[0].partitions[0].leader_id) - 1

    def _call(self, node: int, api: Api, version: int, request: Message) -> Any:
        if node not in self._sockets:
            self._sockets[node] = socket.create_connection(self._addresses[node], PATIENCE_S)
        connection = self._sockets[node]
        self._correlation_id += 1
        started = time.monotonic()
        connection.sendall(b"".join(encode_request(api, version, self._correlation_id, TOPIC, request)))
        frame = read_exactly(connection, int.from_bytes(read_exactly(connection, 4), "big"))
        self.round_trips_s.append(time.monotonic() - started)
        correlation_id, answer = decode_response(api, version, memoryview(frame))
        assert correlation_id == self._correlation_id, f"an answer to {correlation_id} instead of {self._correlation_id}"
        return answer


def _run_canary(addresses: list[Address], channel: Connection) -> None:
    """Checks records until the second message of the channel, then sends a report. The first message announces the fuzzing."""
    canary, failure, undisturbed = Canary(addresses), None, 0
    try:
        canary.create_topic()
        while not channel.poll(PAUSE_S):
            canary.check_one_record()
        channel.recv()
        undisturbed = len(canary.round_trips_s)
        while not channel.poll(PAUSE_S):
            canary.check_one_record()
        canary.check_all()
    except (AssertionError, OSError, ValueError) as error:
        failure = f"{type(error).__name__}: {error}"
    canary.close()
    channel.send(CanaryReport(canary.round_trips_s[:undisturbed], canary.round_trips_s[undisturbed:], len(canary.values), failure))


class CanaryProcess:
    """A canary in a separate process, so that the fuzzing client does not slow it down."""

    def __init__(self, addresses: list[Address]) -> None:
        context = get_context("spawn")
        self._channel, other = context.Pipe()
        self._process = context.Process(target=_run_canary, args=(addresses, other), daemon=True)
        self._process.start()
        other.close()

    def announce(self) -> None:
        """Announces that the fuzzing begins."""
        self._send("fuzzing begins")

    def stop(self) -> CanaryReport:
        """Makes the canary read all of its records and returns its report."""
        self._send("stop")
        assert self._channel.poll(6 * PATIENCE_S), "the canary does not report"
        report: CanaryReport = self._channel.recv()
        self._process.join()
        return report

    def _send(self, text: str) -> None:
        with suppress(BrokenPipeError):  # the canary has failed; `stop` returns the failure
            self._channel.send(text)
