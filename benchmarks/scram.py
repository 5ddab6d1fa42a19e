"""A client of SCRAM-SHA-256 that connects, authenticates and disconnects. It derives its keys once, so that it costs little itself."""

from __future__ import annotations

import hashlib
import hmac
import socket
from base64 import b64decode, b64encode
from functools import cache
from struct import pack, unpack_from

HANDSHAKE, AUTHENTICATE = 17, 36
MECHANISM, DIGEST = b"SCRAM-SHA-256", "sha256"
FIRST = b"n=%b,r=bench"


class Refused(Exception):
    """The broker has not accepted the client."""


def connect(address: tuple[str, int], user: str, password: str) -> None:
    """Authenticates a new connection and closes it. Raises Refused."""
    with socket.create_connection(address, 10) as connection:
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        _ask(connection, HANDSHAKE, 1, pack(">h", len(MECHANISM)) + MECHANISM)
        first = FIRST % user.encode()
        challenge = _token(connection, b"n,," + first)
        nonce, salt, iterations = challenge.split(b",")
        client_key, stored_key = _keys(password.encode(), b64decode(salt[2:]), int(iterations[2:]))
        final = b"c=biws," + nonce
        signature = hmac.digest(stored_key, b",".join((first, challenge, final)), DIGEST)
        proof = bytes(one ^ other for one, other in zip(client_key, signature, strict=True))
        _token(connection, final + b",p=" + b64encode(proof))


@cache
def _keys(password: bytes, salt: bytes, iterations: int) -> tuple[bytes, bytes]:
    client_key = hmac.digest(hashlib.pbkdf2_hmac(DIGEST, password, salt, iterations), b"Client Key", DIGEST)
    return client_key, hashlib.sha256(client_key).digest()


def _token(connection: socket.socket, token: bytes) -> bytes:
    """Sends a token in SaslAuthenticate v0, and returns the token of the response."""
    body = _ask(connection, AUTHENTICATE, 0, pack(">i", len(token)) + token)
    message_size = max(0, unpack_from(">h", body, 2)[0])
    return body[8 + message_size :]


def _ask(connection: socket.socket, api_key: int, version: int, body: bytes) -> bytes:
    """Returns the body of the response, which begins with an error code."""
    frame = pack(">hhih", api_key, version, 0, -1) + body
    connection.sendall(pack(">i", len(frame)) + frame)
    (size,) = unpack_from(">i", _receive(connection, 4))
    response = _receive(connection, size)[4:]
    if unpack_from(">h", response)[0]:
        raise Refused(f"error code {unpack_from('>h', response)[0]}")
    return response


def _receive(connection: socket.socket, size: int) -> bytes:
    data = connection.recv(size, socket.MSG_WAITALL)
    if len(data) < size:
        raise Refused("the broker has closed the connection")
    return data
