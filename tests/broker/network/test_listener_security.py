"""Warnings about listeners that are open to every host, or that no client can use."""

from __future__ import annotations

import pytest

from odradek.broker import Cluster

pytestmark = pytest.mark.sockets


def test_plain_listener_without_users_is_reported(caplog: pytest.LogCaptureFixture) -> None:
    settings = {"listeners": "SASL_PLAINTEXT://127.0.0.1:0", "sasl.enabled.mechanisms": "PLAIN"}
    with Cluster(nodes=1, settings=settings):
        assert "listener SASL_PLAINTEXT enables PLAIN but has no users" in caplog.text


@pytest.mark.parametrize(("host", "warnings"), [("0.0.0.0", 1), ("127.0.0.1", 0)])
def test_listening_on_all_addresses_logs_one_warning(host: str, warnings: int, caplog: pytest.LogCaptureFixture) -> None:
    settings = {"listeners": f"PLAINTEXT://{host}:0", "advertised.listeners": "PLAINTEXT://127.0.0.1:0"}
    with Cluster(nodes=3, settings=settings):
        pass
    texts = [entry.getMessage() for entry in caplog.records if entry.levelname == "WARNING"]
    assert len(texts) == warnings
    assert all("listening on all addresses without encryption and authentication" in text for text in texts)
