"""Real clients on secured listeners: TLS, client certificates, PLAIN and SCRAM, and principals in ACLs.

Each client gets exactly the settings that `cluster.client_config` returns. `test_security_matrix.py` combines all listeners and mechanisms.
"""

from __future__ import annotations

import logging
import subprocess
from base64 import b64encode
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import confluent_kafka.admin
import pytest
from confluent_kafka import Consumer, KafkaError, Producer
from confluent_kafka.admin import AdminClient

from odradek.broker import Cluster
from odradek.broker.embedding.client_config import LOGIN_MODULES
from odradek.protocol.messages.create_delegation_token import CREATE_DELEGATION_TOKEN, CreateDelegationTokenRequest
from odradek.protocol.messages.sasl_authenticate import SASL_AUTHENTICATE, SaslAuthenticateRequest
from odradek.protocol.messages.sasl_handshake import SASL_HANDSHAKE, SaslHandshakeRequest
from tests import apache_kafka
from tests.broker.network.client import ask, connect
from tests.clients.secured_clients import EXCHANGES

pytestmark = pytest.mark.clients

confluent_admin: Any = confluent_kafka.admin  # its annotations leave out the names of SCRAM
USERS = {"alice": "alice-secret", "bob": "bob-secret"}
PATIENCE_S = 60
MTLS = {"ssl.client.auth": "required"}


@pytest.fixture(scope="module")
def sasl_cluster() -> Iterator[Cluster]:
    with Cluster(nodes=2, topics={"t": 2}, tls=True, users=USERS) as cluster:
        yield cluster


@pytest.fixture(scope="module")
def tls_cluster() -> Iterator[Cluster]:
    with Cluster(nodes=2, topics={"t": 2}, tls=True, settings=MTLS) as cluster:
        yield cluster


@pytest.mark.parametrize("client", EXCHANGES)
def test_client_with_sasl_writes_and_reads(sasl_cluster: Cluster, client: str) -> None:
    assert EXCHANGES[client](sasl_cluster.client_config(client, user="bob"), client.encode()) == client.encode()


@pytest.mark.parametrize("client", EXCHANGES)
def test_client_with_certificate_writes_and_reads(tls_cluster: Cluster, client: str) -> None:
    assert EXCHANGES[client](tls_cluster.client_config(client), client.encode()) == client.encode()


def test_user_created_by_an_admin_client_authenticates(sasl_cluster: Cluster) -> None:
    config = sasl_cluster.client_config("librdkafka", mechanism="PLAIN")
    info = confluent_admin.ScramCredentialInfo(confluent_admin.ScramMechanism.SCRAM_SHA_256, 8192)
    admin = AdminClient(config)
    admin.alter_user_scram_credentials([confluent_admin.UserScramCredentialUpsertion("carol", info, b"carol-secret")])["carol"].result(
        PATIENCE_S
    )
    carol = {"sasl.mechanisms": "SCRAM-SHA-256", "sasl.username": "carol", "sasl.password": "carol-secret"}
    assert "t" in AdminClient(config | carol).list_topics(timeout=PATIENCE_S).topics


def test_acls_allow_and_deny_real_principals() -> None:
    acls = ["User:alice:allow:write,create:topic:orders-*", "User:bob:allow:read:topic:*", "User:bob:allow:read:group:bobs"]
    with Cluster(nodes=1, users=USERS, acls=acls, settings={"auto.create.topics.enable": True}) as cluster:
        outcomes: list[KafkaError | None] = []
        alice = Producer(cluster.client_config("librdkafka", user="alice") | {"topic.metadata.propagation.max.ms": 0})
        for topic in ("orders-1", "other"):
            alice.produce(topic, b"v", on_delivery=lambda error, message: outcomes.append(error))
            alice.flush(PATIENCE_S)
        assert outcomes[0] is None
        assert outcomes[1] is not None and outcomes[1].code() == KafkaError.TOPIC_AUTHORIZATION_FAILED
        config = cluster.client_config("librdkafka", user="bob") | {"auto.offset.reset": "earliest"}
        for group, expected in (("bobs", None), ("others", KafkaError.GROUP_AUTHORIZATION_FAILED)):
            consumer = Consumer(config | {"group.id": group})
            consumer.subscribe(["orders-1"])
            message = consumer.poll(PATIENCE_S)
            assert message is not None
            error = message.error()
            assert (error and error.code()) == expected
            consumer.close()


def test_super_user_passes_all_checks() -> None:
    settings = {"super.users": "User:alice"}
    with Cluster(nodes=1, users=USERS, acls=["User:*:deny:all:topic:*"], settings=settings, topics={"t": 1}) as cluster:
        found = {user: AdminClient(cluster.client_config("librdkafka", user=user)).list_topics(timeout=PATIENCE_S).topics for user in USERS}
        assert {user: list(topics) for user, topics in found.items()} == {"alice": ["t"], "bob": []}


def test_principal_of_a_certificate_is_used_in_acls() -> None:
    settings = {"ssl.client.auth": "required", "ssl.principal.mapping.rules": "RULE:^CN=(.*)$/$1/"}
    acls = ["User:client:allow:write,describe:topic:t"]
    with Cluster(nodes=1, tls=True, topics={"t": 1}, acls=acls, settings=settings) as cluster:
        producer = Producer(cluster.client_config("librdkafka"))
        errors: list[KafkaError | None] = []
        producer.produce("t", b"v", on_delivery=lambda error, message: errors.append(error))
        assert (producer.flush(PATIENCE_S), errors) == (0, [None])


def test_librdkafka_without_the_demanded_certificate_fails() -> None:
    with Cluster(nodes=1, tls=True, settings=MTLS) as cluster:
        config = cluster.client_config("librdkafka")
        del config["ssl.certificate.location"], config["ssl.key.location"]
        errors: list[KafkaError] = []
        admin = AdminClient(config | {"error_cb": errors.append})
        while not errors:
            admin.poll(1)
        assert "certificate required" in errors[0].str()


def java(tmp_path: Path, config: dict[str, str], records: int = 1, pause_ms: int = 0) -> str:
    """Returns what SecureClient.java prints."""
    if missing := apache_kafka.missing():
        pytest.skip(f"{missing} is not installed")
    properties = tmp_path / "client.properties"
    settings = config | {"records": str(records), "pause.ms": str(pause_ms)}
    properties.write_text("".join(f"{name}={value}\n".replace("\\", "\\\\") for name, value in settings.items()))
    source = Path(__file__).with_name("SecureClient.java")
    command = apache_kafka.command(str(source), str(properties))
    return subprocess.run(command, capture_output=True, text=True, timeout=2 * PATIENCE_S).stdout


def test_java_client_with_sasl_writes_and_reads(sasl_cluster: Cluster, tmp_path: Path) -> None:
    assert java(tmp_path, sasl_cluster.client_config("java")) == "read 1\n"


def test_java_client_with_certificate_writes_and_reads(tls_cluster: Cluster, tmp_path: Path) -> None:
    assert java(tmp_path, tls_cluster.client_config("java")) == "read 1\n"


def test_java_client_without_the_demanded_certificate_fails(tmp_path: Path) -> None:
    with Cluster(nodes=1, tls=True, settings=MTLS) as cluster:
        config = {name: value for name, value in cluster.client_config("java").items() if "key" not in name}
        assert "SslAuthenticationException" in java(tmp_path, config)


# Delegation tokens and sessions


def test_java_client_with_delegation_token_writes_and_reads(tmp_path: Path) -> None:
    with Cluster(nodes=1, topics={"t": 1}, users=USERS, settings={"delegation.token.secret.key": "key of tokens"}) as cluster:
        with connect(cluster.bootstrap_servers) as connection:
            ask(connection, SASL_HANDSHAKE, 1, SaslHandshakeRequest(mechanism="PLAIN"))
            ask(connection, SASL_AUTHENTICATE, 2, SaslAuthenticateRequest(auth_bytes=b"\0alice\0alice-secret"))
            token = ask(connection, CREATE_DELEGATION_TOKEN, 3, CreateDelegationTokenRequest(renewers=[], max_lifetime_ms=-1))
        options = f'username="{token.token_id}" password="{b64encode(token.hmac).decode()}" tokenauth="true"'
        config = cluster.client_config("java", mechanism="SCRAM-SHA-256")
        config["sasl.jaas.config"] = f"{LOGIN_MODULES['SCRAM-SHA-256']} required {options};"
        assert java(tmp_path, config) == "read 1\n"


def test_java_client_authenticates_again_before_its_session_ends(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    """The client writes for three lifetimes of a session. Its connections stay open, so no record is sent twice."""
    caplog.set_level(logging.INFO)
    with Cluster(nodes=1, topics={"t": 1}, users=USERS, settings={"connections.max.reauth.ms": 2000}) as cluster:
        assert java(tmp_path, cluster.client_config("java"), records=12, pause_ms=500) == "read 12\n"
    assert "the session has expired" not in caplog.text


def test_librdkafka_authenticates_again_before_its_session_ends(caplog: pytest.LogCaptureFixture) -> None:
    """The client writes one transaction for two lifetimes of a session."""
    caplog.set_level(logging.INFO)
    with Cluster(nodes=1, topics={"t": 1}, users=USERS, settings={"connections.max.reauth.ms": 1500}) as cluster:
        producer = Producer(cluster.client_config("librdkafka") | {"transactional.id": "again"})
        producer.init_transactions(PATIENCE_S)
        producer.begin_transaction()
        delivered: list[KafkaError | None] = []
        for number in range(15):
            producer.produce("t", str(number).encode(), on_delivery=lambda error, message: delivered.append(error))
            producer.flush(PATIENCE_S)
            producer.poll(0.2)
        producer.commit_transaction(PATIENCE_S)
        assert delivered == [None] * 15
    assert "the session has expired" not in caplog.text
