"""The SASL mechanisms SCRAM-SHA-256 and SCRAM-SHA-512, the server's side (RFC 5802, RFC 7677; Kafka's ScramSaslServer).

    client-first   n,,n=alice,r=<client nonce>
    server-first   r=<client nonce><server nonce>,s=<salt>,i=<iterations>
    client-final   c=<GS2 header>,r=<both nonces>,p=<proof>
    server-final   v=<signature of the server>

The proof shows that the client knows the password. The server compares the digest of the key in the proof with the stored key. Both nonces
and the GS2 header are verified, because a message of another exchange must not be accepted (CVE-2024-56128), and the authorization id
must be the user, because a user must not act as another one (CVE-2017-12610).

With the extension `tokenauth=true` the user name is the id of a delegation token and the password is its HMAC (KIP-48).
"""

from __future__ import annotations

import hmac
import re
from base64 import b64decode, b64encode
from collections.abc import Callable
from typing import NamedTuple

from .mechanism import AuthenticationFailed, Identity, InvalidCredentials
from .scram_credentials import ScramCredential, ScramMechanism

_NAME = r"(?:[^=,\x00\x80-\U0010ffff]|=2C|=3D)+"
_EXTENSIONS = r"(?:,[A-Za-z]+=[^,\x00\x80-\U0010ffff]+)*"
_BASE_64 = r"(?:[a-zA-Z0-9/+]{4})*(?:[a-zA-Z0-9/+]{3}=|[a-zA-Z0-9/+]{2}==)?"
CLIENT_FIRST = re.compile(rf"(n,(?:a=({_NAME}))?,)(n=({_NAME}),r=([!-+\--~]+)({_EXTENSIONS}))")
CLIENT_FINAL = re.compile(rf"(c=({_BASE_64}),r=([!-+\--~]+){_EXTENSIONS}),p=({_BASE_64})")
TOKEN_EXTENSION = "tokenauth=true"


class Account(NamedTuple):
    """The user that a credential belongs to. For a delegation token this is the token's owner, and the token expires at `expires_ms`."""

    user: str
    credential: ScramCredential
    expires_ms: int | None = None


Accounts = Callable[[str, ScramMechanism, bool], Account]
"""Returns the account for a name, which is the id of a delegation token if the third argument is true."""


class ScramServer:
    """One exchange. `nonce` is the server's part of the nonce, printable ASCII without a comma."""

    def __init__(self, mechanism: ScramMechanism, accounts: Accounts, nonce: str) -> None:
        self._mechanism = mechanism
        self._accounts = accounts
        self._nonce = nonce
        self._account: Account | None = None
        self.identity: Identity | None = None

    def evaluate(self, token: bytes) -> bytes:
        """Returns server-first for the first token and server-final for the second. Raises InvalidCredentials or AuthenticationFailed."""
        text = token.decode("utf-8", "replace")
        return self._server_first(text) if self._account is None else self._server_final(self._account, text)

    def _server_first(self, text: str) -> bytes:
        if (match := CLIENT_FIRST.fullmatch(text)) is None:
            raise InvalidCredentials("invalid client-first message")
        self._header, authorization_id, bare, name, client_nonce, extensions = match.groups("")
        user = name.replace("=2C", ",").replace("=3D", "=")
        self._by_token = TOKEN_EXTENSION in extensions.lower().split(",")
        self._account = account = self._accounts(user, self._mechanism, self._by_token)
        if authorization_id not in ("", name):
            raise AuthenticationFailed("Authentication failed: Client requested an authorization id that is different from username")
        self._nonce = client_nonce + self._nonce
        credential = account.credential
        server_first = f"r={self._nonce},s={b64encode(credential.salt).decode()},i={credential.iterations}"
        self._before = f"{bare},{server_first}"
        return server_first.encode()

    def _server_final(self, account: Account, text: str) -> bytes:
        if (match := CLIENT_FINAL.fullmatch(text)) is None:
            raise InvalidCredentials("invalid client-final message")
        without_proof, channel_binding, nonce, proof = match.groups()
        if not hmac.compare_digest(nonce, self._nonce):
            raise InvalidCredentials("the nonce is not that of this exchange")
        if b64decode(channel_binding) != self._header.encode():
            raise InvalidCredentials("the channel binding is not the GS2 header")
        signed = f"{self._before},{without_proof}".encode()
        self._verify(account.credential, b64decode(proof), signed)
        self.identity = Identity(account.user, account.expires_ms, self._by_token)
        return b"v=" + b64encode(self._mechanism.hmac(account.credential.server_key, signed))

    def _verify(self, credential: ScramCredential, proof: bytes, signed: bytes) -> None:
        signature = self._mechanism.hmac(credential.stored_key, signed)
        if len(proof) != len(signature):
            raise InvalidCredentials("a proof of the wrong length")
        client_key = bytes(one ^ other for one, other in zip(proof, signature, strict=True))
        if not hmac.compare_digest(self._mechanism.digest(client_key), credential.stored_key):
            raise InvalidCredentials("the proof does not match the password")
