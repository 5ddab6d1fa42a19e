"""Who may do what: access control entries, and the decisions that Kafka's StandardAuthorizer makes by them (KIP-11, KIP-290).

Pure data. Handlers ask by way of their `Context`; DescribeAcls, CreateAcls and DeleteAcls are in handlers/acls.py.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from enum import IntEnum
from typing import NamedTuple, Self

from ...protocol.errors import ErrorCode, KafkaError
from ..settings.values import BrokerConfig

CLUSTER_NAME = "kafka-cluster"
"""The name of the one resource of type CLUSTER."""
ANONYMOUS = "User:ANONYMOUS"
WILDCARD, EVERYONE = "*", "User:*"


class Code(IntEnum):
    """A number on the wire; those that have no name are the first, UNKNOWN."""

    @classmethod
    def _missing_(cls, value: object) -> Self:
        return cls(0)


class Operation(Code):
    """What is done to a resource (AclOperation)."""

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
    """What it is done to."""

    UNKNOWN = 0
    ANY = 1
    TOPIC = 2
    GROUP = 3
    CLUSTER = 4
    TRANSACTIONAL_ID = 5
    DELEGATION_TOKEN = 6
    USER = 7


class PatternType(Code):
    """How an entry's name is compared with a resource's; ANY and MATCH are for filters alone."""

    UNKNOWN = 0
    ANY = 1
    MATCH = 2
    LITERAL = 3
    PREFIXED = 4


class Permission(Code):
    """What an entry says (AclPermissionType)."""

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
"""The operations that clients are told about, for those types that they can ask for (AclEntry)."""

ACCESS_DENIED_ERRORS = {
    ResourceType.TOPIC: ErrorCode.TOPIC_AUTHORIZATION_FAILED,
    ResourceType.GROUP: ErrorCode.GROUP_AUTHORIZATION_FAILED,
    ResourceType.CLUSTER: ErrorCode.CLUSTER_AUTHORIZATION_FAILED,
    ResourceType.TRANSACTIONAL_ID: ErrorCode.TRANSACTIONAL_ID_AUTHORIZATION_FAILED,
}
"""Error code returned when access to a resource of that type is denied."""

# To be allowed the ones implies to be allowed the other; to be denied them does not.
_IMPLIED_BY = {
    Operation.DESCRIBE: (Operation.READ, Operation.WRITE, Operation.DELETE, Operation.ALTER, Operation.DESCRIBE),
    Operation.DESCRIBE_CONFIGS: (Operation.ALTER_CONFIGS, Operation.DESCRIBE_CONFIGS),
}


Pattern = tuple["ResourceType", str, "PatternType"]
"""The type and name of the resources that an entry is for, and how the name is compared."""


class Acl(NamedTuple):
    """One access control entry: who may, or may not, do what to the resources of a pattern."""

    resource_type: ResourceType
    resource_name: str
    pattern_type: PatternType
    principal: str
    host: str
    operation: Operation
    permission: Permission

    @property
    def is_open(self) -> bool:
        """Whether it says ANY or MATCH, which only filters may."""
        return (
            self.resource_type is ResourceType.ANY
            or self.pattern_type in (PatternType.ANY, PatternType.MATCH)
            or self.operation is Operation.ANY
            or self.permission is Permission.ANY
        )

    def covers(self, name: str) -> bool:
        """Whether a resource of its type is meant."""
        if self.pattern_type is PatternType.PREFIXED:
            return name.startswith(self.resource_name)
        return self.resource_name in (name, WILDCARD)

    def concerns(self, principal: str, host: str) -> bool:
        """Whether a client is meant."""
        return self.principal in (principal, EVERYONE) and self.host in (host, WILDCARD)

    def decides(self, operation: Operation) -> bool:
        """Whether it says something of an operation."""
        if self.operation in (Operation.ALL, operation):
            return True
        return self.permission is Permission.ALLOW and self.operation in _IMPLIED_BY.get(operation, ())

    def check(self) -> None:
        """Raises INVALID_REQUEST for what no entry can be (AclControlManager)."""
        if self.resource_type is ResourceType.CLUSTER and self.resource_name != CLUSTER_NAME:
            raise KafkaError(ErrorCode.INVALID_REQUEST, f"The only valid name for the CLUSTER resource is {CLUSTER_NAME}")
        if not self.resource_name:
            raise KafkaError(ErrorCode.INVALID_REQUEST, "Invalid empty resource name")
        for code in (self.resource_type, self.pattern_type, self.operation, self.permission):
            if not code:
                raise KafkaError(ErrorCode.INVALID_REQUEST, f"Invalid {type(code).__name__}")
        if ":" not in self.principal:
            raise KafkaError(ErrorCode.INVALID_REQUEST, f"expected a principal as principalType:principalName, got {self.principal}")


class AclFilter(NamedTuple):
    """Which entries are asked for; null and ANY leave a field open."""

    resource_type: ResourceType
    resource_name: str | None
    pattern_type: PatternType
    principal: str | None
    host: str | None
    operation: Operation
    permission: Permission

    def check(self) -> None:
        """Raises INVALID_REQUEST for a filter that DeleteAcls does not take."""
        if ResourceType.UNKNOWN is self.resource_type or PatternType.UNKNOWN is self.pattern_type:
            raise KafkaError(ErrorCode.INVALID_REQUEST, "Unknown patternFilter.")
        if Operation.UNKNOWN is self.operation or Permission.UNKNOWN is self.permission:
            raise KafkaError(ErrorCode.INVALID_REQUEST, "Unknown entryFilter.")

    def matches(self, acl: Acl) -> bool:
        """Whether an entry is among them."""
        return (
            self.resource_type in (ResourceType.ANY, acl.resource_type)
            and self._matches_pattern(acl)
            and self.principal in (None, acl.principal)
            and self.host in (None, acl.host)
            and self.operation in (Operation.ANY, acl.operation)
            and self.permission in (Permission.ANY, acl.permission)
        )

    def _matches_pattern(self, acl: Acl) -> bool:
        """MATCH takes the entries that cover the resource of that name, all others those of that name itself."""
        if self.pattern_type is PatternType.MATCH:
            return self.resource_name is None or acl.covers(self.resource_name)
        return self.pattern_type in (PatternType.ANY, acl.pattern_type) and self.resource_name in (None, acl.resource_name)


class Authorizer:
    """The entries of a cluster, and what follows from them. `super_users` are principals who may do all."""

    def __init__(self, super_users: Collection[str] = (), *, allow_everyone_if_no_acl_found: bool = False) -> None:
        self.super_users = frozenset(super_users)
        self._if_no_acl_found = allow_everyone_if_no_acl_found
        self._acls: dict[Acl, None] = {}
        self._longest_prefix = 0
        self._patterns: dict[Pattern, dict[Acl, None]] = {}
        """The entries by what they are for, so that a decision looks only at those that may cover the resource."""

    def add(self, acl: Acl) -> None:
        """Adds an entry, unless it is there already. Raises INVALID_REQUEST for one that makes no sense."""
        acl.check()
        self._acls[acl] = None
        self._patterns.setdefault(acl[:3], {})[acl] = None
        if acl.pattern_type is PatternType.PREFIXED:
            self._longest_prefix = max(self._longest_prefix, len(acl.resource_name))

    def remove(self, acls: Iterable[Acl]) -> None:
        """Removes entries, those that are there."""
        for acl in acls:
            if self._acls.pop(acl, acl) is None:
                entries = self._patterns[acl[:3]]
                del entries[acl]
                if not entries:
                    del self._patterns[acl[:3]]

    def find(self, wanted: AclFilter) -> list[Acl]:
        """The entries that a filter lets pass, in the order in which they came."""
        entries: Iterable[Acl] = self._acls
        is_open = wanted.resource_type is ResourceType.ANY or wanted.pattern_type in (PatternType.ANY, PatternType.MATCH)
        if wanted.resource_name is not None and not is_open:
            entries = self._patterns.get((wanted.resource_type, wanted.resource_name, wanted.pattern_type), ())
        return [acl for acl in entries if wanted.matches(acl)]

    def _covering(self, resource_type: ResourceType, name: str) -> list[Acl]:
        """The entries for a resource: those of its name, those of all names, and those of each prefix of its name."""
        patterns = [(resource_type, each, PatternType.LITERAL) for each in dict.fromkeys((name, WILDCARD))]
        prefixes = range(1, min(len(name), self._longest_prefix) + 1)
        patterns += [(resource_type, name[:length], PatternType.PREFIXED) for length in prefixes]
        return [acl for pattern in patterns for acl in self._patterns.get(pattern, ())]

    def allows(self, principal: str, host: str, operation: Operation, resource_type: ResourceType, name: str) -> bool:
        """One entry that denies outweighs all that allow; with none for the resource the setting decides, and else nobody may."""
        if principal in self.super_users:
            return True
        about = self._covering(resource_type, name)
        if not about:
            return self._if_no_acl_found
        said = {acl.permission for acl in about if acl.concerns(principal, host) and acl.decides(operation)}
        return said == {Permission.ALLOW}

    def allowed(self, principal: str, host: str, resource_type: ResourceType, name: str) -> list[Operation]:
        """All that is allowed of what there is for that type."""
        return [each for each in OPERATIONS[resource_type] if self.allows(principal, host, each, resource_type, name)]

    def allows_somewhere(self, principal: str, host: str, operation: Operation, resource_type: ResourceType) -> bool:
        """Whether there may be a resource of that type for which it is allowed (Authorizer.authorizeByResourceType)."""
        if self.allows(principal, host, operation, resource_type, "hardcode"):  # any name: it is for super users and the setting
            return True
        said = [acl for acl in self._of(principal, host, resource_type) if acl.operation in (Operation.ALL, operation)]
        denied = [acl for acl in said if acl.permission is Permission.DENY]
        if any(acl.pattern_type is PatternType.LITERAL and acl.resource_name == WILDCARD for acl in denied):
            return False
        return any(acl.permission is Permission.ALLOW and not any(_outweighs(each, acl) for each in denied) for acl in said)

    def _of(self, principal: str, host: str, resource_type: ResourceType) -> Iterator[Acl]:
        return (acl for acl in self._acls if acl.resource_type is resource_type and acl.concerns(principal, host))


def _outweighs(denied: Acl, allowed: Acl) -> bool:
    """Whether all that one entry allows is denied by another."""
    if denied.pattern_type is PatternType.PREFIXED:
        everything = allowed.pattern_type is PatternType.LITERAL and allowed.resource_name == WILDCARD
        return not everything and allowed.resource_name.startswith(denied.resource_name)
    return allowed.pattern_type is PatternType.LITERAL and allowed.resource_name == denied.resource_name


def authorizer_of(config: BrokerConfig) -> Authorizer | None:
    """The authorizer that a node's settings ask for; None if nobody is kept from anything."""
    texts = config.texts
    if not texts["authorizer.class.name"]:
        return None
    super_users = [user.strip() for user in texts.get("super.users", "").split(";") if user.strip()]
    allow_everyone = texts.get("allow.everyone.if.no.acl.found", "").lower() == "true"
    return Authorizer(super_users, allow_everyone_if_no_acl_found=allow_everyone)
