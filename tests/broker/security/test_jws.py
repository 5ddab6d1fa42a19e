"""Parsing and verifying tokens."""

from __future__ import annotations

import json

import pytest

from odradek.broker.security.jws import InvalidToken, Jws, KeySet
from odradek.broker.settings.properties import InvalidConfig
from tests.broker.security.tokens_for_tests import Signer, encoded, key_set_text, part, unsecured

CLAIMS = {"sub": "alice"}
RSA, EC = Signer("RS256"), Signer("ES256")


def test_token_is_parsed_into_its_parts() -> None:
    token = Jws.parse(RSA.token(CLAIMS))
    assert (token.header["alg"], token.claims, len(token.signature)) == ("RS256", CLAIMS, 256)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "..",
        "a.b",
        "a.b.c.d",
        unsecured(claims=b"nonsense"),
        unsecured(claims=[1]),
        unsecured(header="none", claims=CLAIMS),
        unsecured(claims=CLAIMS) + "!",
        unsecured(claims=b"[" * 100_000),
        unsecured(claims=b"\xff\xfe"),
        unsecured(claims=CLAIMS, signature="A"),
    ],
)
def test_token_malformed_is_refused_without_its_text(text: str) -> None:
    with pytest.raises(InvalidToken) as refused:
        Jws.parse(text)
    assert len(str(refused.value)) < 60


@pytest.mark.parametrize("signer", [RSA, EC], ids=["RS256", "ES256"])
def test_token_signed_by_a_key_of_the_set_is_verified(signer: Signer) -> None:
    keys = KeySet(key_set_text(RSA, EC))
    keys.verify(Jws.parse(signer.token(CLAIMS)))
    keys.verify(Jws.parse(signer.token(CLAIMS, kid=None)))


@pytest.mark.parametrize("signer", [RSA, EC], ids=["RS256", "ES256"])
def test_token_that_was_changed_is_refused(signer: Signer) -> None:
    keys, (header, _, signature) = KeySet(key_set_text(RSA, EC)), signer.token(CLAIMS).split(".")
    changed = [
        f"{header}.{part({'sub': 'admin'})}.{signature}",
        f"{header}.{part(CLAIMS)}.",
        f"{header}.{part(CLAIMS)}.{encoded(bytes(64))}",
    ]
    for text in changed:
        with pytest.raises(InvalidToken, match="no key of the key set has signed"):
            keys.verify(Jws.parse(text))


@pytest.mark.parametrize(
    "text",
    [
        unsecured(claims=CLAIMS),
        unsecured({"alg": "HS256"}, CLAIMS, encoded(bytes(32))),
        unsecured({"alg": ["RS256"]}, CLAIMS),
        unsecured({}, CLAIMS),
        RSA.token(CLAIMS, kid="other"),
        RSA.token(CLAIMS, alg="ES256"),
        Signer("ES256").token(CLAIMS),
    ],
)
def test_token_of_another_algorithm_or_key_is_refused(text: str) -> None:
    with pytest.raises(InvalidToken):
        KeySet(key_set_text(RSA, EC)).verify(Jws.parse(text))


def test_key_set_ignores_keys_of_other_algorithms() -> None:
    others = [{"kty": "oct", "k": "AAAA"}, {"kty": "EC", "crv": "P-521", "x": "", "y": ""}, RSA.jwk]
    KeySet(json.dumps({"keys": others})).verify(Jws.parse(RSA.token(CLAIMS)))


@pytest.mark.parametrize(
    "text",
    ["", "[]", "{}", '{"keys": 1}', '{"keys": [1]}', '{"keys": [{"kty": "RSA"}]}', '{"keys": [{"kty": "RSA", "n": "!", "e": "AQAB"}]}'],
)
def test_key_set_malformed_is_refused(text: str) -> None:
    with pytest.raises(InvalidConfig, match="not a JSON Web Key Set"):
        KeySet(text)
