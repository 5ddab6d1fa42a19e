"""Key sets for OAuth tokens: read from files and URLs when the cluster starts, and again at intervals."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path

import pytest

from odradek.broker import Cluster
from odradek.broker.network.server import Server
from odradek.protocol.messages.sasl_authenticate import SASL_AUTHENTICATE, SaslAuthenticateRequest
from odradek.protocol.messages.sasl_handshake import SASL_HANDSHAKE, SaslHandshakeRequest
from tests.broker.network.client import ask, connect
from tests.broker.security.tokens_for_tests import Signer, key_set_text

URL = "sasl.oauthbearer.jwks.endpoint.url"
REFRESH = "sasl.oauthbearer.jwks.endpoint.refresh.ms"
SASL = {"listeners": "SASL_PLAINTEXT://127.0.0.1:0", "sasl.enabled.mechanisms": "OAUTHBEARER"}
CLAIMS = {"sub": "alice", "iat": 1, "exp": 4_102_444_800}
FIRST, SECOND = Signer("ES256", "first"), Signer("RS256", "second")


def accepts(cluster: Cluster, signer: Signer) -> bool:
    with connect(cluster.bootstrap_servers) as connection:
        ask(connection, SASL_HANDSHAKE, 1, SaslHandshakeRequest(mechanism="OAUTHBEARER"))
        message = f"n,,\x01auth=Bearer {signer.token(CLAIMS)}\x01\x01".encode()
        answer = ask(connection, SASL_AUTHENTICATE, 2, SaslAuthenticateRequest(auth_bytes=message))
        assert not answer.error_code
        assert answer.auth_bytes in (b"", b'{"status":"invalid_token"}')
        return not answer.auth_bytes


@contextmanager
def served(text: str) -> Iterator[str]:
    """Serves a text over HTTP and yields its URL."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_response(200)
            self.end_headers()
            self.wfile.write(text.encode())

        def log_message(self, format: str, *args: object) -> None:  # noqa: A002
            """Writes no log."""

    with HTTPServer(("127.0.0.1", 0), Handler) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.server_port}/keys"
        finally:
            server.shutdown()
            thread.join()


def test_key_set_of_a_file_verifies_tokens(tmp_path: Path) -> None:
    file = tmp_path / "keys.json"
    file.write_text(key_set_text(FIRST))
    with Cluster(nodes=1, settings={**SASL, URL: file.as_uri()}) as cluster:
        assert [accepts(cluster, signer) for signer in (FIRST, SECOND)] == [True, False]


def test_key_set_of_a_url_verifies_tokens() -> None:
    with served(key_set_text(SECOND)) as url, Cluster(nodes=1, settings={**SASL, URL: url}) as cluster:
        assert [accepts(cluster, signer) for signer in (FIRST, SECOND)] == [False, True]


def test_key_set_is_read_again_at_intervals(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    file = tmp_path / "keys.json"
    file.write_text(key_set_text(FIRST))
    with Cluster(nodes=1, settings={**SASL, URL: file.as_uri(), REFRESH: 10}) as cluster:
        file.write_text("nonsense")
        while "keeping the former keys" not in caplog.text:
            assert accepts(cluster, FIRST)
        file.write_text(key_set_text(SECOND))
        while not accepts(cluster, SECOND):
            assert cluster.bootstrap_servers
        assert not accepts(cluster, FIRST)


@pytest.mark.parametrize(
    ("content", "complaint"), [(None, "cannot read"), ("nonsense", "not a JSON Web Key Set"), ("[" * 2_000_000, "more than")]
)
def test_key_set_that_cannot_be_read_ends_the_start(tmp_path: Path, content: str | None, complaint: str) -> None:
    file = tmp_path / "keys.json"
    if content is not None:
        file.write_text(content)
    with pytest.raises(ValueError, match=complaint):
        Cluster(nodes=1, settings={**SASL, URL: file.as_uri()}).start()


def test_key_set_url_cannot_be_changed_by_a_client(tmp_path: Path) -> None:
    from odradek.broker.settings.properties import InvalidConfig

    file = tmp_path / "keys.json"
    file.write_text(key_set_text(FIRST))
    with Cluster(nodes=1, settings={**SASL, URL: file.as_uri()}) as cluster:
        server: Server = cluster._cluster._server
        with pytest.raises(InvalidConfig, match="cannot be changed while the broker runs"):
            server.cluster.check_security(
                server.cluster.brokers[1], {f"listener.name.sasl_plaintext.{URL}": "http://127.0.0.1:1/"}, cluster_wide=False
            )
