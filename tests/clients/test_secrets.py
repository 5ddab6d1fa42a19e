"""No secret appears in what a cluster writes, answers or saves: logs, errors, descriptions, representations, snapshots and output.

Real clients use every secret first, rightly and wrongly.
"""

from __future__ import annotations

import json
import logging
import signal
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import confluent_kafka.admin
import pytest
from confluent_kafka import KafkaException, Producer
from confluent_kafka.admin import AdminClient

from odradek import Cluster
from odradek.broker.settings.properties import InvalidConfig
from odradek.protocol.messages.create_delegation_token import CREATE_DELEGATION_TOKEN, CreateDelegationTokenRequest
from odradek.protocol.messages.sasl_authenticate import SASL_AUTHENTICATE, SaslAuthenticateRequest
from odradek.protocol.messages.sasl_handshake import SASL_HANDSHAKE, SaslHandshakeRequest
from tests.broker.network.client import ask, connect
from tests.broker.process.serve_process import bootstrap_servers, running
from tests.broker.security.tokens_for_tests import unsecured
from tests.broker.tls.certificate_files import certificate, inline

pytestmark = pytest.mark.clients

confluent_admin: Any = confluent_kafka.admin  # its annotations leave out the names of SCRAM
PATIENCE_S = 30
MODULE = "org.apache.kafka.common.security.plain.PlainLoginModule"
USER, WRONG, JAAS, CREATED, TOKEN_KEY, STORE = "user-pw-1", "wrong-pw-2", "jaas-pw-3", "created-pw-4", "key-of-tokens-5", "store-pw-6"
KEY_LINE = certificate().key.decode().splitlines()[1]
SECRETS = (USER, WRONG, JAAS, CREATED, TOKEN_KEY, STORE, KEY_LINE)
SASL_LISTENER = {
    "listeners": "SASL_PLAINTEXT://127.0.0.1:0,SSL://127.0.0.1:0",
    "sasl.enabled.mechanisms": "PLAIN,SCRAM-SHA-256,SCRAM-SHA-512,OAUTHBEARER",
    "listener.name.sasl_plaintext.plain.sasl.jaas.config": f'{MODULE} required user_jaas="{JAAS}";',
    "delegation.token.secret.key": TOKEN_KEY,
    "ssl.truststore.password": STORE,
    **{f"listener.name.ssl.{name}": value for name, value in inline(certificate()).items()},
}


def found_in(outputs: dict[str, object], further: Iterable[str] = ()) -> list[tuple[str, str]]:
    """Returns the secrets that occur in the text of an output, with its name."""
    return [(name, secret) for name, output in outputs.items() for secret in (*SECRETS, *further) if secret in str(output)]


def plain_config(cluster: Cluster, user: str, password: str) -> dict[str, Any]:
    config = cluster.client_config("librdkafka", mechanism="PLAIN")
    return config | {"sasl.username": user, "sasl.password": password, "socket.timeout.ms": 2000, "log_level": 0}


def error_of(config: dict[str, Any]) -> str:
    """Returns the error with which a client is refused."""
    errors: list[str] = []
    admin = AdminClient(config | {"error_cb": lambda error: errors.append(error.str())})
    while not errors:
        admin.poll(1)
    return errors[0]


def describe_and_alter(config: dict[str, Any]) -> dict[str, object]:
    """Describes all settings, creates a user of SCRAM, and changes settings that are refused."""
    admin: Any = AdminClient(config)
    described = admin.describe_configs([confluent_admin.ConfigResource(confluent_admin.ResourceType.BROKER, "1")])
    info = confluent_admin.ScramCredentialInfo(confluent_admin.ScramMechanism.SCRAM_SHA_256, 4096)
    upsertion = confluent_admin.UserScramCredentialUpsertion("created", info, CREATED.encode())
    admin.alter_user_scram_credentials([upsertion])["created"].result(PATIENCE_S)
    outputs: dict[str, object] = {
        "DescribeConfigs": {name: entry.value for each in described.values() for name, entry in each.result(PATIENCE_S).items()},
        "users": admin.describe_user_scram_credentials(["created", "alice"])["created"].result(PATIENCE_S),
    }
    refused = {
        "listener.name.sasl_plaintext.plain.sasl.jaas.config": f'x required user_x="{JAAS}"',
        "listener.name.ssl.ssl.keystore.key": certificate().key.decode()[:150],
    }
    for name, value in refused.items():
        entry = confluent_admin.ConfigEntry(name, value, incremental_operation=confluent_admin.AlterConfigOpType.SET)
        with pytest.raises(KafkaException) as raised:
            resource = confluent_admin.ConfigResource(confluent_admin.ResourceType.BROKER, "1", incremental_configs=[entry])
            admin.incremental_alter_configs([resource])[resource].result(PATIENCE_S)
        outputs[f"error of {name}"] = raised.value
    return outputs


def delegation_token(cluster: Cluster) -> bytes:
    """Creates a delegation token and returns its secret."""
    with connect(cluster.bootstrap_servers) as connection:
        ask(connection, SASL_HANDSHAKE, 1, SaslHandshakeRequest(mechanism="PLAIN"))
        ask(connection, SASL_AUTHENTICATE, 2, SaslAuthenticateRequest(auth_bytes=f"\0alice\0{USER}".encode()))
        hmac: bytes = ask(connection, CREATE_DELEGATION_TOKEN, 3, CreateDelegationTokenRequest(renewers=[], max_lifetime_ms=-1)).hmac
        return hmac


def test_running_cluster_shows_no_secret(caplog: pytest.LogCaptureFixture, tmp_path: Path) -> None:
    caplog.set_level(logging.DEBUG)
    access_token = unsecured(claims={"sub": "dora", "exp": 1})
    with Cluster(nodes=1, users={"alice": USER}, topics={"t": 1}, settings=SASL_LISTENER, capture=tmp_path / "capture") as cluster:
        alice = plain_config(cluster, "alice", USER)
        producer = Producer(alice)
        producer.produce("t", b"v")
        assert producer.flush(PATIENCE_S) == 0
        oauth = {"sasl.mechanisms": "OAUTHBEARER", "oauth_cb": lambda config: (access_token, 2e10)}
        outputs: dict[str, object] = {
            **describe_and_alter(alice),
            "refused": error_of(plain_config(cluster, "alice", WRONG)),
            "refused SCRAM": error_of(plain_config(cluster, "alice", WRONG) | {"sasl.mechanisms": "SCRAM-SHA-512"}),
            "refused user of JAAS": error_of(plain_config(cluster, "jaas", WRONG)),
            "refused unknown user": error_of(plain_config(cluster, "nobody", JAAS)),
            "refused token": error_of(alice | oauth),
        }
        hmac = delegation_token(cluster)
        server = cluster._cluster._server
        (broker,) = server.cluster.brokers.values()
        outputs |= {
            "cluster": repr(cluster),
            "connections": cluster.connections(),
            "configuration": repr(server.config),
            "broker": repr(
                [broker, broker.config, broker.listeners, broker.sasl, broker.sasl.get("SASL_PLAINTEXT"), server.cluster.accounts]
            ),
            "snapshot": repr(cluster.snapshot()),
        }
        cluster.save(tmp_path / "state")
        outputs |= {"log": caplog.text, "tokens": repr(server.cluster.accounts.tokens)}
    assert "DescribeConfigs" in outputs and "delegation.token.secret.key" in str(outputs["DescribeConfigs"])
    assert "127.0.0.1" in caplog.text
    captured = (tmp_path / "capture").read_bytes()
    outputs["capture"] = captured.decode("latin-1")
    assert captured and hmac not in captured
    assert not found_in(outputs, (hmac.hex(), repr(hmac), access_token))


@pytest.mark.parametrize("log_format", ["text", "json"])
def test_output_of_serve_shows_no_secret(log_format: str) -> None:
    settings = [f"--set={name}={value}" for name, value in SASL_LISTENER.items()]
    with running(["--nodes=1", f"--user=alice:{USER}", f"--log-format={log_format}", *settings]) as process:
        address = bootstrap_servers(process)
        base: dict[str, Any] = {
            "bootstrap.servers": address,
            "security.protocol": "SASL_PLAINTEXT",
            "sasl.mechanisms": "PLAIN",
            "log_level": 0,
        }
        assert AdminClient(base | {"sasl.username": "alice", "sasl.password": USER}).list_topics(timeout=PATIENCE_S).brokers
        refused = error_of(base | {"sasl.username": "alice", "sasl.password": WRONG})
        process.send_signal(signal.SIGTERM)
        printed, logged = process.communicate(timeout=PATIENCE_S)
    assert "SASL_PLAINTEXT" in logged and (log_format == "text" or json.loads(logged.splitlines()[0]))
    assert not found_in({"stdout": printed, "stderr": logged, "refused": refused})


@pytest.mark.parametrize(
    "settings",
    [
        {"listener.name.sasl_plaintext.plain.sasl.jaas.config": f'{MODULE} required user_jaas="{JAAS}"'},
        {"listener.name.ssl.ssl.keystore.key": certificate().key.decode()[:150]},
        {"listener.name.ssl.ssl.keystore.location": "missing.p12", "listener.name.ssl.ssl.keystore.type": "PKCS12"},
    ],
)
def test_refused_settings_are_named_without_secrets(settings: dict[str, str]) -> None:
    with pytest.raises((InvalidConfig, ValueError)) as raised:
        Cluster(nodes=1, users={"alice": USER}, settings=SASL_LISTENER | settings).start()
    assert not found_in({"error": str(raised.value)})
