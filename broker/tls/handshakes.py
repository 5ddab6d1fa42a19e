"""TLS handshakes that fail: the client gets the alert that says why, and the log names the reason.

asyncio and uvloop drop a connection whose handshake fails without sending OpenSSL's alert. A Java client then retries as after a network
failure, instead of raising SslAuthenticationException. `AlertingObject` therefore reports the failure only when it is asked for the second
time: the first time it pretends to need more data, so that the event loop writes what OpenSSL has prepared. The connection ends when the
client closes it or sends more, or when the time for the handshake is over.
"""

from __future__ import annotations

import logging
import ssl
from typing import cast

from ..settings.listeners import Listener

NOT_TLS = ("HTTP_REQUEST", "HTTPS_PROXY_REQUEST", "WRONG_VERSION_NUMBER")
"""OpenSSL's reasons for bytes that do not belong to TLS."""

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
            text = "[KafkaServer id=%d] TLS handshake on listener %s failed: %s"
            network_log.info(text, listener.node_id, listener.name, explained(failure, listener))
            if failure.reason in NOT_TLS:
                raise  # OpenSSL sends no alert to a client that does not use TLS
            raise ssl.SSLWantReadError() from None


def explained(failure: ssl.SSLError, listener: Listener) -> str:
    """Returns the reason of a failed handshake. The usual cause is a client with another security.protocol."""
    reason = failure.reason or str(failure)
    if reason in NOT_TLS:
        return f"this looks like plaintext ({reason}), but the listener is {listener.security_protocol}"
    return reason
