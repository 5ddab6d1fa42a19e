"""The client's side of SCRAM in a case: its last message depends on the nonce and the salt of the server."""

from __future__ import annotations

import hashlib
import hmac
import json
import re
from base64 import b64decode, b64encode
from collections.abc import Callable
from struct import pack

from odradek.protocol.messages.sasl_authenticate import SASL_AUTHENTICATE, SaslAuthenticateRequest
from odradek.protocol.messages.sasl_handshake import SASL_HANDSHAKE, SaslHandshakeRequest

from .case import ScramExchange, Send, SendRaw

LISTENER = "SASL"
SALT = b"salt of "
"""Beginning of the salts that cases choose. Other salts are random."""
TOKEN_SECRET = "secret of tokens"
"""The setting delegation.token.secret.key, from which the HMAC of a delegation token follows."""
HASHES = {"SCRAM-SHA-256": "sha256", "SCRAM-SHA-512": "sha512"}


def exchange(step: ScramExchange, send: Callable[[Send | SendRaw], str]) -> list[str]:
    """Returns the answers to the handshake, to client-first and to client-final."""
    handshake = SaslHandshakeRequest(mechanism=step.mechanism)
    answers = [send(Send(SASL_HANDSHAKE, step.version, handshake, listener=LISTENER))]
    challenge, shown = _token(step, step.first, send)
    nonce = re.search(r"(?:^|,)r=([^,]*)", step.first)
    if not challenge.startswith("r=") or nonce is None:
        return [*answers, shown]
    server_nonce, salt, iterations = challenge.split(",")
    shown_salt = salt if b64decode(salt[2:]).startswith(SALT) else "s=*"
    answers.append(f"r={nonce[1]}*,{shown_salt},{iterations}")
    header = step.first[: step.first.index("n=", 1)]
    without_proof = step.final(f"c={b64encode(header.encode()).decode()},{server_nonce}")
    digest = HASHES[step.mechanism]
    salted = hashlib.pbkdf2_hmac(digest, step.password.encode(), b64decode(salt[2:]), int(iterations[2:]))
    signed = f"{step.first.removeprefix(header)},{challenge},{without_proof}".encode()
    client_key = hmac.digest(salted, b"Client Key", digest)
    signature = hmac.digest(hashlib.new(digest, client_key).digest(), signed, digest)
    proof = step.proof(bytes(one ^ other for one, other in zip(client_key, signature, strict=True)))
    last, shown = _token(step, f"{without_proof},p={b64encode(proof).decode()}", send)
    verifier = b64encode(hmac.digest(hmac.digest(salted, b"Server Key", digest), signed, digest)).decode()
    return [*answers, "v=right" if last == f"v={verifier}" else shown]


def token_hmac(token_id: str) -> bytes:
    return hmac.digest(TOKEN_SECRET.encode(), token_id.encode(), "sha512")


def token_password(token_id: str) -> str:
    return b64encode(token_hmac(token_id)).decode()


def _token(step: ScramExchange, token: str, send: Callable[[Send | SendRaw], str]) -> tuple[str, str]:
    """Sends a token. Returns the token of the answer, "" if there is none, and the whole answer."""
    if not step.version:
        shown = send(SendRaw(pack(">i", len(token)) + token.encode(), listener=LISTENER))
        return bytes.fromhex(shown).decode() if re.fullmatch("(?:[0-9a-f]{2})+", shown) else "", shown
    shown = send(Send(SASL_AUTHENTICATE, 2, SaslAuthenticateRequest(auth_bytes=token.encode()), listener=LISTENER))
    return json.loads(shown).get("auth_bytes", "") if shown.startswith("{") else "", shown
