"""Access control entries and the filters that select them, as plain data (KIP-11, KIP-290). `authorizer.py` evaluates them."""

from __future__ import annotations

from enum import IntEnum
from typing import NamedTuple, Self

from ...protocol.errors import ErrorCode, KafkaError

CLUSTER_NAME = "kafka-cluster"
"""Name of the only resource of type CLUSTER."""
ANONYMOUS = "User:ANONYMOUS"
WILDCARD, EVERYONE = "*", "User:*"


class Code(IntEnum):
    """A number in a request. Numbers without a name become the first member, UNKNOWN."""

    @classmethod
    def _missing_(cls, _value: object) -> Self:
        return cls(0)


class Operation(Code):
    """Operation on a resource (Kafka's AclOperation)."""

    UNKNOWN = 0
    ANY = 1
    ALL = 2
    READ = 3
    WRITE = 4
    CREATE = 5
    DELETE = 6
    ALTER = 7
    DESCRIBE = 8
    CLUSTER_ACTION = 9
    DESCRIBE_CONFIGS = 10
    ALTER_CONFIGS = 11
    IDEMPOTENT_WRITE = 12
    CREATE_TOKENS = 13
    DESCRIBE_TOKENS = 14
    TWO_PHASE_COMMIT = 15


class ResourceType(Code):
    """Type of a resource that is protected (Kafka's ResourceType)."""

    UNKNOWN = 0
    ANY = 1
    TOPIC = 2
    GROUP = 3
    CLUSTER = 4
    TRANSACTIONAL_ID = 5
    DELEGATION_TOKEN = 6
    USER = 7


class PatternType(Code):
    """Comparison of an entry's name with a resource's (Kafka's PatternType). Only filters use ANY and MATCH."""

    UNKNOWN = 0
    ANY = 1
    MATCH = 2
    LITERAL = 3
    PREFIXED = 4


class Permission(Code):
    """Effect of an entry (Kafka's AclPermissionType)."""

    UNKNOWN = 0
    ANY = 1
    DENY = 2
    ALLOW = 3


OPERATIONS: dict[ResourceType, tuple[Operation, ...]] = {
    ResourceType.TOPIC: (
        Operation.READ,
        Operation.WRITE,
        Operation.CREATE,
        Operation.DELETE,
        Operation.ALTER,
        Operation.DESCRIBE,
        Operation.DESCRIBE_CONFIGS,
        Operation.ALTER_CONFIGS,
    ),
    ResourceType.GROUP: (Operation.READ, Operation.DELETE, Operation.DESCRIBE, Operation.DESCRIBE_CONFIGS, Operation.ALTER_CONFIGS),
    ResourceType.CLUSTER: (
        Operation.CREATE,
        Operation.ALTER,
        Operation.DESCRIBE,
        Operation.CLUSTER_ACTION,
        Operation.DESCRIBE_CONFIGS,
        Operation.ALTER_CONFIGS,
        Operation.IDEMPOTENT_WRITE,
    ),
}
"""Operations returned in `authorized_operations` fields, by resource type (Kafka's AclEntry)."""

ACCESS_DENIED_ERRORS = {
    ResourceType.TOPIC: ErrorCode.TOPIC_AUTHORIZATION_FAILED,
    ResourceType.GROUP: ErrorCode.GROUP_AUTHORIZATION_FAILED,
    ResourceType.CLUSTER: ErrorCode.CLUSTER_AUTHORIZATION_FAILED,
    ResourceType.TRANSACTIONAL_ID: ErrorCode.TRANSACTIONAL_ID_AUTHORIZATION_FAILED,
}
"""Error code returned when access to a resource of that type is denied."""

# An ALLOW entry for one of the values also allows the key. DENY entries imply no other operation.
_IMPLIED_BY = {
    Operation.DESCRIBE: (Operation.READ, Operation.WRITE, Operation.DELETE, Operation.ALTER, Operation.DESCRIBE),
    Operation.DESCRIBE_CONFIGS: (Operation.ALTER_CONFIGS, Operation.DESCRIBE_CONFIGS),
}


Pattern = tuple[ResourceType, str, PatternType]
"""Resource type, name, and comparison of the name."""


class Acl(NamedTuple):
    """One access control entry: allows or denies a principal an operation on the resources that match a pattern."""

    resource_type: ResourceType
    resource_name: str
    pattern_type: PatternType
    principal: str
    host: str
    operation: Operation
    permission_type: Permission

    @property
    def has_wildcard_code(self) -> bool:
        """Whether a field is ANY or MATCH, which are valid in filters only."""
        return (
            self.resource_type is ResourceType.ANY
            or self.pattern_type in (PatternType.ANY, PatternType.MATCH)
            or self.operation is Operation.ANY
            or self.permission_type is Permission.ANY
        )

    def covers(self, name: str) -> bool:
        """Returns whether the pattern matches the name of a resource of its type."""
        if self.pattern_type is PatternType.PREFIXED:
            return name.startswith(self.resource_name)
        return self.resource_name in (name, WILDCARD)

    def applies_to(self, principal: str, host: str) -> bool:
        """Returns whether the principal and the host of the entry include those of a client."""
        return self.principal in (principal, EVERYONE) and self.host in (host, WILDCARD)

    def decides(self, operation: Operation) -> bool:
        """Returns whether the entry allows or denies an operation."""
        if self.operation in (Operation.ALL, operation):
            return True
        return self.permission_type is Permission.ALLOW and self.operation in _IMPLIED_BY.get(operation, ())

    def check(self) -> None:
        """Raises KafkaError with INVALID_REQUEST for an invalid entry (Kafka's AclControlManager)."""
        if self.resource_type is ResourceType.CLUSTER and self.resource_name != CLUSTER_NAME:
            raise KafkaError(ErrorCode.INVALID_REQUEST, f"The only valid name for the CLUSTER resource is {CLUSTER_NAME}")
        if not self.resource_name:
            raise KafkaError(ErrorCode.INVALID_REQUEST, "Invalid empty resource name")
        for code in (self.resource_type, self.pattern_type, self.operation, self.permission_type):
            if not code:
                raise KafkaError(ErrorCode.INVALID_REQUEST, f"Invalid {type(code).__name__}")
        if ":" not in self.principal:
            raise KafkaError(ErrorCode.INVALID_REQUEST, f"expected a principal as principalType:principalName, got {self.principal}")


class AclFilter(NamedTuple):
    """Selects entries; None and ANY match every value of a field."""

    resource_type: ResourceType
    resource_name: str | None
    pattern_type: PatternType
    principal: str | None
    host: str | None
    operation: Operation
    permission_type: Permission

    def check(self) -> None:
        """Raises KafkaError with INVALID_REQUEST for a filter that DeleteAcls rejects."""
        if ResourceType.UNKNOWN is self.resource_type or PatternType.UNKNOWN is self.pattern_type:
            raise KafkaError(ErrorCode.INVALID_REQUEST, "Unknown patternFilter.")
        if Operation.UNKNOWN is self.operation or Permission.UNKNOWN is self.permission_type:
            raise KafkaError(ErrorCode.INVALID_REQUEST, "Unknown entryFilter.")

    def matches(self, acl: Acl) -> bool:
        return (
            self.resource_type in (ResourceType.ANY, acl.resource_type)
            and self._matches_pattern(acl)
            and self.principal in (None, acl.principal)
            and self.host in (None, acl.host)
            and self.operation in (Operation.ANY, acl.operation)
            and self.permission_type in (Permission.ANY, acl.permission_type)
        )

    def _matches_pattern(self, acl: Acl) -> bool:
        """MATCH selects entries whose pattern covers the name; all other pattern types compare the name itself."""
        if self.pattern_type is PatternType.MATCH:
            return self.resource_name is None or acl.covers(self.resource_name)
        return self.pattern_type in (PatternType.ANY, acl.pattern_type) and self.resource_name in (None, acl.resource_name)
