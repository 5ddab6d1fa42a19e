"""The client of a whole cluster: it finds leaders and coordinators, and sends requests again after errors that pass by themselves."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypeVar

from ...protocol.client.connection import ClientConnection, TopicPartition
from ...protocol.client.line import Address, LoginFailed, NotKafka
from ...protocol.errors import ErrorCode, KafkaError
from ...protocol.messages.find_coordinator import FIND_COORDINATOR, FindCoordinatorRequest
from ...protocol.messages.metadata import METADATA, MetadataRequest, MetadataRequestTopic
from ...protocol.schema import Api, Message, ProtocolError

if TYPE_CHECKING:
    from ...protocol.client.settings import ClientSecurity

T = TypeVar("T")

CLIENT_ID = "odradek"
TIMEOUT_S = 15.0
"""The longest time for which a connection or a response is awaited."""
RETRY_S, PAUSE_S = 10.0, 0.1


class ClientError(Exception):
    """The cluster cannot be reached, or it has refused a request. The text is for the user."""


class NoAnswer(ClientError):
    """A broker cannot be reached, or it has closed the connection."""


def check(code: int, subject: str, message: str | None = None) -> None:
    """Raises KafkaError for an error code in a response; `subject` is what the error is about."""
    if code:
        error = ErrorCode(code)
        raise KafkaError(error, f"{subject}: {error.name}" + (f": {message}" if message else ""))


class ClusterClient:
    """A client of the cluster at some bootstrap servers. It is a context manager, because it keeps its connections.

    Methods raise ClientError if no broker answers, and KafkaError if one answers with an error.
    """

    def __init__(self, bootstrap: Sequence[Address], security: ClientSecurity | None = None, timeout_s: float = TIMEOUT_S) -> None:
        self._bootstrap = bootstrap
        self._security = security
        self._timeout_s = timeout_s
        self._connections: dict[Address, ClientConnection] = {}
        self.nodes: dict[int, Address] = {}
        self.controller = -1

    def __enter__(self) -> ClusterClient:
        return self

    def __exit__(self, *_: object) -> None:
        while self._connections:
            self._connections.popitem()[1].close()

    def retry(self, function: Callable[[], T], recover: Callable[[], None] = lambda: None) -> T:
        """Returns the result of `function`, which is called again for ten seconds after errors that pass by themselves.

        `recover` is called before each further attempt, for example to find leaders again.
        """
        deadline_s = time.monotonic() + RETRY_S
        while True:
            try:
                return function()
            except (KafkaError, NoAnswer) as error:
                passes = error.code.retriable if isinstance(error, KafkaError) else bool(self.nodes)
                if not passes or time.monotonic() > deadline_s:
                    raise
            time.sleep(PAUSE_S)
            recover()

    def metadata(self, topics: Iterable[str] | None = None, *, create: bool = False) -> Any:
        """Returns the Metadata response for topics, None for all. With `create`, brokers that create topics automatically do so."""
        wanted = None if topics is None else [MetadataRequestTopic(name=name) for name in topics]
        response = self.any(METADATA, MetadataRequest(topics=wanted, allow_auto_topic_creation=create))
        check(response.error_code, "metadata")
        self.nodes = {broker.node_id: (broker.host, broker.port) for broker in response.brokers}
        self.controller = response.controller_id
        return response

    def topics(self, names: Iterable[str], *, create: bool = False) -> list[Any]:
        """Returns the topics with these names as Metadata describes them, once all their partitions have leaders.

        Raises ClientError for a topic that does not exist.
        """
        wanted = list(names)
        return self.retry(lambda: [self._existing(topic, create=create) for topic in self.metadata(wanted, create=create).topics])

    def _existing(self, topic: Any, *, create: bool) -> Any:
        if topic.error_code == ErrorCode.UNKNOWN_TOPIC_OR_PARTITION and not create:
            raise ClientError(f"there is no topic {topic.name!r}; odradek topics lists those that exist")
        check(topic.error_code, f"topic {topic.name}")
        for partition in topic.partitions:
            if partition.leader_id not in self.nodes:
                raise KafkaError(ErrorCode.LEADER_NOT_AVAILABLE, f"partition {partition.partition_index} of {topic.name} has no leader")
        return topic

    def leaders(self, topics: Iterable[Any]) -> dict[TopicPartition, int]:
        """Returns the node that leads each partition of described topics."""
        return {TopicPartition(topic.name, each.partition_index): each.leader_id for topic in topics for each in topic.partitions}

    def any(self, api: Api, request: Message) -> Any:
        """Sends a request to one broker after another until one answers."""
        failures: list[str] = []
        for address in dict.fromkeys((*self._connections, *self.nodes.values(), *self._bootstrap)):
            try:
                return self._connection(address).call(api, request)
            except (OSError, ProtocolError) as error:
                failures.append(f"{_text(address)}: {_reason(error)}")
            except NoAnswer as error:
                failures.append(str(error))
        raise NoAnswer(f"no broker answers at {', '.join(failures)}; give its address with --bootstrap-server or BOOTSTRAP_SERVERS")

    def ask_controller(self, api: Api, request: Message) -> Any:
        """Returns the response of the controller, to which brokers with ZooKeeper do not forward requests."""
        self.metadata([])
        return self.send_to(self.controller, api, request) if self.controller in self.nodes else self.any(api, request)

    def send_to(self, node: int, api: Api, request: Message) -> Any:
        """Returns the response of a node."""
        return self.all_at_once(api, {node: request})[node]

    def all_at_once(self, api: Api, requests: Mapping[int, Message]) -> dict[int, Any]:
        """Returns the responses of several nodes, which work on their requests at the same time."""
        connections = {node: self._connection(self._address(node)) for node in requests}
        found: dict[int, Any] = {}
        try:
            for node, request in requests.items():
                connections[node].send(api, request)
            for node in requests:
                found[node] = connections[node].receive()
            return found
        except (OSError, ProtocolError) as error:
            raise NoAnswer(f"broker {node} at {_text(self.nodes[node])} does not answer: {_reason(error)}") from None
        finally:
            for node in requests.keys() - found.keys():
                connections[node].close()  # because its response may still come

    def coordinator(self, name: str) -> int:
        """Returns the node that coordinates a group, once there is one."""

        def find() -> int:
            request = FindCoordinatorRequest(key=name, coordinator_keys=[name])
            response = self.any(FIND_COORDINATOR, request)
            found = response.coordinators[0] if response.coordinators else response
            check(found.error_code, f"group {name}", found.error_message)
            self.nodes[found.node_id] = (found.host, found.port)
            return int(found.node_id)

        return self.retry(find)

    def _connection(self, address: Address) -> ClientConnection:
        """Returns the connection to a broker, which is opened if there is none. Raises ClientError."""
        if address not in self._connections or self._connections[address].is_closed:
            try:
                self._connections[address] = ClientConnection(address, CLIENT_ID, self._timeout_s, self._security, removed_versions=True)
            except LoginFailed as error:
                raise ClientError(f"{_text(address)}: authentication failed: {error}") from None
            except NotKafka:
                raise ClientError(f"{_text(address)} does not use the Kafka protocol") from None
            except (OSError, ProtocolError) as error:
                raise NoAnswer(f"{_text(address)}: {_reason(error)}") from None
        return self._connections[address]

    def _address(self, node: int) -> Address:
        if node not in self.nodes:
            self.metadata([])
        if node not in self.nodes:
            raise KafkaError(ErrorCode.BROKER_NOT_AVAILABLE, f"broker {node} is not available")
        return self.nodes[node]


def _text(address: Address) -> str:
    return f"{address[0]}:{address[1]}"


def _reason(error: Exception) -> str:
    return (error.strerror if isinstance(error, OSError) and error.strerror else str(error)) or type(error).__name__
