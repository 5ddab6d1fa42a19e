"""The steps with which a client of the test cluster authenticates by SASL."""

from __future__ import annotations

from base64 import b64encode
from typing import Any

from scramp import ScramClient

from odradek.protocol.messages.sasl_authenticate import SASL_AUTHENTICATE, SaslAuthenticateRequest
from odradek.protocol.messages.sasl_handshake import SASL_HANDSHAKE, SaslHandshakeRequest
from tests.broker.harness import Client


def handshake(client: Client, mechanism: str = "PLAIN", version: int = 1) -> Any:
    return client.call(SASL_HANDSHAKE, version, SaslHandshakeRequest(mechanism=mechanism))


def token(client: Client, data: bytes | str) -> Any:
    """Sends a token of the mechanism, and returns the response, None if it is delayed."""
    client.send(SASL_AUTHENTICATE, 2, SaslAuthenticateRequest(auth_bytes=data.encode() if isinstance(data, str) else data))
    return client.receive()


def plain(client: Client, user: str = "alice", password: str = "secret") -> Any:
    """Authenticates by PLAIN, and returns the response to the token, None if it is delayed."""
    assert not handshake(client).error_code
    return token(client, f"\0{user}\0{password}")


def scram(client: Client, mechanism: str, user: str = "alice", password: str = "secret") -> Any:
    """Authenticates by SCRAM, and returns the response to the last token, None if it is delayed."""
    assert not handshake(client, mechanism).error_code
    exchange = ScramClient([mechanism], user, password)
    exchange.set_server_first(token(client, exchange.get_client_first()).auth_bytes.decode())
    response = token(client, exchange.get_client_final())
    if response is not None and not response.error_code:
        exchange.set_server_final(response.auth_bytes.decode())
    return response


def scram_with_token(client: Client, token_id: str, mac: bytes) -> Any:
    """Authenticates with a delegation token, and returns the response to the last token of the exchange."""
    assert not handshake(client, "SCRAM-SHA-256").error_code
    exchange = ScramClient(["SCRAM-SHA-256"], token_id, b64encode(mac).decode())
    first = f"{exchange.get_client_first()},tokenauth=true"
    exchange.client_first_bare = first.removeprefix("n,,")
    exchange.set_server_first(token(client, first).auth_bytes.decode())
    return token(client, exchange.get_client_final())
