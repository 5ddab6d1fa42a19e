"""Explains a failed TLS handshake for the log: the usual cause is a client with another security.protocol."""

from __future__ import annotations

import ssl

from ..settings.listeners import Listener

NOT_TLS = ("HTTP_REQUEST", "HTTPS_PROXY_REQUEST", "WRONG_VERSION_NUMBER", "PACKET_LENGTH_TOO_LONG", "BAD_RECORD_TYPE")
"""OpenSSL's reasons for bytes that do not belong to TLS."""


def handshake_failure(error: OSError, listener: Listener) -> str:
    """Returns the reason for which a handshake has failed."""
    if isinstance(error, ssl.SSLError):
        reason = error.reason or str(error)
        if reason in NOT_TLS:
            return f"this looks like plaintext ({reason}), but the listener is {listener.security_protocol}"
        return reason
    return str(error) or type(error).__name__
