"""The context of a request: the client with its permissions, the broker and the cluster, what the request refers to, and how it waits.

`find_topic` and the functions after it find topics, partitions and brokers with the checks and errors that all APIs share. The checks come
in Kafka's order: permission first, so that an error does not reveal whether a topic exists to a client that may not describe it; then
existence; then leadership and leader epoch. The response to a request that was sent to the wrong broker contains the current leader and its
address (KIP-951).
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Hashable, Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Generic, NamedTuple, Protocol, TypeVar

from ...protocol.errors import ErrorCode, KafkaError
from ...protocol.frame import Buffer, RequestHeader, read_request_header
from ...protocol.messages.common import LeaderIdAndEpoch, NodeEndpoint
from ...protocol.schema import ZERO_UUID, Message
from ..scheduling.slices import Slices
from ..scheduling.waiting import NEXT_TURN, Reply, Wait
from ..security.acls import ACCESS_DENIED_ERRORS, ANONYMOUS, CLUSTER_NAME, OPERATIONS, Operation, ResourceType
from ..topics.names import CONSUMER_OFFSETS

if TYPE_CHECKING:
    from ...protocol.batches.checks import RejectedRecords
    from ..cluster.broker import Broker
    from ..cluster.state import ClusterState
    from ..security.mechanism import Identity
    from ..settings.listeners import Listener
    from ..topics.partition import Partition, Topic
    from .gate import Channel

Waiting = Generator[Wait, None, Message | list[Buffer] | None]
"""A request that waits: it yields `Wait`s and returns the response, the parts of its frame, or None if there is none to write."""


class Client:
    """The peer of a connection, and the name of the listener that it is connected to.

    `principal` is ANONYMOUS until the client is authenticated. `by_token` states that it has authenticated with a delegation token.
    `connection_id` counts the connections of the cluster from 1 on. `software_name` and `software_version` are those of the client's
    ApiVersions request (KIP-511); they are empty before it and for older clients. The functions in `on_close` are called when the
    connection closes; their keys are the parts of the broker that have set them.
    """

    __slots__ = (
        "by_token",
        "client_host",
        "client_id",
        "client_port",
        "connection_id",
        "listener_name",
        "on_close",
        "principal",
        "software_name",
        "software_version",
    )

    def __init__(self, listener_name: str, client_host: str, client_port: int, connection_id: int = 0) -> None:
        self.connection_id, self.listener_name = connection_id, listener_name
        self.client_host, self.client_port = client_host, client_port
        self.principal = ANONYMOUS
        self.by_token = False
        self.client_id = ""
        self.software_name = self.software_version = ""
        self.on_close: dict[object, Callable[[], None]] = {}

    def identify(self, identity: Identity) -> None:
        """Sets the principal of a client that has authenticated."""
        self.principal, self.by_token = f"User:{identity.user}", identity.by_token

    @property
    def address(self) -> str:
        """The address of the client's end of the connection, such as 127.0.0.1:40112."""
        return f"{self.client_host}:{self.client_port}"

    @property
    def software(self) -> str:
        """The name and version of the client's software, "" if they are unknown."""
        return f"{self.software_name} {self.software_version}".strip()

    def __str__(self) -> str:
        return f"{self.address} on {self.listener_name}, client id {self.client_id!r}"


class Shortcut(Protocol):
    """Serves requests of a connection without decoding them (appending/produce_shortcut.py, fetching/fetch_shortcut.py)."""

    def answer(self, data: memoryview, position: int, size: int, owns_buffer: bool) -> bytes | list[Buffer] | Waiting | None:
        """Serves the request in `size` bytes of `data` from `position` on, which do not include its length.

        Returns the frame of the response, or a list of its parts; it is empty if the request has no response. Returns a generator if the
        response has to wait. Returns None, without having changed anything, if the request has to be decoded.
        """


class Quotas(Protocol):
    """The quotas that apply to the client of one request (`throttling/request_quotas.py`)."""

    def cap_fetch(self, max_bytes: int) -> int:
        """Returns how many bytes a fetch may return, so that a single response does not exceed the quota."""

    def admit_fetch(self, size: int) -> bool:
        """Counts the bytes of a response. Returns False if the client is throttled and gets an empty response instead."""

    def mutate(self, partitions: int, *, strict: bool) -> None:
        """Counts partitions that are created or deleted. Raises KafkaError with THROTTLING_QUOTA_EXCEEDED if `strict`."""


NO_CHECKS: Mapping[Partition, RejectedRecords | None] = {}


class Context:
    """The API version and the client of one request, and the broker and cluster that serve it.

    `frame` contains the request's bytes without their length. If `owns_buffer`, their memory is not reused for other requests, so that
    the log may keep it. A handler may set `shortcut`, which the connection then tries first for each further request. `quotas` is None
    for a client without quotas. `schema_checks` are the results for batches that were checked for schemas before they are appended.
    """

    __slots__ = ("broker", "client", "cluster", "frame", "owns_buffer", "quotas", "schema_checks", "shortcut", "version")

    def __init__(
        self,
        version: int,
        client: Client,
        cluster: ClusterState,
        broker: Broker,
        frame: memoryview,
        owns_buffer: bool,
        shortcut: Shortcut | None,
    ) -> None:
        self.version = version
        self.frame = frame
        self.shortcut = shortcut
        self.client = client
        self.cluster = cluster
        self.broker = broker
        self.owns_buffer = owns_buffer
        self.quotas: Quotas | None = None
        self.schema_checks: Mapping[Partition, RejectedRecords | None] = NO_CHECKS

    @property
    def now_ms(self) -> int:
        """The time in milliseconds since the Unix epoch. It is constant while a request is served."""
        return self.cluster.timers.now_ms

    def is_coordinator(self, key: str, topic_name: str = CONSUMER_OFFSETS) -> bool:
        """Returns whether the broker coordinates the group `key` or, with `topic_name=TRANSACTION_STATE`, the transactional id `key`."""
        return self.cluster.coordinator_log.coordinator(key, topic_name) == self.broker.node_id

    # Permissions. Without an authorizer a client may do everything.

    def may(self, operation: Operation, resource_type: ResourceType, name: str = CLUSTER_NAME) -> bool:
        """Returns whether the client has the permission `operation` on a resource."""
        authorizer, client = self.cluster.authorizer, self.client
        return authorizer is None or authorizer.allows(client.principal, client.client_host, operation, resource_type, name)

    def may_somewhere(self, operation: Operation, resource_type: ResourceType) -> bool:
        """Returns whether the client has the permission on at least one resource of the type (Authorizer.authorizeByResourceType)."""
        authorizer, client = self.cluster.authorizer, self.client
        return authorizer is None or authorizer.allows_somewhere(client.principal, client.client_host, operation, resource_type)

    def demand(self, operation: Operation, resource_type: ResourceType = ResourceType.CLUSTER, name: str = CLUSTER_NAME) -> None:
        """Raises KafkaError with the type's authorization error code if the client lacks the permission."""
        if not self.may(operation, resource_type, name):
            raise KafkaError(ACCESS_DENIED_ERRORS[resource_type], f"not allowed to {operation.name} {resource_type.name} {name}")

    def demand_controller(self) -> None:
        """Raises KafkaError with NOT_CONTROLLER if the cluster has ZooKeeper and another broker is its controller.

        The client then looks for the controller in the metadata. Brokers of KRaft forward such requests instead (KIP-590).
        """
        if self.cluster.zookeeper is not None and self.cluster.brokers.controller_id != self.broker.node_id:
            raise KafkaError(ErrorCode.NOT_CONTROLLER)

    def permissions(self, resource_type: ResourceType, name: str = CLUSTER_NAME) -> int:
        """Returns the client's permissions on a resource as a bit field (`authorized_operations`, KIP-430)."""
        authorizer, client = self.cluster.authorizer, self.client
        if authorizer is None:
            operations: Iterable[Operation] = OPERATIONS[resource_type]
        else:
            operations = authorizer.allowed_operations(client.principal, client.client_host, resource_type, name)
        return sum(1 << operation for operation in operations)

    def reply(self) -> Reply[Any]:
        """Returns a reply that a state machine sets later. The handler waits for it with `yield Wait((reply,))`."""
        return Reply(self.cluster.wake)


# Topics and partitions


class Parked:
    """A request from the moment when its handler or a shortcut waits until its response is written.

    `generator` is the handler, which a gate may wrap. `in_slices` is set once it has yielded NEXT_TURN.
    """

    __slots__ = ("connection", "context", "generator", "header", "in_slices", "keys", "request", "wait")

    def __init__(self, connection: Channel, header: RequestHeader, request: Message, context: Context, generator: Waiting) -> None:
        self.connection = connection
        self.header = header
        self.request = request
        self.context = context
        self.generator = generator
        self.wait: Wait | None = None
        self.keys: tuple[Hashable, ...] = ()
        self.in_slices = False


class Undecoded(Parked):
    """A request that a shortcut keeps waiting. Its header, message and context are set when one of them is first read.

    `frame` is a copy of its bytes, which the shortcut has compared with those of an earlier request, so that they can be decoded.
    """

    __slots__ = ("_cluster", "_frame")

    def __init__(self, connection: Channel, cluster: ClusterState, frame: bytes, generator: Waiting) -> None:
        self.connection = connection
        self.generator = generator
        self.wait = None
        self.keys = ()
        self.in_slices = False
        self._cluster = cluster
        self._frame = frame

    def __getattr__(self, name: str) -> Any:
        """Returns `header`, `request` or `context`. Python calls this method only if the attribute is not set yet."""
        frame, connection = memoryview(self._frame), self.connection
        self.header = header = read_request_header(frame)
        self.request = header.api.request.decoders[header.version](frame, header.position)[0]
        self.context = Context(header.version, connection.client, self._cluster, connection.broker, frame, True, None)
        return object.__getattribute__(self, name)


def find_topic(context: Context, operation: Operation | None, name: str, topic_id: bytes = ZERO_UUID) -> Topic:
    """Returns the topic with this id or, if the id is zero, this name. `operation` is the permission that the client needs (None: none).

    Raises KafkaError with UNKNOWN_TOPIC_ID, TOPIC_AUTHORIZATION_FAILED or UNKNOWN_TOPIC_OR_PARTITION.
    """
    cluster = context.cluster
    if topic_id == ZERO_UUID:
        topic = cluster.topics.get(name)
    elif (topic := cluster.topics_by_id.get(topic_id)) is None:
        raise KafkaError(ErrorCode.UNKNOWN_TOPIC_ID)
    # `may` checks for an authorizer too. The check here saves a call per partition in Produce and Fetch.
    if (
        cluster.authorizer is not None
        and operation is not None
        and not context.may(operation, ResourceType.TOPIC, topic.name if topic else name)
    ):
        raise KafkaError(ErrorCode.TOPIC_AUTHORIZATION_FAILED)
    if topic is None:
        raise KafkaError(ErrorCode.UNKNOWN_TOPIC_OR_PARTITION)
    return topic


def find_led_partition(broker: Broker, topic: Topic, index: int, current_leader_epoch: int = -1, *, or_followed: bool = False) -> Partition:
    """Returns a partition that this broker leads or, with `or_followed`, has a replica of.

    `current_leader_epoch` is the client's view of the leader epoch, -1 if it has none (KIP-320). Raises KafkaError with
    UNKNOWN_TOPIC_OR_PARTITION, NOT_LEADER_OR_FOLLOWER, FENCED_LEADER_EPOCH or UNKNOWN_LEADER_EPOCH.
    """
    if not 0 <= index < len(topic.partitions):
        raise KafkaError(ErrorCode.UNKNOWN_TOPIC_OR_PARTITION)
    partition = topic.partitions[index]
    if partition.leader != broker.node_id and not (or_followed and broker.node_id in partition.replicas):
        raise KafkaError(ErrorCode.NOT_LEADER_OR_FOLLOWER)
    if current_leader_epoch not in (-1, partition.leader_epoch):
        fenced = current_leader_epoch < partition.leader_epoch
        raise KafkaError(ErrorCode.FENCED_LEADER_EPOCH if fenced else ErrorCode.UNKNOWN_LEADER_EPOCH)
    return partition


# The partitions of a request about committed offsets


class HasPartitionIndex(Protocol):
    """An entry of a request that names a partition."""

    partition_index: int


P = TypeVar("P", bound=HasPartitionIndex)
TopicKey = tuple[str, bytes]
"""(name, id) of a topic in a request. Depending on the version, the name is empty or the id is zero."""


class Found(NamedTuple, Generic[P]):
    """A partition that exists and that the client may read. `wanted` is its entry in the request."""

    key: TopicKey
    topic: Topic
    wanted: P


PartitionErrors = dict[TopicKey, list[tuple[int, ErrorCode]]]
"""(partition index, error code) pairs by topic, each topic once."""


def find_partitions(
    topics: Iterable[tuple[TopicKey, Sequence[P]]], context: Context, slices: Slices, *, by_id: bool = False
) -> Generator[Wait, None, tuple[list[Found[P]], PartitionErrors]]:
    """Splits the partitions of a request into those that the client may read and the errors for the others, in slices.

    With `by_id`, a topic without an id gets UNKNOWN_TOPIC_ID. Kafka returns the errors before the other partitions.
    """
    found: list[Found[P]] = []
    refused: PartitionErrors = {}
    for key, partitions in topics:
        if slices.full(2 + len(partitions) // 8):
            yield NEXT_TURN
        try:
            if by_id and key[1] == ZERO_UUID:
                raise KafkaError(ErrorCode.UNKNOWN_TOPIC_ID)
            topic = find_topic(context, Operation.READ, *key)
        except KafkaError as error:
            for wanted in partitions:
                refused.setdefault(key, []).append((wanted.partition_index, error.code))
            continue
        for wanted in partitions:
            if topic.partition(wanted.partition_index) is None:
                refused.setdefault(key, []).append((wanted.partition_index, ErrorCode.UNKNOWN_TOPIC_OR_PARTITION))
            else:
                found.append(Found(key, topic, wanted))
    return found, refused


MAX_COMMITTED_TOGETHER = 300
"""The most offsets of a request that are checked and committed in one turn. The others follow in further turns."""


def commit_in_turns(
    found: Sequence[Found[P]], commit: Callable[[Sequence[Found[P]]], list[ErrorCode]]
) -> Generator[Wait, None, list[ErrorCode]]:
    """Returns the error of each partition. `commit` stores some offsets and returns their errors."""
    errors: list[ErrorCode] = []
    for first in range(0, len(found), MAX_COMMITTED_TOGETHER):
        if first:
            yield NEXT_TURN
        errors += commit(found[first : first + MAX_COMMITTED_TOGETHER])
    return errors


# Brokers and leaders


def reachable_brokers(context: Context) -> Iterator[tuple[Broker, Listener]]:
    """Yields the running brokers that have a listener of the name that the client is connected to, with that listener."""
    for node_id in context.cluster.brokers.running:
        broker = context.cluster.brokers[node_id]
        if listener := broker.listeners.get(context.client.listener_name):
            yield broker, listener


def current_leader(partition: Partition | None) -> LeaderIdAndEpoch | None:
    """Returns the leader and leader epoch of a partition for the response fields of KIP-951, or None for no partition."""
    return LeaderIdAndEpoch(leader_id=partition.leader, leader_epoch=partition.leader_epoch) if partition else None


def node_endpoints(context: Context, leaders: Iterable[int]) -> list[NodeEndpoint]:
    """Returns the addresses of these nodes on the listener that the client is connected to, each once."""
    endpoints = []
    for node_id in sorted(set(leaders)):
        broker = context.cluster.brokers.get(node_id)
        listener = broker.listeners.get(context.client.listener_name) if broker else None
        if broker and listener:
            endpoints.append(NodeEndpoint(node_id=node_id, host=listener.advertised_host, port=listener.advertised_port, rack=broker.rack))
    return endpoints


def stopped_nodes(context: Context) -> frozenset[int]:
    """Returns the ids of the nodes that are fenced or not registered."""
    return frozenset(node_id for node_id, broker in context.cluster.brokers.items() if broker.fenced or not broker.registered)
