"""TLS handshakes that fail: the alert for the client, and the reason in the log."""

from __future__ import annotations

import logging
import ssl

import pytest

from odradek.broker.settings.listeners import Listener
from odradek.broker.tls.handshakes import AlertingObject, ListenerContext
from tests.broker.tls.certificate_files import certificate, written

LISTENER = Listener(1, "EXTERNAL", "", 0, "", 0, "SSL")


@pytest.fixture
def context(tmp_path: object) -> ListenerContext:
    context = ListenerContext.of(LISTENER)
    issued = certificate()
    context.load_cert_chain(written(tmp_path / "server.pem", issued.chain + issued.key))  # type: ignore[operator]
    return context


def test_failure_first_sends_the_alert_and_then_raises(context: ListenerContext, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO)
    incoming, outgoing = ssl.MemoryBIO(), ssl.MemoryBIO()
    server = context.wrap_bio(incoming, outgoing, server_side=True)
    assert isinstance(server, AlertingObject)
    incoming.write(b"\x17\x03\x03\x00\x10" + bytes(16))  # application data before the handshake
    with pytest.raises(ssl.SSLWantReadError):
        server.do_handshake()
    assert outgoing.read()[:1] == b"\x15"  # an alert
    with pytest.raises(ssl.SSLError, match="UNEXPECTED_MESSAGE"):
        server.do_handshake()
    assert caplog.text.count("[KafkaServer id=1] TLS handshake on listener EXTERNAL failed: UNEXPECTED_MESSAGE") == 1


@pytest.mark.parametrize("data", [b"\0\0\0\x0a\0\x12\0\0\0\0\0\1\xff\xff", b"GET / HTTP/1.1\r\n\r\n"])
def test_failure_of_plaintext_raises_and_names_both_protocols(
    context: ListenerContext, data: bytes, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO)
    incoming = ssl.MemoryBIO()
    server = context.wrap_bio(incoming, ssl.MemoryBIO(), server_side=True)
    incoming.write(data)
    with pytest.raises(ssl.SSLError):
        server.do_handshake()
    assert "this looks like plaintext (" in caplog.text and "but the listener is SSL" in caplog.text
