"""Which tokens a listener accepts, from its settings."""

from __future__ import annotations

import pytest

from odradek.broker.security.jws import InvalidToken, Jws, KeySet
from odradek.broker.security.oauthbearer import SignedTokens, UnsecuredTokens
from odradek.broker.security.oauthbearer_settings import LOGIN_MODULE, key_set_url, validator_of
from odradek.broker.settings.properties import InvalidConfig
from odradek.broker.settings.values import BrokerConfig, ListenerSettings
from tests.broker.security.tokens_for_tests import Signer, key_set_text

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
