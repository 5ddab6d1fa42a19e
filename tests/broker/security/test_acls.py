"""Access control entries and filters of them."""

from __future__ import annotations

from typing import Any

import pytest

from odradek.broker.security.acls import Acl, AclFilter, Operation, PatternType, Permission, ResourceType
from odradek.protocol.errors import ErrorCode, KafkaError

ANY = AclFilter(ResourceType.ANY, None, PatternType.ANY, None, None, Operation.ANY, Permission.ANY)


def acl(name: str = "orders", **fields: Any) -> Acl:
    entry = Acl(ResourceType.TOPIC, name, PatternType.LITERAL, "User:alice", "*", Operation.READ, Permission.ALLOW)
    return entry._replace(**fields)


def test_code_without_name_is_unknown() -> None:
    assert Operation(99) is Operation.UNKNOWN
    assert PatternType(-1) is PatternType.UNKNOWN


@pytest.mark.parametrize(
    "entry",
    [
        acl(""),
        acl("any", resource_type=ResourceType.CLUSTER),
        acl(principal="alice"),
        acl(resource_type=ResourceType(99)),
        acl(pattern_type=PatternType(-1)),
        acl(operation=Operation(99)),
        acl(permission_type=Permission(4)),
    ],
)
def test_acl_check_invalid_raises(entry: Acl) -> None:
    with pytest.raises(KafkaError) as raised:
        entry.check()
    assert raised.value.code is ErrorCode.INVALID_REQUEST


@pytest.mark.parametrize(
    ("entry", "expected"),
    [
        (acl(), False),
        (acl(resource_type=ResourceType.ANY), True),
        (acl(pattern_type=PatternType.MATCH), True),
        (acl(operation=Operation.ANY), True),
        (acl(permission_type=Permission.ANY), True),
    ],
)
def test_acl_has_wildcard_code(entry: Acl, expected: bool) -> None:
    assert entry.has_wildcard_code is expected


@pytest.mark.parametrize(
    "changes",
    [
        {"resource_type": ResourceType.UNKNOWN},
        {"pattern_type": PatternType.UNKNOWN},
        {"operation": Operation.UNKNOWN},
        {"permission_type": Permission.UNKNOWN},
    ],
)
def test_filter_check_unknown_code_raises(changes: dict[str, Any]) -> None:
    ANY.check()
    with pytest.raises(KafkaError) as raised:
        ANY._replace(**changes).check()
    assert raised.value.code is ErrorCode.INVALID_REQUEST


def test_filter_match_selects_entries_that_cover_name() -> None:
    prefixed, wildcard = acl("ord", pattern_type=PatternType.PREFIXED), acl("*")
    match = ANY._replace(resource_name="orders", pattern_type=PatternType.MATCH)
    assert [match.matches(entry) for entry in (acl(), prefixed, wildcard, acl("payments"))] == [True, True, True, False]
    same_name = ANY._replace(resource_name="orders")
    assert [same_name.matches(entry) for entry in (acl(), prefixed, wildcard)] == [True, False, False]
