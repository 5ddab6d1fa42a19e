"""Decisions of the authorizer. The differential family `acls` compares the access checks of each API with Apache Kafka."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import product
from typing import Any

import pytest

from odradek.broker.security.acls import (
    OPERATIONS,
    Acl,
    AclFilter,
    Operation,
    PatternType,
    Permission,
    ResourceType,
)
from odradek.broker.security.authorizer import Authorizer, authorizer_of
from odradek.broker.settings.properties import InvalidConfig
from odradek.broker.settings.types import STANDARD_AUTHORIZER
from odradek.broker.settings.values import BrokerConfig
from tests.broker.harness import World

ALICE, HERE = "User:alice", "10.0.0.1"
DENY, ALLOW = Permission.DENY, Permission.ALLOW
LITERAL, PREFIXED = PatternType.LITERAL, PatternType.PREFIXED
AUTHORIZED = {"authorizer.class.name": STANDARD_AUTHORIZER}


def acl(name: str = "orders", operation: Operation = Operation.READ, permission: Permission = ALLOW, **fields: Any) -> Acl:
    return Acl(ResourceType.TOPIC, name, LITERAL, ALICE, "*", operation, permission)._replace(**fields)


def authorizer(*acls: Acl, **options: Any) -> Authorizer:
    authorizer = Authorizer(**options)
    for each in acls:
        authorizer.add(each)
    return authorizer


def allows(made: Authorizer, operation: Operation = Operation.READ, name: str = "orders", user: str = ALICE) -> bool:
    return made.allows(user, HERE, operation, ResourceType.TOPIC, name)


def test_allows_without_acl_as_setting_says() -> None:
    assert not allows(authorizer())
    assert allows(authorizer(allow_everyone_if_no_acl_found=True))
    other = authorizer(acl(principal="User:bob"), allow_everyone_if_no_acl_found=True)
    assert not allows(other)
    assert allows(other, name="payments")


def test_allows_super_user_everything() -> None:
    made = authorizer(acl(permission=DENY), super_users=[ALICE])
    assert allows(made)
    assert not allows(made, user="User:bob")


@pytest.mark.parametrize(
    ("entry", "allowed"),
    [
        (acl(), True),
        (acl("*"), True),
        (acl("order"), False),
        (acl("ord", pattern_type=PREFIXED), True),
        (acl("orders", pattern_type=PREFIXED), True),
        (acl("orders2", pattern_type=PREFIXED), False),
        (acl("*", pattern_type=PREFIXED), False),
        (acl(principal="User:*"), True),
        (acl(principal="User:bob"), False),
        (acl(principal="Group:alice"), False),
        (acl(host=HERE), True),
        (acl(host="10.0.0.2"), False),
        (acl(operation=Operation.ALL), True),
        (acl(operation=Operation.WRITE), False),
        (acl(resource_type=ResourceType.GROUP), False),
    ],
)
def test_allows_by_entry_that_covers_client_and_resource(entry: Acl, allowed: bool) -> None:
    assert allows(authorizer(entry)) is allowed
    denied = entry._replace(permission_type=DENY)
    assert allows(authorizer(acl(), denied)) is not allowed, "a DENY entry takes precedence over all ALLOW entries"


IMPLIED = [(Operation.DESCRIBE, each) for each in (Operation.READ, Operation.WRITE, Operation.DELETE, Operation.ALTER)] + [
    (Operation.DESCRIBE_CONFIGS, Operation.ALTER_CONFIGS)
]


@pytest.mark.parametrize(("operation", "named"), list(product(OPERATIONS[ResourceType.TOPIC], OPERATIONS[ResourceType.TOPIC])))
def test_allows_operations_implied_by_allow_only(operation: Operation, named: Operation) -> None:
    assert allows(authorizer(acl(operation=named)), operation) is (operation == named or (operation, named) in IMPLIED)
    everything = acl(operation=Operation.ALL)
    assert allows(authorizer(everything, acl(operation=named, permission=DENY)), operation) is (operation != named)


@pytest.mark.parametrize(
    ("acls", "allowed"),
    [
        ([], False),
        ([acl()], True),
        ([acl("*")], True),
        ([acl("a", pattern_type=PREFIXED)], True),
        ([acl(operation=Operation.WRITE)], False),
        ([acl(), acl(permission=DENY)], False),
        ([acl(), acl("ord", pattern_type=PREFIXED, permission=DENY)], False),
        ([acl(), acl("orders2", permission=DENY)], True),
        ([acl("o", pattern_type=PREFIXED), acl("o", permission=DENY)], True),
        ([acl("o", pattern_type=PREFIXED), acl("o", pattern_type=PREFIXED, permission=DENY)], False),
        ([acl("*"), acl("o", pattern_type=PREFIXED, permission=DENY)], True),
        ([acl(), acl("*", permission=DENY)], False),
        ([acl(host="10.0.0.2")], False),
    ],
)
def test_allows_somewhere_by_entries(acls: list[Acl], allowed: bool) -> None:
    assert authorizer(*acls).allows_somewhere(ALICE, HERE, Operation.READ, ResourceType.TOPIC) is allowed


def test_allows_somewhere_without_entry_or_as_super_user() -> None:
    assert authorizer(allow_everyone_if_no_acl_found=True).allows_somewhere(ALICE, HERE, Operation.READ, ResourceType.TOPIC)
    assert authorizer(acl("*", permission=DENY), super_users=[ALICE]).allows_somewhere(ALICE, HERE, Operation.READ, ResourceType.TOPIC)


EVERY = AclFilter(ResourceType.ANY, None, PatternType.ANY, None, None, Operation.ANY, Permission.ANY)


def test_find_and_remove_entries() -> None:
    entries = [
        acl(),
        acl("*", operation=Operation.WRITE),
        acl("ord", pattern_type=PREFIXED),
        acl("g", resource_type=ResourceType.GROUP, host=HERE),
    ]
    made = authorizer(*entries, entries[0])
    assert made.find(EVERY) == entries
    assert made.find(EVERY._replace(resource_name="orders")) == entries[:1]
    assert made.find(EVERY._replace(resource_name="orders", pattern_type=PatternType.MATCH)) == entries[:3]
    assert made.find(EVERY._replace(pattern_type=PatternType.MATCH)) == entries
    assert made.find(EVERY._replace(pattern_type=PREFIXED)) == entries[2:3]
    assert made.find(EVERY._replace(host=HERE)) == entries[3:]
    assert made.find(EVERY._replace(principal="User:bob")) == []
    made.remove([entries[1], entries[1], acl("nothing")])
    assert made.find(EVERY) == [entries[0], *entries[2:]]


def configured(settings: Mapping[str, str]) -> Authorizer:
    return authorizer_of(BrokerConfig(settings))


def test_cluster_without_authorizer_class_has_none() -> None:
    assert World(settings={"super.users": ALICE}).cluster.authorizer is None


def test_authorizer_of_settings() -> None:
    made = configured(AUTHORIZED | {"super.users": f"{ALICE}; User:b;", "allow.everyone.if.no.acl.found": "TRUE"})
    assert made.super_users == {ALICE, "User:b"}
    assert allows(made, user="User:c")
    closed = configured(AUTHORIZED)
    assert not allows(closed)
    with pytest.raises(InvalidConfig):
        configured({"authorizer.class.name": "kafka.security.authorizer.AclAuthorizer"})
