"""What a handler knows of the request it answers, beside the request itself."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, Protocol

from ..protocol.errors import KafkaError
from .scheduling.waiting import Reply
from .security.acls import ACCESS_DENIED_ERRORS, ANONYMOUS, CLUSTER_NAME, OPERATIONS, Operation, ResourceType

if TYPE_CHECKING:
    from .cluster.broker import Broker


class Client:
    """Who is at the other end of a connection, and by which listener it came in."""

    __slots__ = ("client_host", "client_id", "client_port", "listener_name", "principal", "software_name", "software_version")

    def __init__(self, listener_name: str, client_host: str, client_port: int) -> None:
        self.listener_name = listener_name
        self.client_host = client_host
        self.client_port = client_port
        self.principal = ANONYMOUS
        self.client_id = ""
        self.software_name = "unknown"
        self.software_version = "unknown"

    def __str__(self) -> str:
        return f"{self.client_host}:{self.client_port} on {self.listener_name}, client id {self.client_id!r}"


class Shortcut(Protocol):
    """Recognises a request by its bytes alone."""

    def answer(self, frame: memoryview, owns_buffer: bool) -> bytes | None:
        """The whole answer to the request in `frame`; None if it is another one, and nothing has happened."""


class Context:
    """One request's cluster: its API version, the connection it came by, the broker that answers.

    `frame` is the request's bytes without their length; `owns_buffer` says that nobody will write to their memory again. A rule may
    leave a `shortcut`, which is then asked first by every further request of the connection.
    """

    __slots__ = ("broker", "client", "cluster", "frame", "owns_buffer", "shortcut", "version")

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

    @property
    def now_ms(self) -> int:
        """The present moment, in milliseconds since the Unix epoch."""
        return self.cluster.timers.now_ms

    # What the client may do. Without an authorizer: everything.

    def may(self, operation: Operation, resource_type: ResourceType, name: str = CLUSTER_NAME) -> bool:
        """Whether the client may do that to a resource."""
        authorizer, client = self.cluster.authorizer, self.client
        return authorizer is None or authorizer.allows(client.principal, client.client_host, operation, resource_type, name)

    def may_somewhere(self, operation: Operation, resource_type: ResourceType) -> bool:
        """Whether there may be a resource of a type to which the client may do that."""
        authorizer, client = self.cluster.authorizer, self.client
        return authorizer is None or authorizer.allows_somewhere(client.principal, client.client_host, operation, resource_type)

    def demand(self, operation: Operation, resource_type: ResourceType = ResourceType.CLUSTER, name: str = CLUSTER_NAME) -> None:
        """Raises the KafkaError of a client who may not do that."""
        if not self.may(operation, resource_type, name):
            raise KafkaError(ACCESS_DENIED_ERRORS[resource_type], f"not allowed to {operation.name} {resource_type.name} {name}")

    def allowed(self, resource_type: ResourceType, name: str = CLUSTER_NAME) -> int:
        """All that the client may do with a resource, as bits (`authorized_operations`)."""
        authorizer, client = self.cluster.authorizer, self.client
        if authorizer is None:
            operations: Iterable[Operation] = OPERATIONS[resource_type]
        else:
            operations = authorizer.allowed(client.principal, client.client_host, resource_type, name)
        return sum(1 << operation for operation in operations)

    def reply(self) -> Reply[Any]:
        """An answer to be given later by a state machine; wait for it with `yield Wait((reply,))`."""
        return Reply(self.cluster.wake)
