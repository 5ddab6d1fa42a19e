"""Real clients on secured listeners: TLS, client certificates, PLAIN and SCRAM, and principals in ACLs.

Each client gets exactly the settings that `cluster.client_config` returns.
"""

from __future__ import annotations

import asyncio
import json
import logging
import shutil
import subprocess
import sys
import time
from base64 import b64encode
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import aiokafka
import aiokafka.abc
import confluent_kafka.admin
import kafka
import pytest
from confluent_kafka import Consumer, KafkaError, Producer
from confluent_kafka.admin import AdminClient
from kafka.net.sasl.oauth import AbstractTokenProvider

from odradek.broker import Cluster
from odradek.broker.client_config import LOGIN_MODULES
from odradek.broker.security.oauthbearer_settings import LOGIN_MODULE
from odradek.protocol.messages.create_delegation_token import CREATE_DELEGATION_TOKEN, CreateDelegationTokenRequest
from odradek.protocol.messages.sasl_authenticate import SASL_AUTHENTICATE, SaslAuthenticateRequest
from odradek.protocol.messages.sasl_handshake import SASL_HANDSHAKE, SaslHandshakeRequest
from tests import apache_kafka
from tests.broker.network.test_server import ask, connect
from tests.broker.security.tokens_for_tests import unsecured

pytestmark = pytest.mark.clients

confluent_admin: Any = confluent_kafka.admin  # its annotations leave out the names of SCRAM
USERS = {"alice": "alice-secret", "bob": "bob-secret"}
MECHANISMS = ["PLAIN", "SCRAM-SHA-256", "SCRAM-SHA-512"]
PATIENCE_S = 60
MTLS = {"ssl.client.auth": "required"}
WITHOUT_SASL: dict[str, dict[str, Any]] = {"SSL": {"tls": True}, "mTLS": {"tls": True, "settings": MTLS}}


@pytest.fixture(scope="module", params=["SASL_PLAINTEXT", "SASL_SSL"])
def sasl_cluster(request: pytest.FixtureRequest) -> Iterator[Cluster]:
    with Cluster(nodes=2, topics={"t": 2}, tls=request.param == "SASL_SSL", users=USERS) as cluster:
        yield cluster


@pytest.fixture(scope="module", params=WITHOUT_SASL)
def tls_cluster(request: pytest.FixtureRequest) -> Iterator[Cluster]:
    with Cluster(nodes=2, topics={"t": 2}, **WITHOUT_SASL[request.param]) as cluster:
        yield cluster


def librdkafka(config: dict[str, Any]) -> bytes:
    """Writes a record and returns the value that a new consumer reads."""
    producer = Producer(config)
    producer.produce("t", b"librdkafka", partition=0)
    assert producer.flush(PATIENCE_S) == 0
    consumer = Consumer({**config, "group.id": "librdkafka", "auto.offset.reset": "earliest"})
    try:
        consumer.subscribe(["t"])
        while True:
            message = consumer.poll(PATIENCE_S)
            assert message is not None and message.error() is None
            if message.value() == b"librdkafka":
                return b"librdkafka"
    finally:
        consumer.close()


def kafka_python(config: dict[str, Any]) -> bytes:
    producer = kafka.KafkaProducer(**config)
    producer.send("t", b"kafka-python", partition=0).get(PATIENCE_S)
    producer.close()
    options = {"group_id": "kafka-python", "auto_offset_reset": "earliest", "consumer_timeout_ms": PATIENCE_S * 1000}
    consumer = kafka.KafkaConsumer("t", **config, **options)
    try:
        return next(bytes(record.value) for record in consumer if record.value == b"kafka-python")
    finally:
        consumer.close()


def aiokafka_client(config: dict[str, Any]) -> bytes:
    async def exchange() -> bytes:
        producer = aiokafka.AIOKafkaProducer(**config)
        await producer.start()
        await producer.send_and_wait("t", b"aiokafka", partition=0)
        await producer.stop()
        consumer = aiokafka.AIOKafkaConsumer("t", **config, group_id="aiokafka", auto_offset_reset="earliest")
        await consumer.start()
        try:
            async for record in consumer:
                if record.value == b"aiokafka":
                    return bytes(record.value)
        finally:
            await consumer.stop()
        raise AssertionError("the consumer has ended")

    return asyncio.run(asyncio.wait_for(exchange(), PATIENCE_S))


EXCHANGES: dict[str, Callable[[dict[str, Any]], bytes]] = {
    "librdkafka": librdkafka,
    "kafka-python": kafka_python,
    "aiokafka": aiokafka_client,
}


@pytest.mark.parametrize("client", EXCHANGES)
@pytest.mark.parametrize("mechanism", MECHANISMS)
def test_client_with_sasl_writes_and_reads(sasl_cluster: Cluster, client: str, mechanism: str) -> None:
    assert EXCHANGES[client](sasl_cluster.client_config(client, user="bob", mechanism=mechanism)) == client.encode()


@pytest.mark.parametrize("client", EXCHANGES)
def test_client_with_tls_writes_and_reads(tls_cluster: Cluster, client: str) -> None:
    assert EXCHANGES[client](tls_cluster.client_config(client)) == client.encode()


@pytest.mark.parametrize("mechanism", MECHANISMS)
def test_librdkafka_with_wrong_password_fails_to_authenticate(sasl_cluster: Cluster, mechanism: str) -> None:
    errors: list[KafkaError] = []
    config = sasl_cluster.client_config("librdkafka", mechanism=mechanism) | {"sasl.password": "wrong", "error_cb": errors.append}
    admin = AdminClient(config)
    while not errors:
        admin.poll(1)
    assert errors[0].code() == KafkaError._AUTHENTICATION


FAILING_PRODUCERS = {
    "kafka-python": "kafka.KafkaProducer(**config, bootstrap_timeout_ms=2000)",
    "aiokafka": "asyncio.run(start(config))",
}
PROGRAM = """
import asyncio, json, sys, aiokafka.helpers, kafka
config = json.loads(sys.argv[1])
if "ssl_cafile" in config and "aiokafka" in sys.argv:
    config["ssl_context"] = aiokafka.helpers.create_ssl_context(cafile=config.pop("ssl_cafile"))
async def start(config):
    await aiokafka.AIOKafkaProducer(**config).start()
"""


@pytest.mark.parametrize("client", FAILING_PRODUCERS)
def test_python_client_with_wrong_password_fails_to_authenticate(sasl_cluster: Cluster, client: str) -> None:
    """The client runs in a process of its own, because it leaves sockets open when it fails."""
    config = json.dumps(sasl_cluster.client_config("kafka-python") | {"sasl_plain_password": "wrong"})
    command = [sys.executable, "-c", PROGRAM + FAILING_PRODUCERS[client], config, client]
    ran = subprocess.run(command, capture_output=True, text=True, timeout=PATIENCE_S)
    assert ran.returncode and "kafka.errors." in ran.stderr


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


@pytest.mark.skipif(shutil.which("kcat") is None, reason="needs kcat")
def test_kcat_lists_topics(sasl_cluster: Cluster) -> None:
    """Old versions of kcat send a wrong nonce in SCRAM, which brokers refuse since CVE-2024-56128."""
    options = [f"-X{name}={value}" for name, value in sasl_cluster.client_config("librdkafka", mechanism="PLAIN").items()]
    listed = subprocess.run(["kcat", "-L", *options], capture_output=True, text=True, timeout=PATIENCE_S)
    assert 'topic "t" with 2 partitions' in listed.stdout, listed.stderr


def java(tmp_path: Path, config: dict[str, str], records: int = 1, pause_ms: int = 0) -> str:
    """Returns what SecureClient.java prints."""
    if missing := apache_kafka.missing():
        pytest.skip(f"{missing} is not installed")
    properties = tmp_path / "client.properties"
    properties.write_text("".join(f"{name}={value}\n".replace("\\", "\\\\") for name, value in config.items()))
    source = Path(__file__).with_name("SecureClient.java")
    command = apache_kafka.command(str(source), str(properties), str(records), str(pause_ms))
    return subprocess.run(command, capture_output=True, text=True, timeout=2 * PATIENCE_S).stdout


@pytest.mark.parametrize("mechanism", MECHANISMS)
def test_java_client_with_sasl_writes_and_reads(sasl_cluster: Cluster, tmp_path: Path, mechanism: str) -> None:
    assert java(tmp_path, sasl_cluster.client_config("java", mechanism=mechanism)) == "read 1\n"


def test_java_client_with_tls_writes_and_reads(tls_cluster: Cluster, tmp_path: Path) -> None:
    assert java(tmp_path, tls_cluster.client_config("java")) == "read 1\n"


def test_java_client_with_wrong_password_fails_to_authenticate(sasl_cluster: Cluster, tmp_path: Path) -> None:
    config = sasl_cluster.client_config("java", mechanism="PLAIN")
    config["sasl.jaas.config"] = config["sasl.jaas.config"].replace("alice-secret", "wrong")
    assert "SaslAuthenticationException: Authentication failed: Invalid username or password" in java(tmp_path, config)


def test_java_client_without_the_demanded_certificate_fails(tmp_path: Path) -> None:
    with Cluster(nodes=1, tls=True, settings=MTLS) as cluster:
        config = {name: value for name, value in cluster.client_config("java").items() if "key" not in name}
        assert "SslAuthenticationException" in java(tmp_path, config)


# OAUTHBEARER, delegation tokens and sessions

OAUTH = {"sasl.enabled.mechanisms": "OAUTHBEARER,PLAIN", "delegation.token.secret.key": "key of tokens"}


@pytest.fixture(scope="module")
def oauth_cluster() -> Iterator[Cluster]:
    with Cluster(nodes=1, topics={"t": 2}, users=USERS, settings=OAUTH) as cluster:
        yield cluster


def oauth_token() -> str:
    return unsecured(claims={"sub": "dora", "exp": int(time.time()) + 3600})


def test_librdkafka_with_oauth_writes_and_reads(oauth_cluster: Cluster) -> None:
    config = {
        "bootstrap.servers": oauth_cluster.bootstrap_servers,
        "security.protocol": "SASL_PLAINTEXT",
        "sasl.mechanisms": "OAUTHBEARER",
        "oauth_cb": lambda options: (oauth_token(), time.time() + 3600),
    }
    assert librdkafka(config) == b"librdkafka"


def test_kafka_python_with_oauth_writes_and_reads(oauth_cluster: Cluster) -> None:
    class Provider(AbstractTokenProvider):  # type: ignore[misc]
        def token(self) -> str:
            return oauth_token()

    config = {"sasl_mechanism": "OAUTHBEARER", "sasl_oauth_token_provider": Provider()}
    address = {"bootstrap_servers": oauth_cluster.bootstrap_servers, "security_protocol": "SASL_PLAINTEXT"}
    assert kafka_python(address | config) == b"kafka-python"


def test_aiokafka_with_oauth_writes_and_reads(oauth_cluster: Cluster) -> None:
    class Provider(aiokafka.abc.AbstractTokenProvider):  # type: ignore[misc]
        async def token(self) -> str:
            return oauth_token()

    config = {"sasl_mechanism": "OAUTHBEARER", "sasl_oauth_token_provider": Provider()}
    address = {"bootstrap_servers": oauth_cluster.bootstrap_servers, "security_protocol": "SASL_PLAINTEXT"}
    assert aiokafka_client(address | config) == b"aiokafka"


def test_java_client_with_oauth_writes_and_reads(oauth_cluster: Cluster, tmp_path: Path) -> None:
    config = {
        "bootstrap.servers": oauth_cluster.bootstrap_servers,
        "security.protocol": "SASL_PLAINTEXT",
        "sasl.mechanism": "OAUTHBEARER",
        "sasl.jaas.config": f'{LOGIN_MODULE} required unsecuredLoginStringClaim_sub="dora";',
    }
    assert java(tmp_path, config) == "read 1\n"


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


@pytest.mark.parametrize("mechanism", MECHANISMS)
def test_java_client_authenticates_again_before_its_session_ends(mechanism: str, tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    """The client writes for three lifetimes of a session. Its connections stay open, so no record is sent twice."""
    caplog.set_level(logging.INFO)
    with Cluster(nodes=1, topics={"t": 1}, users=USERS, settings={"connections.max.reauth.ms": 2000}) as cluster:
        assert java(tmp_path, cluster.client_config("java", mechanism=mechanism), records=12, pause_ms=500) == "read 12\n"
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
