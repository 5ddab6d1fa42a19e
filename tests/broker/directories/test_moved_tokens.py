"""Delegation tokens of a cluster that is exported and imported."""

from __future__ import annotations

import logging
import re
from base64 import b64encode
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from odradek import Cluster
from odradek.protocol.client.connection import ClientConnection
from odradek.protocol.client.settings import ClientSecurity
from odradek.protocol.messages.create_delegation_token import CREATE_DELEGATION_TOKEN, CreatableRenewers, CreateDelegationTokenRequest
from odradek.protocol.messages.describe_delegation_token import DESCRIBE_DELEGATION_TOKEN, DescribeDelegationTokenRequest
from tests import apache_kafka
from tests.broker.directories.exported_kafka import exported_kafka, properties_of
from tests.waiting import until

SECRET = {"delegation.token.secret.key": "key of tokens"}
OPTIONS: Any = {"users": {"alice": "secret"}, "settings": SECRET}
PROTOCOL, MECHANISM = "SASL_PLAINTEXT", "SCRAM-SHA-256"
SASL = f"""
listener.security.protocol.map=PLAINTEXT:PLAINTEXT,CONTROLLER:PLAINTEXT,SASL:{PROTOCOL}
sasl.enabled.mechanisms={MECHANISM}
listener.name.sasl.scram-sha-256.sasl.jaas.config=org.apache.kafka.common.security.scram.ScramLoginModule required;
"""


def connected(servers: str, user: str = "alice", password: str = "secret", *, by_token: bool = False) -> ClientConnection:
    host, _, port = servers.partition(":")
    return ClientConnection((host, int(port)), "tests", 30.0, ClientSecurity(PROTOCOL, MECHANISM, user, password, by_token=by_token))


def created(servers: str) -> Any:
    """Returns the response to CreateDelegationToken of alice."""
    renewers = [CreatableRenewers(principal_type="User", principal_name="bob")]
    with closing(connected(servers)) as connection:
        response = connection.call(CREATE_DELEGATION_TOKEN, CreateDelegationTokenRequest(renewers=renewers, max_lifetime_ms=-1))
    assert response.error_code == 0
    return response


def described(servers: str) -> list[Any]:
    """Returns what DescribeDelegationToken lists for alice, in the order of the ids."""
    with closing(connected(servers)) as connection:
        response = connection.call(DESCRIBE_DELEGATION_TOKEN, DescribeDelegationTokenRequest(owners=None))
    return sorted(response.tokens, key=lambda token: str(token.token_id))


def log_in(servers: str, token: Any) -> None:
    """Authenticates with a token. Raises LoginFailed."""
    connected(servers, token.token_id, b64encode(token.hmac).decode(), by_token=True).close()


@pytest.mark.apache_kafka
@pytest.mark.slow
def test_tokens_act_in_apache_kafka_and_back(tmp_path: Path) -> None:
    if missing := apache_kafka.missing():
        pytest.skip(f"{missing} is missing")
    with Cluster(nodes=1, **OPTIONS) as cluster:
        first = created(cluster.bootstrap_servers)
        before = described(cluster.bootstrap_servers)
        (node,) = cluster.export_log_dirs(tmp_path / "export")
    properties = properties_of(node.command)
    text = re.sub("(?m)^listeners=(.*)$", r"listeners=\1,SASL://127.0.0.1:9093", properties.read_text())
    properties.write_text(text + SASL)

    with exported_kafka([node.command]):
        (port,) = re.findall(r"SASL://127.0.0.1:(\d+)", properties.read_text())
        log_in(f"127.0.0.1:{port}", first)
        assert described(f"127.0.0.1:{port}") == before
        second = created(f"127.0.0.1:{port}")
        after = until(lambda: len(found := described(f"127.0.0.1:{port}")) == 2 and found)

    with Cluster(from_log_dirs=[properties.with_name("data")], **OPTIONS) as cluster:
        assert described(cluster.bootstrap_servers) == after
        log_in(cluster.bootstrap_servers, first)
        log_in(cluster.bootstrap_servers, second)


def test_tokens_without_the_secret_key_are_told(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    with Cluster(nodes=1, **OPTIONS) as cluster:
        created(cluster.bootstrap_servers)
        cluster.export_log_dirs(tmp_path)
    with caplog.at_level(logging.WARNING), Cluster(from_log_dirs=[tmp_path / "node-1" / "data"], users={"alice": "secret"}) as cluster:
        assert described(cluster.bootstrap_servers) == []
    assert "1 delegation token has no effect; set delegation.token.secret.key to that of the brokers" in caplog.text
