"""A small Kafka client: connections, topics, leaders and offsets, through restarts and changes of leaders.

It knows nothing of Spark. A worker process keeps its clients (`client_for`) and so their connections from task to task.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from types import MappingProxyType
from typing import Any, NamedTuple, TypeVar

from ..protocol.errors import ErrorCode, KafkaError
from ..protocol.messages.list_offsets import LIST_OFFSETS, ListOffsetsPartition, ListOffsetsRequest, ListOffsetsTopic
from ..protocol.messages.metadata import METADATA, MetadataRequest, MetadataRequestTopic
from ..protocol.schema import Api, Message
from .connection import Address, Connection
from .connection_factory import ConnectionFactory

T = TypeVar("T")

EARLIEST, LATEST = -2, -1
"""The times that ListOffsets takes for the two ends of a log."""
READ_UNCOMMITTED, READ_COMMITTED = 0, 1
BACKOFF_MS = 50
CONSUMER = -1


class TopicPartition(NamedTuple):
    """A partition of a topic."""

    topic: str
    partition: int

    def __str__(self) -> str:
        return f"{self.topic}-{self.partition}"


@dataclass(frozen=True)
class ClientConfig:
    """Kafka's consumer settings, as far as they act here.

    `api_timeout_ms` is for a question with all its repetitions, `poll_timeout_ms` how long a read may stand still, and `settling_ms` how
    long a topic may be unknown, as a new one is, or a log shorter than it was, as with a leader that is new.
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


def refusal(code: int, what: str) -> KafkaError:
    """A broker's error about something, as it is raised."""
    error = ErrorCode(code)
    text = "This server does not host this topic-partition." if error == ErrorCode.UNKNOWN_TOPIC_OR_PARTITION else ""
    return KafkaError(error, f"{what}: {error.name} {text}".rstrip())


@cache
def client_for(config: ClientConfig) -> KafkaClient:
    """The client of this process."""
    return KafkaClient(config)


class Patience:
    """Waits between attempts, until there has been no progress for too long."""

    def __init__(self, timeout_ms: int) -> None:
        self._timeout_ms = timeout_ms
        self.renew()

    def renew(self) -> None:
        """There was progress."""
        self._deadline = time.monotonic() + self._timeout_ms / 1000

    @property
    def over(self) -> bool:
        """Whether there was none for too long."""
        return time.monotonic() >= self._deadline

    def wait_after(self, error: Exception) -> None:
        """Before the next attempt. Raises the error when it is no passing one, or the time is over."""
        if self.over or (isinstance(error, KafkaError) and not error.code.retriable):
            raise error
        time.sleep(BACKOFF_MS / 1000)


class KafkaClient:
    """Blocking; connections are made when they are needed and kept.

    All that fails in passing (a broker that restarts, a leader that moves) is tried again until the time of the config is over;
    then the last error is raised: OSError, or KafkaError with the broker's code.
    """

    def __init__(self, config: ClientConfig) -> None:
        self.config = config
        self._connector = ConnectionFactory(config.bootstrap_servers, config.client_id, config.request_timeout_ms)
        self._idle: dict[Address, Connection] = {}
        self._nodes: dict[int, Address] = {}
        self._leaders: dict[TopicPartition, int] = {}

    def close(self) -> None:
        """Ends the connections; the client makes new ones when it is used again."""
        self._connector.stop_waiting()
        while self._idle:
            self._idle.popitem()[1].close()

    def partitions(self, topics: Iterable[str]) -> list[TopicPartition]:
        """The partitions of some topics. Raises KafkaError UNKNOWN_TOPIC_OR_PARTITION for a topic that stays unknown."""
        names = sorted(topics)
        return self._partitions(lambda: self._metadata(names))

    def partitions_where(self, matches: Callable[[str], object]) -> list[TopicPartition]:
        """The partitions of the topics whose names match, without Kafka's internal ones."""
        return self._partitions(lambda: [topic for topic in self._metadata(None) if not topic.is_internal and matches(topic.name)])

    def _partitions(self, metadata: Callable[[], Any]) -> list[TopicPartition]:
        def ask() -> list[TopicPartition]:
            answer = self.attempt(metadata, self.config.api_timeout_ms)
            for topic in answer:
                if topic.error_code:
                    raise refusal(topic.error_code, topic.name)
            return sorted(TopicPartition(topic.name, partition.partition_index) for topic in answer for partition in topic.partitions)

        return self.attempt(ask, self.config.settling_ms)

    def list_offsets(self, wanted: Mapping[TopicPartition, int]) -> dict[TopicPartition, int]:
        """The first offset at or after each time, in milliseconds, or EARLIEST or LATEST; -1 where there is none."""
        found: dict[TopicPartition, int] = {}

        def ask() -> None:
            for leader, partitions in self.by_leader(wanted.keys() - found.keys()).items():
                self._list_offsets(leader, {partition: wanted[partition] for partition in partitions}, found)

        self.attempt(ask, self.config.api_timeout_ms)
        return found

    def _list_offsets(self, leader: Address, times: dict[TopicPartition, int], found: dict[TopicPartition, int]) -> None:
        topics: dict[str, list[ListOffsetsPartition]] = {}
        for (topic, index), timestamp in times.items():
            topics.setdefault(topic, []).append(ListOffsetsPartition(partition_index=index, timestamp=timestamp))
        request = ListOffsetsRequest(
            replica_id=CONSUMER,
            isolation_level=self.config.isolation_level,
            topics=[ListOffsetsTopic(name=name, partitions=partitions) for name, partitions in topics.items()],
            timeout_ms=self.config.request_timeout_ms,
        )
        with self.connection(leader) as connection:
            answer = connection.call(LIST_OFFSETS, request)
        for topic in answer.topics:
            for partition in topic.partitions:
                if partition.error_code:
                    raise refusal(partition.error_code, f"{topic.name}-{partition.partition_index}")
                found[TopicPartition(topic.name, partition.partition_index)] = partition.offset

    def by_leader(
        self, partitions: Iterable[TopicPartition], near: Mapping[TopicPartition, int] = MappingProxyType({})
    ) -> dict[Address, list[TopicPartition]]:
        """Partitions, sorted, by where their leaders listen, or the nodes that are `near`. Raises KafkaError LEADER_NOT_AVAILABLE."""
        addresses: dict[Address, list[TopicPartition]] = {}
        for partition in sorted(partitions):
            addresses.setdefault(self.leader(partition, near.get(partition)), []).append(partition)
        return addresses

    def leader(self, partition: TopicPartition, instead: int | None = None) -> Address:
        """Where the leader listens, or the node to be asked `instead`. Raises KafkaError LEADER_NOT_AVAILABLE when it is not there now."""
        if partition not in self._leaders:
            self._metadata([partition.topic])
        node = self._leaders.get(partition) if instead is None else instead
        if node not in self._nodes:
            raise KafkaError(ErrorCode.LEADER_NOT_AVAILABLE, f"{partition} has no leader")
        return self._nodes[node]

    def forget_leaders(self) -> None:
        """They are asked for anew when they are needed: some are not what they were."""
        self._leaders.clear()

    def partition_count(self, topic: str) -> int:
        """How many partitions a topic has; it is made if the broker makes topics. Raises KafkaError, OSError when that is not known now."""
        (found,) = self._metadata([topic], create=True)
        if found.error_code:
            raise refusal(found.error_code, topic)
        return len(found.partitions)

    def _metadata(self, topics: list[str] | None, *, create: bool = False) -> Any:
        """Asks any broker about some topics, or all, and learns the brokers and leaders."""
        wanted = None if topics is None else [MetadataRequestTopic(name=name) for name in topics]
        answer = self.ask_anyone(METADATA, MetadataRequest(topics=wanted, allow_auto_topic_creation=create))
        if answer.error_code:
            raise refusal(answer.error_code, "Metadata")
        self._nodes = {node.node_id: (node.host, node.port) for node in answer.brokers}
        for topic in answer.topics:
            for partition in topic.partitions:
                self._leaders[TopicPartition(topic.name, partition.partition_index)] = partition.leader_id
        return answer.topics

    def ask_anyone(self, api: Api, request: Message) -> Any:
        """The answer of the first broker that gives one. Raises the last OSError when none does."""
        failure: OSError = ConnectionError("no broker is known")
        for address in dict.fromkeys((*self._idle, *self._nodes.values(), *self.config.bootstrap_servers)):
            try:
                with self.connection(address) as connection:
                    return connection.call(api, request)
            except OSError as error:
                failure = error
        failure.add_note(f"No broker answered: {', '.join(f'{host}:{port}' for host, port in self.config.bootstrap_servers)}")
        raise failure

    def attempt(self, ask: Callable[[], T], timeout_ms: int) -> T:
        """What `ask` returns, which is called again for so long while it fails in passing."""
        patience = Patience(timeout_ms)
        while True:
            try:
                return ask()
            except (OSError, KafkaError) as error:
                self.forget_leaders()
                patience.wait_after(error)

    def connect(self, address: Address) -> Connection:
        """A new connection, which the caller closes. Raises OSError, KafkaError."""
        return self._connector.connect(address)

    @contextmanager
    def connection(self, address: Address) -> Iterator[Connection]:
        """A connection for oneself; it is kept for the next user if all went well."""
        connection = self._idle.pop(address, None) or self.connect(address)
        try:
            yield connection
        except BaseException:
            connection.close()
            raise
        if displaced := self._idle.pop(address, None):
            displaced.close()
        self._idle[address] = connection
