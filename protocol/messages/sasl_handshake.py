"""SaslHandshake (17): selects the SASL mechanism with which the client authenticates (KIP-43).

After v0, tokens of the mechanism follow without Kafka's framing; after v1, in SaslAuthenticate requests (KIP-152). No version is flexible.
"""

from __future__ import annotations

from ..schema import Api, Int16, Message, versions


class SaslHandshakeRequest(Message):
    mechanism: str


class SaslHandshakeResponse(Message):
    error_code: Int16 = 0
    mechanisms: list[str]


SASL_HANDSHAKE = Api(17, versions(0, 1), SaslHandshakeRequest, SaslHandshakeResponse)
