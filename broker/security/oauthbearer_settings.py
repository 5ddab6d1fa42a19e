"""The settings of OAUTHBEARER: which tokens a listener accepts (KIP-255, KIP-768)."""

from __future__ import annotations

from collections.abc import Mapping

from ...protocol.client.jaas import SETTING
from ..settings.properties import InvalidConfig
from ..settings.values import ListenerSettings
from .jaas import login_module
from .jws import InvalidToken, KeySet
from .oauthbearer import SignedTokens, TokenValidator, UnsecuredTokens

OAUTHBEARER = "OAUTHBEARER"
LOGIN_MODULE = "org.apache.kafka.common.security.oauthbearer.OAuthBearerLoginModule"
URL_SCHEMES = ("file://", "http://", "https://")


def key_set_url(settings: ListenerSettings) -> str:
    """Returns the URL of the key set for a listener's tokens, "" if tokens are unsecured. Raises InvalidConfig."""
    url = str(settings.value_of_mechanism(OAUTHBEARER, "sasl.oauthbearer.jwks.endpoint.url") or "")
    if url and not url.startswith(URL_SCHEMES):
        raise InvalidConfig(f"sasl.oauthbearer.jwks.endpoint.url is {url}; use a URL that begins with {', '.join(URL_SCHEMES)}")
    return url


def validator_of(settings: ListenerSettings, key_sets: Mapping[str, KeySet]) -> TokenValidator:
    """Returns the check of a listener's tokens. `key_sets` maps URLs to key sets. Raises InvalidConfig."""
    url = key_set_url(settings)
    if not url:
        return _unsecured(settings)

    def keys() -> KeySet:
        if url not in key_sets:
            raise InvalidToken(f"the key set {url} could not be read")
        return key_sets[url]

    skew_s = settings.value_of_mechanism(OAUTHBEARER, "sasl.oauthbearer.clock.skew.seconds")
    audiences = settings.value_of_mechanism(OAUTHBEARER, "sasl.oauthbearer.expected.audience")
    assert isinstance(skew_s, int) and isinstance(audiences, tuple)
    return SignedTokens(
        keys,
        str(settings.value_of_mechanism(OAUTHBEARER, "sasl.oauthbearer.sub.claim.name")),
        audiences,
        str(settings.value_of_mechanism(OAUTHBEARER, "sasl.oauthbearer.expected.issuer") or ""),
        1000 * skew_s,
    )


def _unsecured(settings: ListenerSettings) -> UnsecuredTokens:
    """Returns the check that the options of the login module describe, which are those of Kafka."""
    text = settings.of_mechanism(OAUTHBEARER, SETTING)
    if text is None:
        return UnsecuredTokens()
    module = login_module(text)
    if module.name != LOGIN_MODULE:
        raise InvalidConfig(f"{SETTING} of {OAUTHBEARER} on listener {settings.listener_name} names {module.name}; use {LOGIN_MODULE}")
    options = {name: value.strip() for name, value in module.options.items()}
    skew_ms = options.get("unsecuredValidatorAllowableClockSkewMs") or "0"
    if not skew_ms.isdecimal():
        raise InvalidConfig(f"{SETTING}: unsecuredValidatorAllowableClockSkewMs must be a number of milliseconds, not {skew_ms}")
    return UnsecuredTokens(
        options.get("unsecuredValidatorPrincipalClaimName") or "sub",
        options.get("unsecuredValidatorScopeClaimName") or "scope",
        tuple(options.get("unsecuredValidatorRequiredScope", "").split()),
        int(skew_ms),
    )
