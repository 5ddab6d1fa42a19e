"""Delegation tokens; `tests/differential/families/tokens.py` compares their APIs with Apache Kafka's."""

from __future__ import annotations

from random import Random

import pytest

from odradek.broker.scheduling.timers import Timers
from odradek.broker.security.delegation_tokens import DelegationTokens
from odradek.broker.settings.values import BrokerConfig
from odradek.protocol.errors import ErrorCode, KafkaError

ALICE, BOB, EVE = "User:alice", "User:bob", "User:eve"
SETTINGS = {
    "delegation.token.secret.key": "key-secret",
    "delegation.token.max.lifetime.ms": "10000",
    "delegation.token.expiry.time.ms": "4000",
    "delegation.token.expiry.check.interval.ms": "1000",
}


@pytest.fixture
def timers() -> Timers:
    return Timers(1000)


@pytest.fixture
def tokens(timers: Timers) -> DelegationTokens:
    return DelegationTokens(BrokerConfig(SETTINGS), timers, Random(1), lambda: None)


def test_token_lives_for_the_renewal_period_at_most(tokens: DelegationTokens) -> None:
    lives = {wanted: tokens.create(ALICE, ALICE, (), wanted) for wanted in (-1, 0, 3000, 2**62)}
    assert {wanted: (token.max_ms, token.expiry_ms) for wanted, token in lives.items()} == {
        -1: (11_000, 5000),
        0: (11_000, 5000),
        3000: (4000, 4000),
        2**62: (11_000, 5000),
    }
    assert len({token.token_id for token in tokens}) == 4


def test_token_is_renewed_up_to_its_maximum(tokens: DelegationTokens, timers: Timers) -> None:
    token = tokens.create(ALICE, ALICE, [BOB], -1)
    timers.advance(4500)
    assert (tokens.renew(token.hmac, BOB, -1), tokens.renew(token.hmac, ALICE, 500)) == (8500, 5000)
    timers.advance(5000)
    assert tokens.renew(token.hmac, ALICE, -1) == 9000
    timers.advance(8999)
    assert tokens.renew(token.hmac, ALICE, -1) == 11_000


def test_token_expired_is_refused_and_then_removed(tokens: DelegationTokens, timers: Timers) -> None:
    token = tokens.create(ALICE, ALICE, (), 1500)
    tokens.create(ALICE, ALICE, (), 60_000)
    timers.advance(2501)
    for use in (tokens.renew, tokens.expire):
        with pytest.raises(KafkaError) as refused:
            use(token.hmac, ALICE, 100)
        assert refused.value.code == ErrorCode.DELEGATION_TOKEN_EXPIRED
    timers.advance(3000)
    assert tokens.get(token.token_id) is None and len(list(tokens)) == 1
    timers.advance(20_000)
    assert not list(tokens) and tokens not in timers


def test_token_expires_at_once_or_later(tokens: DelegationTokens) -> None:
    token = tokens.create(ALICE, ALICE, (), -1)
    assert tokens.expire(token.hmac, ALICE, 200) == 1200
    assert tokens.expire(token.hmac, ALICE, -1) == 1000
    with pytest.raises(KafkaError) as refused:
        tokens.expire(token.hmac, ALICE, -1)
    assert refused.value.code == ErrorCode.DELEGATION_TOKEN_NOT_FOUND


def test_token_of_another_user_cannot_be_changed(tokens: DelegationTokens) -> None:
    token = tokens.create(BOB, ALICE, (), -1)
    for principal in (EVE, ALICE):
        for use in (tokens.renew, tokens.expire):
            with pytest.raises(KafkaError) as refused:
                use(token.hmac, principal, -1)
            assert refused.value.code == ErrorCode.DELEGATION_TOKEN_OWNER_MISMATCH
    assert [token.belongs_to(principal) for principal in (ALICE, BOB, EVE)] == [True, True, False]


def test_token_renewers_must_be_users(tokens: DelegationTokens) -> None:
    with pytest.raises(KafkaError) as refused:
        tokens.create(ALICE, ALICE, [BOB, "Group:staff"], -1)
    assert (refused.value.code, list(tokens)) == (ErrorCode.INVALID_PRINCIPAL_TYPE, [])


def test_tokens_without_a_secret_key_are_disabled(timers: Timers) -> None:
    tokens = DelegationTokens(BrokerConfig({}), timers, Random(1), lambda: None)
    uses = (
        lambda: tokens.create(ALICE, ALICE, (), 1),
        lambda: tokens.renew(b"", ALICE, 1),
        lambda: tokens.expire(b"", ALICE, 1),
        lambda: list(tokens),
    )
    for use in uses:
        with pytest.raises(KafkaError) as refused:
            use()
        assert refused.value.code == ErrorCode.DELEGATION_TOKEN_AUTH_DISABLED


def test_token_repr_contains_no_secret(tokens: DelegationTokens) -> None:
    token = tokens.create(ALICE, ALICE, (), -1)
    assert "hmac" not in repr(token) and "credentials" not in repr(token) and "key-secret" not in repr(tokens)
