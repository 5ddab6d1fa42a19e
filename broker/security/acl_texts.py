"""Access control entries as text, for `--acl` and `Cluster(acls=[...])`.

    User:alice:allow:read,describe:topic:orders         one topic
    User:alice:allow:read:group:app-*                   names that begin with app-
    User:*:deny:write:topic:*                           every user, every topic
    User:admin:allow:create,alter:cluster               the cluster

The parts are principal, `allow` or `deny`, operations, resource type and resource name. They stand for one entry for each operation, from
any host.
"""

from __future__ import annotations

import re

from ...protocol.errors import KafkaError
from ..settings.properties import InvalidConfig
from .acls import CLUSTER_NAME, WILDCARD, Acl, Operation, PatternType, Permission, ResourceType

EXAMPLE = "User:alice:allow:read,describe:topic:orders"
_TEXT = re.compile(r"(\w+:.+?):(allow|deny):([\w,]+):(\w+)(?::(.+))?", re.IGNORECASE | re.DOTALL)
_NOT_IN_ENTRIES = ("UNKNOWN", "ANY")
OPERATION_NAMES = [each.name.lower() for each in Operation if each.name not in _NOT_IN_ENTRIES]
RESOURCE_NAMES = [each.name.lower() for each in ResourceType if each.name not in _NOT_IN_ENTRIES]


def parse_acl(text: str) -> list[Acl]:
    """Returns the entries that `text` describes. Raises InvalidConfig."""
    match = _TEXT.fullmatch(text.strip())
    if match is None:
        raise InvalidConfig(f"invalid ACL '{text}': use PRINCIPAL:allow|deny:OPERATIONS:RESOURCE:NAME, such as {EXAMPLE}")
    principal, permission, operations, resource, name = match.groups()
    if resource.lower() not in RESOURCE_NAMES:
        raise InvalidConfig(f"invalid ACL '{text}': {resource} is no resource type; use {', '.join(RESOURCE_NAMES)}")
    resource_type = ResourceType[resource.upper()]
    if name is None and resource_type is ResourceType.CLUSTER:
        name = CLUSTER_NAME
    if name is None:
        raise InvalidConfig(f"invalid ACL '{text}': the name of the {resource.lower()} is missing; use * for all")
    pattern_type = PatternType.LITERAL
    if name.endswith(WILDCARD) and name != WILDCARD:
        name, pattern_type = name.removesuffix(WILDCARD), PatternType.PREFIXED
    acls = []
    for operation in operations.split(","):
        if operation.lower() not in OPERATION_NAMES:
            raise InvalidConfig(f"invalid ACL '{text}': {operation or 'nothing'} is no operation; use {', '.join(OPERATION_NAMES)}")
        acl = Acl(resource_type, name, pattern_type, principal, WILDCARD, Operation[operation.upper()], Permission[permission.upper()])
        try:
            acl.check()
        except KafkaError as error:
            raise InvalidConfig(f"invalid ACL '{text}': {error.message}") from None
        acls.append(acl)
    return acls
