"""AlterUserScramCredentials and DescribeUserScramCredentials: the answers of Apache Kafka 4.3.1."""

from __future__ import annotations

from typing import Any

import pytest

from odradek.protocol.errors import ErrorCode
from odradek.protocol.messages.alter_user_scram_credentials import (
    ALTER_USER_SCRAM_CREDENTIALS,
    AlterUserScramCredentialsRequest,
    ScramCredentialDeletion,
    ScramCredentialUpsertion,
)
from odradek.protocol.messages.describe_user_scram_credentials import (
    DESCRIBE_USER_SCRAM_CREDENTIALS,
    DescribeUserScramCredentialsRequest,
    UserName,
)
from tests.broker.harness import World


@pytest.fixture
def world() -> World:
    return World()


def described(world: World, *names: str) -> list[tuple[str, int, list[tuple[int, int]]]]:
    request = DescribeUserScramCredentialsRequest(users=[UserName(name=name) for name in names] or None)
    results = world.client().call(DESCRIBE_USER_SCRAM_CREDENTIALS, 0, request).results
    return [(result.user, result.error_code, [(info.mechanism, info.iterations) for info in result.credential_infos]) for result in results]


def credential(name: str, mechanism: int = 1, iterations: int = 4096) -> ScramCredentialUpsertion:
    return ScramCredentialUpsertion(name=name, mechanism=mechanism, iterations=iterations, salt=b"s", salted_password=b"p" * 32)


def altered(world: World, *changes: ScramCredentialUpsertion | ScramCredentialDeletion) -> dict[str, int]:
    request = AlterUserScramCredentialsRequest(
        deletions=[change for change in changes if isinstance(change, ScramCredentialDeletion)],
        upsertions=[change for change in changes if isinstance(change, ScramCredentialUpsertion)],
    )
    return {result.user: result.error_code for result in world.client().call(ALTER_USER_SCRAM_CREDENTIALS, 0, request).results}


def test_credentials_altered_are_described(world: World) -> None:
    assert described(world) == []
    assert described(world, "a", "a", "b") == [("a", ErrorCode.DUPLICATE_RESOURCE, []), ("b", ErrorCode.RESOURCE_NOT_FOUND, [])]
    assert altered(world, credential("a"), credential("b", 2, 8192)) == {"a": 0, "b": 0}
    assert altered(world, credential("a", 2)) == {"a": 0}
    assert described(world) == [("a", 0, [(1, 4096), (2, 4096)]), ("b", 0, [(2, 8192)])]
    assert altered(world, ScramCredentialDeletion(name="b", mechanism=1), ScramCredentialDeletion(name="a", mechanism=1)) == {
        "b": ErrorCode.RESOURCE_NOT_FOUND,
        "a": 0,
    }
    assert altered(world, ScramCredentialDeletion(name="b", mechanism=2)) == {"b": 0}
    assert described(world) == [("a", 0, [(2, 4096)])]


@pytest.mark.parametrize(
    ("changes", "code"),
    [
        ([credential("c", 1, 4095)], ErrorCode.UNACCEPTABLE_CREDENTIAL),
        ([credential("c", 1, 16385)], ErrorCode.UNACCEPTABLE_CREDENTIAL),
        ([credential("")], ErrorCode.UNACCEPTABLE_CREDENTIAL),
        ([credential("c", 0)], ErrorCode.UNSUPPORTED_SASL_MECHANISM),
        ([credential("c", 1), credential("c", 2)], ErrorCode.DUPLICATE_RESOURCE),
        ([ScramCredentialDeletion(name="c", mechanism=1), credential("c")], ErrorCode.RESOURCE_NOT_FOUND),
        ([ScramCredentialDeletion(name="c", mechanism=1)], ErrorCode.RESOURCE_NOT_FOUND),
    ],
)
def test_credentials_invalid_are_refused(world: World, changes: list[Any], code: ErrorCode) -> None:
    assert set(altered(world, *changes).values()) == {code}
    assert described(world) == []


def test_credentials_need_a_metadata_version_with_scram(world: World) -> None:
    """KIP-900: before level 11, the quorum has no record for a credential (Kafka's ScramControlManager)."""
    world.cluster.features.levels["metadata.version"] = 10
    assert altered(world, credential("")) == {"": ErrorCode.UNSUPPORTED_VERSION}
    assert altered(world, credential("a")) == {"a": ErrorCode.UNSUPPORTED_VERSION}
    world.cluster.features.levels["metadata.version"] = 11
    assert altered(world, credential("a")) == {"a": 0}
