"""An authorizer and its entries, for tests of requests under access control."""

from __future__ import annotations

from odradek.broker.security.acls import Acl, Operation, PatternType, Permission, ResourceType
from odradek.broker.settings.types import STANDARD_AUTHORIZER

AUTHORIZED = {"authorizer.class.name": STANDARD_AUTHORIZER}


def acl(name: str, operation: Operation, permission: Permission = Permission.ALLOW) -> Acl:
    return Acl(ResourceType.TOPIC, name, PatternType.LITERAL, "User:*", "*", operation, permission)
