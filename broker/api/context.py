"""The context of a request: the client with its permissions, the broker and the cluster."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable
from typing import TYPE_CHECKING, Any, Protocol

from ...protocol.errors import ErrorCode, KafkaError
from ...protocol.frame import Buffer
from ...protocol.schema import Message
from ..scheduling.waiting import Reply, Wait
from ..security.acls import ACCESS_DENIED_ERRORS, ANONYMOUS, CLUSTER_NAME, OPERATIONS, Operation, ResourceType

if TYPE_CHECKING:
    from ..cluster.broker import Broker
    from ..security.mechanism import Identity


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
        self.connection_id = connection_id
        self.listener_name = listener_name
        self.client_host = client_host
        self.client_port = client_port
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
    """Serves requests of a connection without decoding them (appending/produce_shapes.py, fetching/fetch_shortcut.py)."""

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


class Context:
    """The API version and the client of one request, and the broker and cluster that serve it.

    `frame` contains the request's bytes without their length. If `owns_buffer`, their memory is not reused for other requests, so that
    the log may keep it. A handler may set `shortcut`, which the connection then tries first for each further request. `quotas` is None
    for a
    client without quotas.
    """

    __slots__ = ("broker", "client", "cluster", "frame", "owns_buffer", "quotas", "shortcut", "version")

    def __init__(
        self,
        version: int,
        client: Client,
        broker: Broker,
        frame: memoryview,
        owns_buffer: bool,
        shortcut: Shortcut | None,
    ) -> None:
        self.version = version
        self.frame = frame
        self.shortcut = shortcut
        self.client = client
        self.broker = broker
        self.cluster = broker.cluster
        self.owns_buffer = owns_buffer
        self.quotas: Quotas | None = None

    @property
    def now_ms(self) -> int:
        """The time in milliseconds since the Unix epoch. It is constant while a request is served."""
        return self.cluster.timers.now_ms

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

    def allowed(self, resource_type: ResourceType, name: str = CLUSTER_NAME) -> int:
        """Returns the client's permissions on a resource as a bit field (`authorized_operations`, KIP-430)."""
        authorizer, client = self.cluster.authorizer, self.client
        if authorizer is None:
            operations: Iterable[Operation] = OPERATIONS[resource_type]
        else:
            operations = authorizer.allowed(client.principal, client.client_host, resource_type, name)
        return sum(1 << operation for operation in operations)

    def reply(self) -> Reply[Any]:
        """Returns a reply that a state machine sets later. The handler waits for it with `yield Wait((reply,))`."""
        return Reply(self.cluster.wake)
