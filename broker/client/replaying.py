"""Sends the requests of a captured session to the brokers of a cluster, and compares the responses (`wire/replaying/`).

Each captured connection becomes one connection to each broker that it needs: a request about partitions goes to their leader of now, one
about a group or a transaction to the coordinator of now, because another cluster places them differently. All others go to the node with
the same id or, if there is none, to the bootstrap server.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from ...protocol.client.line import Address, Line, NotKafka, open_line
from ...protocol.errors import ErrorCode
from ...protocol.frame import LENGTH, decode_response, encode_request
from ...protocol.messages import load_api
from ...protocol.messages.fetch import FetchRequest, FetchResponse
from ...protocol.messages.find_coordinator import FIND_COORDINATOR, FindCoordinatorRequest
from ...protocol.messages.metadata import METADATA, MetadataRequest, MetadataRequestTopic
from ...protocol.schema import Api, Message, ProtocolError
from ..wire.exchange import Entry, Exchange, Frame, decoded_response, error_names
from ..wire.replaying.comparison import differences
from ..wire.replaying.ids import Ids
from ..wire.replaying.session import Kind, ReplayStep, obstacle, request_frame, steps_of

if TYPE_CHECKING:
    from ...protocol.client.settings import ClientSecurity

TIMEOUT_S = 30.0
"""The longest time for which a replay waits for a response."""
CLIENT_ID = "odradek-replay"
RETRY_S, PAUSE_S = 10.0, 0.1
PASSING = {
    "COORDINATOR_NOT_AVAILABLE",
    "COORDINATOR_LOAD_IN_PROGRESS",
    "NOT_COORDINATOR",
    "LEADER_NOT_AVAILABLE",
    "CONCURRENT_TRANSACTIONS",
}
"""Errors with which Apache Kafka answers the first requests of a group, a transaction or a topic, and after which clients try again."""
GROUP, TRANSACTION = 0, 1
LED = {"Produce", "Fetch", "ListOffsets", "OffsetForLeaderEpoch", "DeleteRecords", "DescribeProducers"}
COORDINATED = {
    *("JoinGroup", "SyncGroup", "Heartbeat", "LeaveGroup", "OffsetCommit", "OffsetFetch", "OffsetDelete", "DescribeGroups", "DeleteGroups"),
    *("ConsumerGroupHeartbeat", "ConsumerGroupDescribe", "TxnOffsetCommit"),
    *("InitProducerId", "AddPartitionsToTxn", "AddOffsetsToTxn", "EndTxn", "DescribeTransactions"),
}
MISPLACED = {"NOT_LEADER_OR_FOLLOWER", "NOT_COORDINATOR"}
"""Errors of requests to the wrong broker, which are sent to the wrong one again."""


@dataclass
class ReplayResult:
    """The result of a replay: the exchanges that differ, with their differences, and those that were not sent, with the reason."""

    sent: int = 0
    equal: int = 0
    different: list[tuple[Exchange, list[str]]] = field(default_factory=list)
    not_sent: list[tuple[Exchange, str]] = field(default_factory=list)


class Replay:
    """A replay to a cluster at `bootstrap`, as a context manager that closes its connections. Raises OSError, LoginFailed, NotKafka."""

    def __init__(self, bootstrap: Address, security: ClientSecurity | None = None, timeout_s: float = TIMEOUT_S) -> None:
        self._bootstrap = bootstrap
        self._security = security
        self._timeout_s = timeout_s
        self._ids = Ids()
        self._nodes: dict[int, Address] = {}
        self._connections: dict[tuple[int, Address], Line] = {}
        self._sessions: dict[int, Address] = {}
        """The brokers of fetch sessions, by the id in the capture. A request of a session may name no topic."""
        self._lines: dict[int, Line] = {}
        """The connection on which each request was sent, by the number of its exchange."""
        self._control: Line | None = None
        self.outcome = ReplayResult()

    def __enter__(self) -> Replay:
        response = self._ask(METADATA, MetadataRequest(topics=[]))
        self._nodes = {broker.node_id: (broker.host, broker.port) for broker in response.brokers}
        return self

    def __exit__(self, *_: object) -> None:
        for line in [*self._connections.values(), *([] if self._control is None else [self._control])]:
            line.close()

    def run(self, entries: Iterable[Entry]) -> Iterator[tuple[Exchange, list[str]]]:
        """Plays a session. Yields each exchange that differs, with its differences."""
        for step in steps_of(entries):
            found = self._take(step)
            if found and step.exchange is not None:
                self.outcome.different.append((step.exchange, found))
                yield step.exchange, found

    def _take(self, step: ReplayStep) -> list[str]:
        """Carries out a step and returns the differences that it shows."""
        if step.exchange is None:
            for line in [line for (connection, _), line in self._connections.items() if connection == step.connection]:
                line.close()
            return []
        return self._send(step.exchange) if step.kind is Kind.SEND else self._receive(step.exchange)

    def _send(self, exchange: Exchange) -> list[str]:
        if (reason := obstacle(exchange)) is not None:
            self.outcome.not_sent.append((exchange, reason))
            return []
        try:
            line = self._line(exchange)
            line.send(_with_length(request_frame(exchange, self._ids)))
        except OSError as error:
            return [f"the request could not be sent: {error.strerror or error}"]
        self._lines[exchange.sequence] = line
        self.outcome.sent += 1
        return []

    def _receive(self, exchange: Exchange) -> list[str]:
        line = self._lines.pop(exchange.sequence, None)
        if line is None:
            return []
        try:
            frame = self._repeat_while_passing(exchange, _response(line, exchange.correlation_id))
        except (OSError, NotKafka) as error:
            return [f"a response was recorded, now there is none: {error}"]
        found = self._compare(exchange, frame, line.address)
        self.outcome.equal += not found
        return found

    def _repeat_while_passing(self, exchange: Exchange, frame: bytes) -> bytes:
        """Returns the response. While it has an error that passes by itself, the request is sent again on another connection."""
        deadline_s = time.monotonic() + RETRY_S
        while self._passing_errors(exchange, frame) and time.monotonic() < deadline_s:
            time.sleep(PAUSE_S)
            again = self._open(self._address(exchange))
            try:
                again.send(_with_length(request_frame(exchange, self._ids)))
                frame = _response(again, exchange.correlation_id)
            finally:
                again.close()
        return frame

    def _passing_errors(self, exchange: Exchange, frame: bytes) -> set[str]:
        response = decoded_response(load_api(exchange.api_key), exchange.version, Frame(frame, len(frame)))
        return set() if response is None else PASSING.intersection(error_names(response)).difference(exchange.errors)

    def _compare(self, exchange: Exchange, frame: bytes, address: Address) -> list[str]:
        api, recorded = load_api(exchange.api_key), exchange.response
        if api is None or recorded is None:
            return []
        try:
            live = decode_response(api, exchange.version, memoryview(frame))[1]
        except ProtocolError as error:
            return [f"the response cannot be decoded: {error}"]
        self._ids.learn(recorded, live)
        if isinstance(recorded, FetchResponse) and recorded.session_id:
            self._sessions[recorded.session_id] = address
        return differences(recorded, live, exchange.version, self._ids)

    # Brokers

    def _line(self, exchange: Exchange) -> Line:
        address = self._address(exchange)
        key = exchange.connection, address
        if key not in self._connections or self._connections[key].is_closed:
            self._connections[key] = self._open(address)
        return self._connections[key]

    def _address(self, exchange: Exchange) -> Address:
        same = self._nodes.get(exchange.node or 0, self._bootstrap)
        if len(self._nodes) < 2 or MISPLACED.intersection(exchange.errors):
            return same
        request = exchange.request
        if isinstance(request, FetchRequest) and request.session_id in self._sessions:
            return self._sessions[request.session_id]
        for element in exchange.elements():
            if exchange.api in LED and element.topic is not None:
                return self._nodes.get(self._leader(element.topic, element.partition or 0), same)
            if exchange.api in COORDINATED and element.transactional_id:
                return self._nodes.get(self._coordinator(element.transactional_id, TRANSACTION), same)
            if exchange.api in COORDINATED and element.group:
                return self._nodes.get(self._coordinator(element.group, GROUP), same)
        return same

    def _leader(self, topic: str, partition: int) -> int:
        request = MetadataRequest(topics=[MetadataRequestTopic(name=topic)], allow_auto_topic_creation=False)
        found = self._ask(METADATA, request).topics[0].partitions
        return next((each.leader_id for each in found if each.partition_index == partition), -1)

    def _coordinator(self, name: str, kind: int) -> int:
        request = FindCoordinatorRequest(key_type=kind, coordinator_keys=[name])
        deadline_s = time.monotonic() + self._timeout_s
        while True:
            found = self._ask(FIND_COORDINATOR, request).coordinators[0]
            if found.error_code != ErrorCode.COORDINATOR_NOT_AVAILABLE or time.monotonic() > deadline_s:
                return int(found.node_id)

    def _ask(self, api: Api, request: Message) -> Any:
        if self._control is None:
            self._control = self._open(self._bootstrap)
        self._control.send(b"".join(encode_request(api, api.versions.last, 0, CLIENT_ID, request)))
        return decode_response(api, api.versions.last, memoryview(_response(self._control, 0)))[1]

    def _open(self, address: Address) -> Line:
        return open_line(address, CLIENT_ID, self._timeout_s, self._security)


def _with_length(frame: bytes) -> bytes:
    return LENGTH.pack(len(frame)) + frame


def _response(line: Line, correlation_id: int) -> bytes:
    """Returns the next response with a correlation id. Others are left out, because a replay does not wait for them any more."""
    while LENGTH.unpack_from(frame := line.receive())[0] != correlation_id:
        pass
    return bytes(frame)
