"""The settings that clients need to connect."""

from __future__ import annotations

import ssl
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from odradek.broker import Cluster
from odradek.broker.embedding.client_config import CLIENTS, ClientAccess

USERS = {"alice": 'se"cret', "bob": "hunter2"}


@pytest.fixture(scope="module")
def cluster() -> Iterator[Cluster]:
    with Cluster(nodes=1, tls=True, users=USERS) as cluster:
        yield cluster


def test_client_config_without_security_has_the_address_only() -> None:
    with Cluster(nodes=1) as cluster:
        for client in CLIENTS:
            values = sorted(map(str, cluster.client_config(client).values()))
            addresses = [cluster.bootstrap_servers] if client in ("kafkajs", "franz-go") else [cluster.bootstrap_servers, "PLAINTEXT"]
            assert values in (sorted(addresses), [str(addresses)])


def test_client_config_of_librdkafka(cluster: Cluster) -> None:
    assert cluster.client_config("librdkafka") == {
        "bootstrap.servers": cluster.bootstrap_servers,
        "security.protocol": "SASL_SSL",
        "ssl.ca.location": cluster.tls.ca_file,
        "sasl.mechanisms": "SCRAM-SHA-512",
        "sasl.username": "alice",
        "sasl.password": 'se"cret',
    }


def test_client_config_of_java_quotes_the_password(cluster: Cluster) -> None:
    config = cluster.client_config("java", mechanism="PLAIN")
    assert config["sasl.mechanism"] == "PLAIN"
    module = "org.apache.kafka.common.security.plain.PlainLoginModule"
    assert config["sasl.jaas.config"] == f'{module} required username="alice" password="se\\"cret";'
    assert Path(config["ssl.truststore.location"]).stat().st_size
    assert (config["ssl.truststore.type"], "ssl.keystore.location" in config) == ("PKCS12", False)


def test_client_config_of_python_clients(cluster: Cluster) -> None:
    config = cluster.client_config("kafka-python", user="bob", mechanism="SCRAM-SHA-256")
    assert (config["sasl_plain_username"], config["sasl_plain_password"], config["sasl_mechanism"]) == ("bob", "hunter2", "SCRAM-SHA-256")
    assert config["ssl_cafile"] == cluster.tls.ca_file
    assert isinstance(cluster.client_config("aiokafka")["ssl_context"], ssl.SSLContext)


def test_client_config_of_other_languages(cluster: Cluster) -> None:
    kafkajs = cluster.client_config("kafkajs", mechanism="PLAIN")
    assert kafkajs["brokers"] == [cluster.bootstrap_servers]
    assert kafkajs["ssl"]["ca"][0].startswith("-----BEGIN CERTIFICATE-----")
    assert kafkajs["sasl"] == {"mechanism": "plain", "username": "alice", "password": 'se"cret'}
    franz_go = cluster.client_config("franz-go", user="bob")
    assert franz_go == {
        "seed_brokers": [cluster.bootstrap_servers],
        "tls": {"ca_cert_path": cluster.tls.ca_file},
        "sasl": {"method": "scram-sha-512", "user": "bob", "pass": "hunter2"},
    }
    spark = cluster.client_config("spark")
    assert spark == {f"kafka.{name}": value for name, value in cluster.client_config("java").items()}


def test_client_config_contains_a_certificate_on_demand() -> None:
    with Cluster(nodes=1, tls=True, settings={"ssl.client.auth": "required"}) as cluster:
        configs: dict[str, dict[str, Any]] = {client: cluster.client_config(client) for client in CLIENTS}
        assert (
            configs["librdkafka"]["ssl.certificate.location"] == configs["kafka-python"]["ssl_certfile"] == cluster.tls.client_certificate
        )
        assert configs["java"]["ssl.keystore.location"] == cluster.tls.client_key_store
        assert configs["kafkajs"]["ssl"]["cert"] == Path(cluster.tls.client_certificate).read_text()
        assert configs["franz-go"]["tls"]["client_key_path"] == cluster.tls.client_key


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        ({"client": "sarama"}, "unknown client 'sarama'; use one of 'confluent-kafka', 'librdkafka', 'kafka-python'"),
        ({"client": "java", "user": "eve"}, "unknown user 'eve'; users of the cluster are alice, bob"),
        ({"client": "java", "mechanism": "GSSAPI"}, "unknown mechanism 'GSSAPI'; use one of"),
    ],
)
def test_client_config_of_unknown_names_is_refused(cluster: Cluster, arguments: dict[str, str], complaint: str) -> None:
    with pytest.raises(ValueError, match=complaint) as refused:
        cluster.client_config(**arguments)
    assert "hunter2" not in str(refused.value)


def test_client_config_needs_a_running_cluster() -> None:
    cluster = Cluster(nodes=1, tls=True)
    with pytest.raises(ValueError, match="not running"):
        cluster.client_config("java")


def test_access_repr_contains_no_password() -> None:
    assert "hunter2" not in repr(ClientAccess("h:1", "SASL_SSL", None, False, "PLAIN", "bob", "hunter2"))
