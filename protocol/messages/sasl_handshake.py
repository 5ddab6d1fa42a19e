"""SaslHandshake (17): names the SASL mechanism by which the client is going to authenticate (KIP-43).

After v1 the tokens travel in SaslAuthenticate (KIP-152). There is no compact form.
"""

from __future__ import annotations

from ..schema import Api, Int16, Message, versions


class SaslHandshakeRequest(Message):
    mechanism: str


class SaslHandshakeResponse(Message):
    error_code: Int16 = 0
    mechanisms: list[str]


SASL_HANDSHAKE = Api(17, versions(0, 1), SaslHandshakeRequest, SaslHandshakeResponse)
