"""The SASL mechanism OAUTHBEARER (RFC 7628, KIP-255, KIP-768; Kafka's OAuthBearerSaslServer).

The client sends an access token in one message. A token that is not accepted is answered with a JSON object that names the error; the
client acknowledges it with the byte 1, and only then the authentication fails.

Without `sasl.oauthbearer.jwks.endpoint.url`, tokens are unsecured (`alg` is `none`), so that tests need no identity provider. With it,
they must be signed by a key of that key set.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple, Protocol, cast

from ...protocol.client.jaas import SETTING
from ...protocol.codec import MAX_STRING_BYTES
from ..settings.properties import InvalidConfig
from ..settings.values import ListenerSettings
from .jaas import login_options
from .jws import InvalidToken, Jws, KeySet
from .mechanism import AuthenticationFailed, Identity, InvalidCredentials

OAUTHBEARER = "OAUTHBEARER"
LOGIN_MODULE = "org.apache.kafka.common.security.oauthbearer.OAuthBearerLoginModule"
URL_SCHEMES = ("file://", "http://", "https://")
_NAME = r"(?:[^=,\x00\x80-\U0010ffff]|=2C|=3D)+"
_PAIRS = r"(?:[A-Za-z]+=[!-~ \t\r\n]+\x01)*"
CLIENT_FIRST = re.compile(rf"n,(?:a=({_NAME}))?,\x01({_PAIRS})\x01")
AUTHORIZATION = re.compile(r"(\w+) +([-_.a-zA-Z0-9]+)")
ACKNOWLEDGEMENT = b"\x01"
MAX_SECONDS = 1e12
"""The latest time of a claim."""


class InsufficientScope(InvalidToken):
    """A token lacks a scope that is required."""


class TokenValidator(Protocol):
    """Checks tokens."""

    def identity(self, token: Jws, now_ms: int) -> Identity:
        """Returns the user of a token and the time when the token expires. Raises InvalidToken."""


class UnsecuredTokens(NamedTuple):
    """Accepts tokens without a signature (Kafka's OAuthBearerUnsecuredValidatorCallbackHandler)."""

    user_claim: str = "sub"
    scope_claim: str = "scope"
    required_scope: Sequence[str] = ()
    clock_skew_ms: int = 0

    def identity(self, token: Jws, now_ms: int) -> Identity:
        """Returns the user of a token and the time when the token expires. Raises InvalidToken."""
        if token.header.get("alg") != "none" or token.signature:
            raise InvalidToken("the token is signed, but the listener accepts only unsecured tokens")
        issued_ms, expires_ms = _time_ms(token.claims, "iat"), _time_ms(token.claims, "exp")
        if issued_ms is not None and issued_ms > now_ms + self.clock_skew_ms:
            raise InvalidToken("the token was issued in the future")
        if expires_ms is None or now_ms - self.clock_skew_ms >= expires_ms:
            raise InvalidToken("the token has expired or has no expiration time")
        if issued_ms is not None and expires_ms <= issued_ms:
            raise InvalidToken("the token expires before it was issued")
        scopes = _scopes(token.claims, self.scope_claim)
        if not scopes.issuperset(self.required_scope):
            raise InsufficientScope(f"[{', '.join(self.required_scope)}]")
        return Identity(_user(token.claims, self.user_claim), expires_ms)


class SignedTokens(NamedTuple):
    """Accepts tokens that a key of the key set has signed (Kafka's BrokerJwtValidator). `keys` returns the present key set."""

    keys: Callable[[], KeySet]
    user_claim: str
    audiences: Sequence[str]
    issuer: str
    clock_skew_ms: int

    def identity(self, token: Jws, now_ms: int) -> Identity:
        """Returns the user of a token and the time when the token expires. Raises InvalidToken."""
        self.keys().verify(token)
        claims = token.claims
        issued_ms, expires_ms, begins_ms = (_time_ms(claims, name) for name in ("iat", "exp", "nbf"))
        if issued_ms is None or expires_ms is None:
            raise InvalidToken("the token has no time of issue or no expiration time")
        if now_ms - self.clock_skew_ms >= expires_ms:
            raise InvalidToken("the token has expired")
        if begins_ms is not None and now_ms + self.clock_skew_ms < begins_ms:
            raise InvalidToken("the token is not valid yet")
        if self.issuer and claims.get("iss") != self.issuer:
            raise InvalidToken("the issuer is not sasl.oauthbearer.expected.issuer")
        if self.audiences and not set(_texts(claims.get("aud"))).intersection(self.audiences):
            raise InvalidToken("no audience is in sasl.oauthbearer.expected.audience")
        return Identity(_user(claims, self.user_claim), expires_ms)


class OAuthBearerServer:
    """One exchange."""

    def __init__(self, validator: TokenValidator, now_ms: Callable[[], int]) -> None:
        self._validator = validator
        self._now_ms = now_ms
        self._error: str | None = None
        self.identity: Identity | None = None

    def evaluate(self, token: bytes) -> bytes:
        """Returns an empty message for an accepted token, otherwise a JSON object with the error.

        Raises InvalidCredentials for a malformed message, and AuthenticationFailed for another authorization id and after an error.
        """
        if token == ACKNOWLEDGEMENT and self._error is not None:
            raise AuthenticationFailed(self._error)
        self._error = None
        authorization_id, access_token = _client_first(token)
        try:
            identity = self._validator.identity(Jws.parse(access_token), self._now_ms())
        except InsufficientScope as missing:
            return self._refuse(f'{{"status":"insufficient_scope", "scope":"{missing}"}}')
        except InvalidToken:
            return self._refuse('{"status":"invalid_token"}')
        if authorization_id not in ("", identity.user):
            text = "Authentication failed: Client requested an authorization id ({}) that is different from the token's principal name ({})"
            raise AuthenticationFailed(text.format(authorization_id, identity.user))
        self.identity = identity
        return b""

    def _refuse(self, error: str) -> bytes:
        self._error = error
        return error.encode()


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
        return _unsecured_tokens(settings)

    def keys() -> KeySet:
        if url not in key_sets:
            raise InvalidToken(f"the key set {url} could not be read")
        return key_sets[url]

    skew_s = cast(int, settings.value_of_mechanism(OAUTHBEARER, "sasl.oauthbearer.clock.skew.seconds"))
    audiences = cast(tuple[str, ...], settings.value_of_mechanism(OAUTHBEARER, "sasl.oauthbearer.expected.audience"))
    return SignedTokens(
        keys,
        str(settings.value_of_mechanism(OAUTHBEARER, "sasl.oauthbearer.sub.claim.name")),
        audiences,
        str(settings.value_of_mechanism(OAUTHBEARER, "sasl.oauthbearer.expected.issuer") or ""),
        1000 * skew_s,
    )


def _unsecured_tokens(settings: ListenerSettings) -> UnsecuredTokens:
    """Returns the check that the options of the login module describe, which are those of Kafka."""
    options = {name: value.strip() for name, value in login_options(settings, OAUTHBEARER, LOGIN_MODULE).items()}
    skew_ms = options.get("unsecuredValidatorAllowableClockSkewMs") or "0"
    if not skew_ms.isdecimal():
        raise InvalidConfig(f"{SETTING}: unsecuredValidatorAllowableClockSkewMs must be a number of milliseconds, not {skew_ms}")
    return UnsecuredTokens(
        options.get("unsecuredValidatorPrincipalClaimName") or "sub",
        options.get("unsecuredValidatorScopeClaimName") or "scope",
        tuple(options.get("unsecuredValidatorRequiredScope", "").split()),
        int(skew_ms),
    )


def _client_first(message: bytes) -> tuple[str, str]:
    """Returns the authorization id, which may be empty, and the access token. Raises InvalidCredentials."""
    match = CLIENT_FIRST.fullmatch(message.decode("utf-8", "replace"))
    if match is None:
        raise InvalidCredentials("invalid OAUTHBEARER client first message")
    pairs = dict(pair.split("=", 1) for pair in match[2].split("\x01") if pair)
    authorization = AUTHORIZATION.fullmatch(pairs.get("auth", ""))
    if authorization is None or authorization[1].lower() != "bearer":
        raise InvalidCredentials("invalid OAUTHBEARER client first message: 'auth' is not a bearer token")
    return match[1] or "", authorization[2]


def _time_ms(claims: Mapping[str, Any], name: str) -> int | None:
    value = claims.get(name)
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, int | float) or not abs(value) <= MAX_SECONDS:  # NaN is not either
        raise InvalidToken(f"the claim {name} is not a time")
    return int(value * 1000)


def _user(claims: Mapping[str, Any], name: str) -> str:
    """Returns the user. Raises InvalidToken for a name that no response can contain, with half of a surrogate pair or too many bytes."""
    user = claims.get(name)
    if not isinstance(user, str) or not user.strip():
        raise InvalidToken(f"the claim {name} is not a name")
    try:
        size = len(user.encode())
    except UnicodeEncodeError:
        raise InvalidToken(f"the claim {name} contains half of a surrogate pair") from None
    if size > MAX_STRING_BYTES:
        raise InvalidToken(f"the claim {name} has {size} bytes")
    return user


def _scopes(claims: Mapping[str, Any], name: str) -> set[str]:
    """Returns the scopes of a token. A text is a single scope, as in Kafka."""
    return {scope.strip() for scope in _texts(claims.get(name))}


def _texts(value: object) -> list[str]:
    return [each for each in (value if isinstance(value, list) else [value]) if isinstance(each, str)]
