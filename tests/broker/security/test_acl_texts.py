"""Access control entries as text."""

from __future__ import annotations

import pytest

from odradek.broker.security.acl_texts import parse_acl
from odradek.broker.security.acls import Acl, Operation, PatternType, Permission, ResourceType
from odradek.broker.settings.properties import InvalidConfig

LITERAL, PREFIXED = PatternType.LITERAL, PatternType.PREFIXED
ALLOW, DENY = Permission.ALLOW, Permission.DENY
TOPIC, GROUP, CLUSTER = ResourceType.TOPIC, ResourceType.GROUP, ResourceType.CLUSTER


@pytest.mark.parametrize(
    ("text", "acls"),
    [
        (
            "User:alice:allow:read,describe:topic:orders",
            [Acl(TOPIC, "orders", LITERAL, "User:alice", "*", op, ALLOW) for op in (Operation.READ, Operation.DESCRIBE)],
        ),
        ("User:alice:allow:read:group:app-*", [Acl(GROUP, "app-", PREFIXED, "User:alice", "*", Operation.READ, ALLOW)]),
        ("User:*:DENY:Write:TOPIC:*", [Acl(TOPIC, "*", LITERAL, "User:*", "*", Operation.WRITE, DENY)]),
        ("User:a:allow:all:cluster", [Acl(CLUSTER, "kafka-cluster", LITERAL, "User:a", "*", Operation.ALL, ALLOW)]),
        ("User:CN=a,O=b:c:allow:read:group:x:y", [Acl(GROUP, "x:y", LITERAL, "User:CN=a,O=b:c", "*", Operation.READ, ALLOW)]),
        (
            "User:a:allow:idempotent_write:cluster:kafka-cluster",
            [Acl(CLUSTER, "kafka-cluster", LITERAL, "User:a", "*", Operation.IDEMPOTENT_WRITE, ALLOW)],
        ),
        (
            "User:a:allow:describe:transactional_id:tx",
            [Acl(ResourceType.TRANSACTIONAL_ID, "tx", LITERAL, "User:a", "*", Operation.DESCRIBE, ALLOW)],
        ),
    ],
)
def test_acl_text_is_parsed_into_entries(text: str, acls: list[Acl]) -> None:
    assert parse_acl(text) == acls


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("", "use PRINCIPAL:allow"),
        ("alice:allow:read:topic:orders", "use PRINCIPAL:allow"),
        ("User:alice:permit:read:topic:orders", "use PRINCIPAL:allow"),
        ("User:alice:allow:read:queue:orders", "queue is no resource type; use topic, group"),
        ("User:alice:allow:read:any:orders", "any is no resource type"),
        ("User:alice:allow:read:topic", "the name of the topic is missing"),
        ("User:alice:allow:peek:topic:orders", "peek is no operation; use all, read"),
        ("User:alice:allow:read,,write:topic:orders", "nothing is no operation"),
        ("User:alice:allow:alter:cluster:mine", "The only valid name for the CLUSTER resource is kafka-cluster"),
    ],
)
def test_acl_text_invalid_names_the_problem(text: str, complaint: str) -> None:
    with pytest.raises(InvalidConfig, match=complaint):
        parse_acl(text)
