"""The SASL mechanism OAUTHBEARER; `tests/differential/families/sasl.py` compares it with Apache Kafka's."""

from __future__ import annotations

from typing import Any

import pytest

from odradek.broker.security.jws import InvalidToken, Jws, KeySet
from odradek.broker.security.mechanism import AuthenticationFailed, Identity, InvalidCredentials
from odradek.broker.security.oauthbearer import (
    LOGIN_MODULE,
    OAuthBearerServer,
    SignedTokens,
    TokenValidator,
    UnsecuredTokens,
    key_set_url,
    validator_of,
)
from odradek.broker.settings.properties import InvalidConfig
from odradek.broker.settings.values import BrokerConfig, ListenerSettings
from tests.broker.security.tokens_for_tests import Signer, key_set_text, unsecured

NOW_MS = 1_000_000
CLAIMS = {"sub": "alice", "exp": 1100, "iat": 900, "iss": "me", "aud": ["kafka", "other"]}
SIGNER = Signer("ES256")
SIGNED = SignedTokens(lambda: KeySet(key_set_text(SIGNER)), "sub", ("kafka",), "me", 30_000)
INVALID = b'{"status":"invalid_token"}'


def server(validator: TokenValidator = UnsecuredTokens(), now_ms: int = NOW_MS) -> OAuthBearerServer:  # noqa: B008
    return OAuthBearerServer(validator, lambda: now_ms)


def message(token: str, authorization_id: str = "") -> bytes:
    header = f"n,a={authorization_id}," if authorization_id else "n,,"
    return f"{header}\x01auth=Bearer {token}\x01\x01".encode()


def changed(**claims: Any) -> dict[str, Any]:
    return {name: value for name, value in {**CLAIMS, **claims}.items() if value is not None}


def test_unsecured_token_identifies_the_user_until_it_expires() -> None:
    exchange = server()
    assert exchange.evaluate(message(unsecured(claims=CLAIMS))) == b""
    assert exchange.identity == Identity("alice", 1_100_000)


def test_signed_token_identifies_the_user_until_it_expires() -> None:
    exchange = server(SIGNED)
    assert exchange.evaluate(message(SIGNER.token(CLAIMS))) == b""
    assert exchange.identity == Identity("alice", 1_100_000)


@pytest.mark.parametrize(
    "claims",
    [
        changed(sub=None),
        changed(sub=" "),
        changed(exp=None),
        changed(exp=970),
        changed(exp=True),
        changed(exp=float("nan")),
        changed(exp=1e300),
        changed(exp=10**400),
        changed(exp=-(10**400)),
        changed(sub="\ud800"),
        changed(sub="a" * 32_768),
        changed(iat=None),
        changed(nbf=1031),
        changed(iss="other"),
        changed(iss=None),
        changed(aud="other"),
        changed(aud=None),
    ],
)
def test_signed_token_with_wrong_claims_is_invalid(claims: dict[str, Any]) -> None:
    exchange = server(SIGNED)
    assert exchange.evaluate(message(SIGNER.token(claims))) == INVALID
    with pytest.raises(AuthenticationFailed, match="invalid_token"):
        exchange.evaluate(b"\x01")
    assert exchange.identity is None


@pytest.mark.parametrize("claims", [changed(exp=971), changed(nbf=1030), changed(aud="kafka")])
def test_signed_token_within_the_clock_skew_is_accepted(claims: dict[str, Any]) -> None:
    assert server(SIGNED).evaluate(message(SIGNER.token(claims))) == b""


@pytest.mark.parametrize("token", [unsecured(claims=CLAIMS), Signer("ES256").token(CLAIMS), Signer("RS256").token(CLAIMS)])
def test_token_that_no_key_has_signed_is_invalid(token: str) -> None:
    assert server(SIGNED).evaluate(message(token)) == INVALID


def test_signed_token_on_an_unsecured_listener_is_invalid() -> None:
    assert server().evaluate(message(SIGNER.token(CLAIMS))) == INVALID


def test_token_without_the_required_scope_names_the_scope() -> None:
    validator = UnsecuredTokens(required_scope=("read", "write"))
    answer = b'{"status":"insufficient_scope", "scope":"[read, write]"}'
    assert server(validator).evaluate(message(unsecured(claims=changed(scope=["read"])))) == answer
    assert server(validator).evaluate(message(unsecured(claims=changed(scope=["read", "write"])))) == b""


def test_token_names_of_claims_can_be_chosen() -> None:
    exchange = server(UnsecuredTokens("name", "scp", ("a",)))
    assert exchange.evaluate(message(unsecured(claims=changed(name="bob", scp=["a"])))) == b""
    assert exchange.identity == Identity("bob", 1_100_000)


def test_other_authorization_id_is_refused() -> None:
    token = unsecured(claims=CLAIMS)
    assert server().evaluate(message(token, "alice")) == b""
    with pytest.raises(AuthenticationFailed, match=r"authorization id \(bob\) that is different from the token's principal name \(alice\)"):
        server().evaluate(message(token, "bob"))


@pytest.mark.parametrize(
    "data", [b"", b"\x01", b"n,,", b"n,,\x01\x01", b"n,,\x01auth=Basic abc\x01\x01", b"y,,\x01auth=Bearer a.b.c\x01\x01", b"\xff"]
)
def test_message_malformed_is_refused(data: bytes) -> None:
    with pytest.raises(InvalidCredentials):
        server().evaluate(data)


URL = "sasl.oauthbearer.jwks.endpoint.url"
JAAS = "listener.name.external.oauthbearer.sasl.jaas.config"
OPTIONS = (
    'unsecuredValidatorPrincipalClaimName="name" unsecuredValidatorScopeClaimName="scp" unsecuredValidatorRequiredScope="a b"'
    ' unsecuredValidatorAllowableClockSkewMs="3000"'
)


def settings(**values: str) -> ListenerSettings:
    return ListenerSettings(BrokerConfig(values), "EXTERNAL")


def test_validator_without_settings_accepts_unsecured_tokens() -> None:
    assert validator_of(settings(), {}) == UnsecuredTokens()
    assert validator_of(settings(**{JAAS: f"{LOGIN_MODULE} required;"}), {}) == UnsecuredTokens()


def test_validator_of_unsecured_tokens_has_the_options_of_jaas() -> None:
    validator = validator_of(settings(**{JAAS: f"{LOGIN_MODULE} required {OPTIONS};"}), {})
    assert validator == UnsecuredTokens("name", "scp", ("a", "b"), 3000)


def test_validator_of_signed_tokens_has_the_key_set_of_the_url() -> None:
    named = settings(
        **{
            URL: "file:///other",
            f"listener.name.external.oauthbearer.{URL}": "file:///keys",
            "sasl.oauthbearer.expected.audience": "a,b",
            "sasl.oauthbearer.expected.issuer": "me",
            "sasl.oauthbearer.clock.skew.seconds": "5",
        }
    )
    signer = Signer("ES256")
    sets: dict[str, KeySet] = {}
    validator = validator_of(named, sets)
    assert isinstance(validator, SignedTokens)
    assert (key_set_url(named), validator[1:]) == ("file:///keys", ("sub", ("a", "b"), "me", 5000))
    with pytest.raises(InvalidToken, match="could not be read"):
        validator.keys()
    sets["file:///keys"] = KeySet(key_set_text(signer))
    validator.keys().verify(Jws.parse(signer.token({})))


@pytest.mark.parametrize(
    ("values", "complaint"),
    [
        ({URL: "ftp://keys"}, "use a URL that begins with file://, http://, https://"),
        ({JAAS: "com.example.Other required;"}, "names com.example.Other; use org.apache.kafka"),
        ({JAAS: f'{LOGIN_MODULE} required unsecuredValidatorAllowableClockSkewMs="-1";'}, "must be a number of milliseconds, not -1"),
    ],
)
def test_validator_of_invalid_settings_is_refused(values: dict[str, str], complaint: str) -> None:
    with pytest.raises(InvalidConfig, match=complaint):
        validator_of(settings(**values), {})
