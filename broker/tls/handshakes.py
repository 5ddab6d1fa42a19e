"""TLS handshakes that fail: the client gets the alert that says why, and the log names the reason.

asyncio and uvloop drop a connection whose handshake fails without sending OpenSSL's alert. A Java client then retries as after a network
failure, instead of raising SslAuthenticationException. `AlertingObject` therefore reports the failure only when it is asked for the second
time: the first time it pretends to need more data, so that the event loop writes what OpenSSL has prepared. The connection ends when the
client closes it or sends more, or when the time for the handshake is over (`HANDSHAKE_TIMEOUT_S` in network/socket_acceptor.py).

Event loops create the TLS objects of connections and keep them to themselves. The task that opens a connection therefore sets `on_failure`
for its context, in which the event loop runs the handshake too.
"""

from __future__ import annotations

import logging
import ssl
from collections.abc import Callable
from contextvars import ContextVar
from typing import cast

from ..settings.listeners import Listener

NOT_TLS = ("HTTP_REQUEST", "HTTPS_PROXY_REQUEST", "WRONG_VERSION_NUMBER")
"""OpenSSL's reasons for bytes that do not belong to TLS."""

CAUSES = {
    "ALERT_UNKNOWN_CA": "the client does not trust the authority (CA) of the broker's certificate",
    "ALERT_CERTIFICATE_UNKNOWN": "the client does not accept the broker's certificate: its authority (CA), its host name or its time",
    "ALERT_BAD_CERTIFICATE": "the client does not accept the broker's certificate: its host name, or how it is signed",
    "ALERT_CERTIFICATE_EXPIRED": "for the client, the broker's certificate has expired or is not valid yet",
    "PEER_DID_NOT_RETURN_A_CERTIFICATE": "the client has shown no certificate, which ssl.client.auth=required demands",
    "CERTIFICATE_VERIFY_FAILED": "the client's certificate is not signed by an authority (CA) of ssl.truststore.*",
    "UNSUPPORTED_PROTOCOL": "the client offers no version of TLS that ssl.enabled.protocols contains",
    "NO_SHARED_CIPHER": "the client offers no cipher suite that the broker may use",
}
"""The causes by the last part of OpenSSL's reasons: TLSV1_ALERT_UNKNOWN_CA ends with the first one."""

on_failure: ContextVar[Callable[[str], None] | None] = ContextVar("on_failure", default=None)
"""The function that is told why the handshake of a connection has failed."""

network_log = logging.getLogger("kafka.network.SocketServer")


class ListenerContext(ssl.SSLContext):
    """The context of a listener whose failed handshakes are logged."""

    listener: Listener

    @classmethod
    def of(cls, listener: Listener) -> ListenerContext:
        context = cls(ssl.PROTOCOL_TLS_SERVER)
        context.listener = listener
        context.sslobject_class = AlertingObject
        return context


class AlertingObject(ssl.SSLObject):
    """The TLS of one connection."""

    _failure: ssl.SSLError | None = None

    def do_handshake(self) -> None:
        """Continues the handshake. Raises SSLWantReadError for more data, and SSLError when called again after a failure."""
        if self._failure is not None:
            raise self._failure
        try:
            super().do_handshake()
        except (ssl.SSLWantReadError, ssl.SSLWantWriteError):
            raise
        except ssl.SSLError as failure:
            self._failure = failure
            listener = cast(ListenerContext, self.context).listener
            reason = cause_of(failure, listener)
            network_log.info("[KafkaServer id=%d] TLS handshake on listener %s failed: %s", listener.node_id, listener.name, reason)
            if (tell := on_failure.get()) is not None:
                tell(reason)
            if failure.reason in NOT_TLS:
                raise  # OpenSSL sends no alert to a client that does not use TLS
            raise ssl.SSLWantReadError() from None


def cause_of(failure: ssl.SSLError, listener: Listener) -> str:
    """Returns the cause of a failed handshake, with OpenSSL's reason. The usual cause is a client with another security.protocol."""
    reason = failure.reason or str(failure)
    if reason in NOT_TLS:
        return f"this looks like plaintext ({reason}), but the listener is {listener.security_protocol}"
    cause = next((text for end, text in CAUSES.items() if reason.endswith(end)), "")
    return f"{cause} ({reason})" if cause else reason
