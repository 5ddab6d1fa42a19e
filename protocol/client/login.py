"""Authenticates a connection by SaslHandshake and SaslAuthenticate (KIP-43, KIP-152).

The mechanisms are PLAIN (RFC 4616), OAUTHBEARER (RFC 7628) and SCRAM (RFC 5802, RFC 7677). Each is an object with `next(challenge)`, which
returns the client's next message. The first challenge is empty. An exchange is complete when `complete` is true after the server has
accepted a message.
"""

from __future__ import annotations

import hashlib
import hmac
import json
import re
from base64 import b64decode, b64encode, urlsafe_b64encode
from binascii import Error as NotBase64
from collections.abc import Callable
from functools import partial
from importlib import import_module
from typing import Any, Protocol

from ..errors import ErrorCode
from ..frame import decode_response, encode_request
from ..messages.sasl_authenticate import SASL_AUTHENTICATE, SaslAuthenticateRequest
from ..messages.sasl_handshake import SASL_HANDSHAKE, SaslHandshakeRequest
from ..schema import Api, Message
from .line import Line, LoginFailed
from .settings import CALLABLE_SETTING, OAUTHBEARER, PLAIN, ClientSecurity


def log_in(line: Line, client_id: str, security: ClientSecurity, nonce: str, now_s: float) -> None:
    """Authenticates a line. Raises OSError, LoginFailed, NotKafka."""

    def call(api: Api, request: Message) -> Any:
        version = 1 if api is SASL_HANDSHAKE else 0  # brokers of each release serve these
        line.send(b"".join(encode_request(api, version, 0, client_id, request)))
        return decode_response(api, version, line.receive())[1]

    authenticate(call, security, nonce, now_s)


def authenticate(call: Callable[[Api, Message], Any], security: ClientSecurity, nonce: str, now_s: float) -> None:
    """Authenticates by requests that `call` sends and whose responses it returns. Raises LoginFailed."""
    mechanism = mechanism_of(security, nonce, now_s)
    handshake = call(SASL_HANDSHAKE, SaslHandshakeRequest(mechanism=security.mechanism))
    if handshake.error_code:
        offered = ", ".join(handshake.mechanisms) or "none"
        raise LoginFailed(f"the broker does not support the SASL mechanism {security.mechanism}; it supports {offered}")
    challenge = b""
    while (message := mechanism.next(challenge)) is not None:
        answer = call(SASL_AUTHENTICATE, SaslAuthenticateRequest(auth_bytes=message))
        if answer.error_code:
            raise LoginFailed(answer.error_message or ErrorCode(answer.error_code).name)
        challenge = answer.auth_bytes
    if not mechanism.complete:
        raise LoginFailed("the broker did not complete the authentication")


HASH_NAMES = {"SCRAM-SHA-256": "sha256", "SCRAM-SHA-512": "sha512"}
MIN_ITERATIONS, MAX_ITERATIONS = 4096, 1_000_000
TOKEN_LIFETIME_S = 3600
_SERVER_FIRST = re.compile(r"r=([!-+\--~]+),s=([A-Za-z0-9/+=]+),i=([0-9]{1,9})(?:,.*)?")


class ClientMechanism(Protocol):
    """The client's side of one exchange."""

    complete: bool

    def next(self, challenge: bytes) -> bytes | None:
        """Returns the next message, None if the exchange is complete. Raises LoginFailed."""


def mechanism_of(security: ClientSecurity, nonce: str, now_s: float) -> ClientMechanism:
    """Returns the mechanism of the settings. `nonce` is random printable ASCII without a comma, `now_s` the time since 1970."""
    if security.mechanism == PLAIN:
        return SingleMessage(f"\0{security.user}\0{security.password}".encode())
    if security.mechanism == OAUTHBEARER:
        token = security.token or (
            call_function(security.token_callable) if security.token_callable else unsecured_token(security.user, now_s)
        )
        return SingleMessage(f"n,,\x01auth=Bearer {token}\x01\x01".encode())
    return ScramClient(HASH_NAMES[security.mechanism], security.user, security.password, nonce, by_token=security.by_token)


def call_function(name: str) -> str:
    """Returns the access token that the function "module:function" returns. Raises LoginFailed."""
    module, _, function = name.partition(":")
    try:
        return str(getattr(import_module(module), function)())
    except Exception as error:  # it is the user's function, and its error may contain a secret
        raise LoginFailed(f"{CALLABLE_SETTING}={name} raised {type(error).__name__}") from None


def unsecured_token(user: str, now_s: float) -> str:
    """Returns an unsecured JWS for `user`, which is valid for an hour (Kafka's OAuthBearerUnsecuredLoginCallbackHandler)."""
    claims = {"sub": user, "iat": now_s, "exp": now_s + TOKEN_LIFETIME_S}
    return ".".join(_base_64(json.dumps(part)) for part in ({"alg": "none"}, claims)) + "."


def _base_64(text: str) -> str:
    return urlsafe_b64encode(text.encode()).rstrip(b"=").decode()


class SingleMessage:
    """A mechanism whose client sends one message. A server that answers it with an error expects an acknowledgement (OAUTHBEARER)."""

    def __init__(self, message: bytes) -> None:
        self._messages = [b"\x01", message]
        self.complete = False

    def next(self, challenge: bytes) -> bytes | None:
        """Returns the message at first. Acknowledges a challenge once, which is an error, and returns None otherwise."""
        if self._messages and (challenge or len(self._messages) == 2):
            return self._messages.pop()
        self.complete = bool(self._messages)
        return None


class ScramClient:
    """One exchange of SCRAM. The server's last message proves that it knows the password too, and is verified."""

    def __init__(self, hash_name: str, user: str, password: str, nonce: str, *, by_token: bool = False) -> None:
        self._hash_name = hash_name
        self._password = password.encode()
        self._nonce = nonce
        name = user.replace("=", "=3D").replace(",", "=2C")
        self._bare = f"n={name},r={nonce}" + ",tokenauth=true" * by_token
        self._step: Callable[[str], bytes | None] = self._first
        self.complete = False

    def next(self, challenge: bytes) -> bytes | None:
        """Returns client-first, then client-final, then None. Raises LoginFailed."""
        return self._step(challenge.decode("utf-8", "replace"))

    def _first(self, _: str) -> bytes:
        self._step = self._final
        return f"n,,{self._bare}".encode()

    def _final(self, challenge: str) -> bytes:
        match = _SERVER_FIRST.fullmatch(challenge)
        if match is None or not match[1].startswith(self._nonce) or len(match[1]) == len(self._nonce):
            raise LoginFailed("the server's first SCRAM message is invalid")
        iterations = int(match[3])
        if not MIN_ITERATIONS <= iterations <= MAX_ITERATIONS:
            raise LoginFailed(f"the server wants {iterations} iterations; {MIN_ITERATIONS} to {MAX_ITERATIONS} are accepted")
        try:
            salt = b64decode(match[2], validate=True)
        except NotBase64:
            raise LoginFailed("the server's first SCRAM message is invalid") from None
        salted = hashlib.pbkdf2_hmac(self._hash_name, self._password, salt, iterations)
        without_proof = f"c=biws,r={match[1]}"
        signed = f"{self._bare},{challenge},{without_proof}".encode()
        client_key = self._hmac(salted, b"Client Key")
        signature = self._hmac(hashlib.new(self._hash_name, client_key).digest(), signed)
        proof = bytes(one ^ other for one, other in zip(client_key, signature, strict=True))
        self._step = partial(self._verify, self._hmac(self._hmac(salted, b"Server Key"), signed))
        return f"{without_proof},p={b64encode(proof).decode()}".encode()

    def _verify(self, signature: bytes, challenge: str) -> None:
        expected = "v=" + b64encode(signature).decode()
        if not hmac.compare_digest(challenge.encode(), expected.encode()):
            raise LoginFailed("the server did not prove that it knows the password")
        self.complete = True

    def _hmac(self, key: bytes, data: bytes) -> bytes:
        return hmac.digest(key, data, self._hash_name)
