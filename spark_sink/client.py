"""A blocking Kafka client: topics, partition leaders and offsets, with retries across broker restarts and leader changes.

It does not need Spark. A worker process caches its clients (`client_for`), so connections are reused from task to task.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cache
from types import MappingProxyType
from typing import Any, TypeVar

from ..protocol.client.connection import ClientConnection, TopicPartition
from ..protocol.client.line import Address
from ..protocol.client.settings import ClientSecurity
from ..protocol.errors import ErrorCode, KafkaError
from ..protocol.messages.list_offsets import LIST_OFFSETS, ListOffsetsPartition, ListOffsetsRequest, ListOffsetsTopic
from ..protocol.messages.metadata import METADATA, MetadataRequest, MetadataRequestTopic
from ..protocol.schema import Api, Message
from .connection_factory import ConnectionFactory

T = TypeVar("T")

EARLIEST, LATEST = -2, -1
"""The timestamps with which ListOffsets requests the two ends of a log."""
READ_UNCOMMITTED, READ_COMMITTED = 0, 1
BACKOFF_MS = 50
CONSUMER_REPLICA_ID = -1
"""The replica id in requests of consumers."""


@dataclass(frozen=True)
class ClientConfig:
    """The settings of Kafka's consumer that have an effect here.

    `api_timeout_ms` limits a request with all its retries, and `poll_timeout_ms` the time that a read may spend without progress.
    `settling_ms` is how long a topic may be unknown, because it has just been created, or a log may be shorter than before, because its
    leader is new.
    """

    bootstrap_servers: tuple[Address, ...]
    client_id: str = "odradek-spark"
    client_rack: str = ""
    isolation_level: int = READ_UNCOMMITTED
    check_crcs: bool = True
    request_timeout_ms: int = 30_000
    poll_timeout_ms: int = 120_000
    api_timeout_ms: int = 60_000
    settling_ms: int = 2_000
    fetch_min_bytes: int = 1
    fetch_max_wait_ms: int = 500
    fetch_max_bytes: int = 8 << 20
    max_partition_fetch_bytes: int = 8 << 20
    security: ClientSecurity = field(default_factory=ClientSecurity)


def broker_error(code: int, subject: str) -> KafkaError:
    """Returns the exception for an error code in a response; `subject` is what the error is about."""
    error = ErrorCode(code)
    text = "This server does not host this topic-partition." if error == ErrorCode.UNKNOWN_TOPIC_OR_PARTITION else ""
    return KafkaError(error, f"{subject}: {error.name} {text}".rstrip())


@cache
def client_for(config: ClientConfig) -> KafkaClient:
    """Returns the client that this process keeps for a config."""
    return KafkaClient(config)


class RetryTimer:
    """Paces retries, and ends them when there has been no progress for `timeout_ms`."""

    def __init__(self, timeout_ms: int) -> None:
        self._timeout_ms = timeout_ms
        self.renew()

    def renew(self) -> None:
        """Starts the timeout again after progress."""
        self._deadline = time.monotonic() + self._timeout_ms / 1000

    @property
    def over(self) -> bool:
        """Whether the timeout has passed since the last progress."""
        return time.monotonic() >= self._deadline

    def wait_after(self, error: Exception) -> None:
        """Waits before the next attempt. Raises `error` when it is not retriable or the timeout has passed."""
        if self.over or (isinstance(error, KafkaError) and not error.code.retriable):
            raise error
        time.sleep(BACKOFF_MS / 1000)


class KafkaClient:
    """Opens connections when they are needed and keeps them.

    Methods retry after transient failures, such as the restart of a broker or a leader change, until a timeout of the config has passed.
    They then raise the last error: OSError, or KafkaError with the broker's error code.
    """

    def __init__(self, config: ClientConfig) -> None:
        self.config = config
        self._connections = ConnectionFactory(
            config.bootstrap_servers, config.client_id, config.request_timeout_ms, security=config.security
        )
        self._idle: dict[Address, ClientConnection] = {}
        self._nodes: dict[int, Address] = {}
        self._leaders: dict[TopicPartition, int] = {}

    def close(self) -> None:
        """Closes the connections; a later call opens new ones."""
        self._connections.stop_waiting()
        while self._idle:
            self._idle.popitem()[1].close()

    def partitions(self, topics: Iterable[str]) -> list[TopicPartition]:
        """Returns the partitions of topics. Raises KafkaError with UNKNOWN_TOPIC_OR_PARTITION for a topic that remains unknown."""
        names = sorted(topics)
        return self._partitions(lambda: self._metadata(names))

    def partitions_where(self, matches: Callable[[str], object]) -> list[TopicPartition]:
        """Returns the partitions of the topics whose names match, except for Kafka's internal topics."""
        return self._partitions(lambda: [topic for topic in self._metadata(None) if not topic.is_internal and matches(topic.name)])

    def _partitions(self, metadata: Callable[[], Any]) -> list[TopicPartition]:
        def existing() -> list[TopicPartition]:
            topics = self.retry(metadata, self.config.api_timeout_ms)
            for topic in topics:
                if topic.error_code:
                    raise broker_error(topic.error_code, topic.name)
            return sorted(TopicPartition(topic.name, partition.partition_index) for topic in topics for partition in topic.partitions)

        return self.retry(existing, self.config.settling_ms)

    def list_offsets(self, wanted: Mapping[TopicPartition, int]) -> dict[TopicPartition, int]:
        """Returns an offset for each partition.

        `wanted` maps each partition to EARLIEST, LATEST or a timestamp in milliseconds. For a timestamp, the offset is that of the first
        record of that time or later, -1 when there is no such record.
        """
        found: dict[TopicPartition, int] = {}

        def find_missing() -> None:
            for leader, partitions in self.by_node(wanted.keys() - found.keys()).items():
                self._list_offsets(leader, {partition: wanted[partition] for partition in partitions}, found)

        self.retry(find_missing, self.config.api_timeout_ms)
        return found

    def _list_offsets(self, leader: Address, times: dict[TopicPartition, int], found: dict[TopicPartition, int]) -> None:
        topics: dict[str, list[ListOffsetsPartition]] = {}
        for (topic, index), timestamp in times.items():
            topics.setdefault(topic, []).append(ListOffsetsPartition(partition_index=index, timestamp=timestamp))
        request = ListOffsetsRequest(
            replica_id=CONSUMER_REPLICA_ID,
            isolation_level=self.config.isolation_level,
            topics=[ListOffsetsTopic(name=name, partitions=partitions) for name, partitions in topics.items()],
            timeout_ms=self.config.request_timeout_ms,
        )
        with self.connection(leader) as connection:
            response = connection.call(LIST_OFFSETS, request)
        for topic in response.topics:
            for partition in topic.partitions:
                if partition.error_code:
                    raise broker_error(partition.error_code, f"{topic.name}-{partition.partition_index}")
                found[TopicPartition(topic.name, partition.partition_index)] = partition.offset

    def by_node(
        self, partitions: Iterable[TopicPartition], preferred: Mapping[TopicPartition, int] = MappingProxyType({})
    ) -> dict[Address, list[TopicPartition]]:
        """Groups partitions, sorted, by the address of their leader, or of the node that `preferred` names for them.

        Raises KafkaError with LEADER_NOT_AVAILABLE for a partition without a leader.
        """
        addresses: dict[Address, list[TopicPartition]] = {}
        for partition in sorted(partitions):
            addresses.setdefault(self.leader(partition, preferred.get(partition)), []).append(partition)
        return addresses

    def leader(self, partition: TopicPartition, instead: int | None = None) -> Address:
        """Returns the address of the leader, or of the node `instead`. Raises KafkaError with LEADER_NOT_AVAILABLE when it is unknown."""
        if partition not in self._leaders:
            self._metadata([partition.topic])
        node = self._leaders.get(partition) if instead is None else instead
        if node not in self._nodes:
            raise KafkaError(ErrorCode.LEADER_NOT_AVAILABLE, f"{partition} has no leader")
        return self._nodes[node]

    def forget_leaders(self) -> None:
        """Discards the cached leaders, so that the next use of one fetches metadata."""
        self._leaders.clear()

    def partition_count(self, topic: str) -> int:
        """Returns the number of partitions of a topic. Brokers with auto.create.topics.enable create it. Raises KafkaError, OSError."""
        (found,) = self._metadata([topic], create=True)
        if found.error_code:
            raise broker_error(found.error_code, topic)
        return len(found.partitions)

    def _metadata(self, topics: list[str] | None, *, create: bool = False) -> Any:
        """Requests the metadata of topics (None: all) from any broker, and stores the addresses of brokers and the leaders."""
        wanted = None if topics is None else [MetadataRequestTopic(name=name) for name in topics]
        response = self.call_any_broker(METADATA, MetadataRequest(topics=wanted, allow_auto_topic_creation=create))
        if response.error_code:
            raise broker_error(response.error_code, "Metadata")
        self._nodes = {node.node_id: (node.host, node.port) for node in response.brokers}
        for topic in response.topics:
            for partition in topic.partitions:
                self._leaders[TopicPartition(topic.name, partition.partition_index)] = partition.leader_id
        return response.topics

    def call_any_broker(self, api: Api, request: Message) -> Any:
        """Sends the request to one broker after another and returns the first response. Raises the last OSError when all fail."""
        failure: OSError = ConnectionError("no broker is known")
        for address in dict.fromkeys((*self._idle, *self._nodes.values(), *self.config.bootstrap_servers)):
            try:
                with self.connection(address) as connection:
                    return connection.call(api, request)
            except OSError as error:
                failure = error
        failure.add_note(f"No broker answered: {', '.join(f'{host}:{port}' for host, port in self.config.bootstrap_servers)}")
        raise failure

    def retry(self, function: Callable[[], T], timeout_ms: int) -> T:
        """Returns the result of `function`, which is called again after transient failures until the timeout has passed."""
        retry_timer = RetryTimer(timeout_ms)
        while True:
            try:
                return function()
            except (OSError, KafkaError) as error:
                self.forget_leaders()
                retry_timer.wait_after(error)

    def connect(self, address: Address) -> ClientConnection:
        """Returns a new connection, which the caller closes. Raises OSError, KafkaError."""
        return self._connections.connect(address)

    @contextmanager
    def connection(self, address: Address) -> Iterator[ClientConnection]:
        """Lends a connection to one user at a time, and keeps it for the next when no exception was raised."""
        connection = self._idle.pop(address, None) or self.connect(address)
        try:
            yield connection
        except BaseException:
            connection.close()
            raise
        if displaced := self._idle.pop(address, None):
            displaced.close()
        self._idle[address] = connection
