"""The APIs of delegation tokens with ACLs and time; `tests/differential/families/tokens.py` compares them with Apache Kafka's."""

from __future__ import annotations

from typing import Any

import pytest

from odradek.broker.security.startup import Security
from odradek.protocol.errors import ErrorCode
from odradek.protocol.messages.create_delegation_token import CREATE_DELEGATION_TOKEN, CreateDelegationTokenRequest
from odradek.protocol.messages.describe_delegation_token import DESCRIBE_DELEGATION_TOKEN, DescribeDelegationTokenRequest
from odradek.protocol.messages.metadata import METADATA, MetadataRequest
from tests.broker.harness import Client, World
from tests.broker.sasl_client import handshake, plain, scram_with_token

USERS = {"alice": "secret", "bob": "secret", "eve": "secret"}
ACLS = [
    "User:alice:allow:create_tokens:user:User:bob",
    "User:eve:allow:describe_tokens:user:User:bob",
    "User:bob:allow:describe:topic:t",
]


@pytest.fixture
def world() -> World:
    world = World(nodes=1, settings={"delegation.token.secret.key": "key of tokens"}, security=Security(users=USERS, acls=ACLS))
    world.cluster.topics.create("t", 1, 1)
    return world


def logged_in(world: World, user: str) -> Client:
    client = world.client()
    assert not plain(client, user).error_code
    return client


def create(client: Client, owner: str | None = None, lifetime_ms: int = -1) -> Any:
    named = {} if owner is None else {"owner_principal_type": "User", "owner_principal_name": owner}
    return client.call(CREATE_DELEGATION_TOKEN, 3, CreateDelegationTokenRequest(renewers=[], max_lifetime_ms=lifetime_ms, **named))


def described(client: Client) -> list[str]:
    response = client.call(DESCRIBE_DELEGATION_TOKEN, 3, DescribeDelegationTokenRequest(owners=None))
    return [token.token_id for token in response.tokens]


def test_token_for_another_user_needs_the_right_create_tokens(world: World) -> None:
    assert create(logged_in(world, "alice"), "bob").error_code == ErrorCode.NONE
    assert create(logged_in(world, "alice"), "eve").error_code == ErrorCode.DELEGATION_TOKEN_AUTHORIZATION_FAILED
    assert create(logged_in(world, "bob"), "bob").error_code == ErrorCode.NONE


def test_tokens_are_shown_to_their_users_and_by_right(world: World) -> None:
    alice, bob, eve = (logged_in(world, user) for user in USERS)
    token_of_alice, token_of_bob = create(alice).token_id, create(alice, "bob").token_id
    assert described(alice) == [token_of_alice, token_of_bob]
    assert described(bob) == described(eve) == [token_of_bob]


def test_client_with_a_token_acts_as_its_owner_until_it_expires(world: World) -> None:
    token = create(logged_in(world, "alice"), "bob", lifetime_ms=5000)
    client = world.client()
    response = scram_with_token(client, token.token_id, token.hmac)
    assert (response.error_code, response.session_lifetime_ms, client.connection.client.principal) == (0, 5000, "User:bob")
    assert [topic.name for topic in client.call(METADATA, 9, MetadataRequest(topics=None)).topics] == ["t"]
    assert create(client).error_code == ErrorCode.DELEGATION_TOKEN_REQUEST_NOT_ALLOWED
    world.advance(5001)
    client.send(METADATA, 9, MetadataRequest(topics=None))
    assert client.closed and "the session has expired" in client.closed


def test_client_without_a_principal_may_not_use_tokens() -> None:
    client = World(nodes=1, settings={"delegation.token.secret.key": "key of tokens"}).client()
    assert create(client).error_code == ErrorCode.DELEGATION_TOKEN_REQUEST_NOT_ALLOWED
    assert handshake(client).error_code == ErrorCode.ILLEGAL_SASL_STATE
