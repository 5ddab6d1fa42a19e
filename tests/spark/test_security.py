"""The Spark source's client on secured clusters: every protocol and mechanism, and the errors of wrong credentials."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from typing import TYPE_CHECKING, Any

import pytest

from odradek import Cluster
from odradek.protocol.client.login import unsecured_token
from odradek.protocol.errors import ErrorCode, KafkaError
from odradek.spark_sink.client import KafkaClient
from odradek.spark_sink.client_options import client_config
from odradek.spark_sink.user_options import UserOptions

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = [pytest.mark.sockets, pytest.mark.clients]

USERS = {"alice": "wonder;land"}
SCRAM = 'org.apache.kafka.common.security.scram.ScramLoginModule required username="alice" password="wonder;land";'
PLAIN = 'org.apache.kafka.common.security.plain.PlainLoginModule required username="alice" password="wonder;land";'
OAUTH = "org.apache.kafka.common.security.oauthbearer.OAuthBearerLoginModule required"


@pytest.fixture(scope="module")
def secured() -> Iterator[Cluster]:
    settings = {"sasl.enabled.mechanisms": "PLAIN,SCRAM-SHA-256,SCRAM-SHA-512,OAUTHBEARER"}
    with Cluster(nodes=2, topics={"t": 3}, tls=True, users=USERS, settings=settings) as cluster:
        yield cluster


def token() -> str:
    """Returns an access token that is valid for many years, because the test's clock is not that of the token."""
    return unsecured_token("alice", 1_900_000_000 - 3500)


def client_of(cluster: Cluster, **settings: str) -> KafkaClient:
    options = {f"kafka.{name.replace('_', '.')}": value for name, value in settings.items()}
    found = client_config(
        UserOptions({"kafka.bootstrap.servers": cluster.bootstrap_servers, "kafka.default.api.timeout.ms": "5000"} | options)
    )
    return KafkaClient(found)


def partitions(cluster: Cluster, **settings: str) -> int:
    with closing(client_of(cluster, **settings)) as client:
        return len(client.partitions(["t"]))


@pytest.mark.parametrize(
    ("mechanism", "jaas"),
    [
        ("PLAIN", PLAIN),
        ("SCRAM-SHA-256", SCRAM),
        ("SCRAM-SHA-512", SCRAM),
        ("OAUTHBEARER", f'{OAUTH} unsecuredLoginStringClaim_sub="alice";'),
    ],
)
def test_client_connects_by_each_mechanism(secured: Cluster, mechanism: str, jaas: str) -> None:
    settings: dict[str, Any] = {"security_protocol": "SASL_SSL", "sasl_mechanism": mechanism, "sasl_jaas_config": jaas}
    ca = {"ssl_truststore_type": "PEM", "ssl_truststore_location": secured.tls.ca_file}
    assert partitions(secured, **settings, **ca) == 3
    content = {"ssl_truststore_type": "PEM", "ssl_truststore_certificates": secured.tls.ca.decode()}
    assert partitions(secured, **settings, **content) == 3


def test_wrong_password_is_not_retried(secured: Cluster) -> None:
    settings = {"security_protocol": "SASL_SSL", "sasl_mechanism": "PLAIN", "sasl_jaas_config": PLAIN.replace("land", "wrong")}
    with pytest.raises(KafkaError, match="Authentication failed") as caught:
        partitions(secured, **settings, ssl_truststore_type="PEM", ssl_truststore_location=secured.tls.ca_file)
    assert caught.value.code is ErrorCode.SASL_AUTHENTICATION_FAILED
    assert "wrong" not in str(caught.value)


def test_unknown_authority_is_not_retried(secured: Cluster) -> None:
    settings = {"security_protocol": "SASL_SSL", "sasl_mechanism": "SCRAM-SHA-256", "sasl_jaas_config": SCRAM}
    with pytest.raises(KafkaError, match=r"the certificate of 127.0.0.1:\d+ is not accepted: ") as caught:
        partitions(secured, **settings)
    assert caught.value.code is ErrorCode.SASL_AUTHENTICATION_FAILED


def test_client_shows_its_certificate() -> None:
    with Cluster(nodes=1, topics={"t": 2}, tls=True, settings={"ssl.client.auth": "required"}) as cluster:
        java = cluster.client_config("java")
        assert (
            partitions(cluster, **{name.replace(".", "_"): value for name, value in java.items() if name.startswith(("ssl.", "security."))})
            == 2
        )


def test_settings_of_java_clients_work_unchanged(secured: Cluster) -> None:
    java = {name.replace(".", "_"): value for name, value in secured.client_config("java").items() if name != "bootstrap.servers"}
    assert partitions(secured, **java) == 3


def options_of(cluster: Cluster) -> dict[str, str]:
    """Returns the options with which Spark connects to a secured cluster, those of a Java client."""
    return {f"kafka.{name}": value for name, value in cluster.client_config("java").items()}


def test_spark_writes_and_reads_a_secured_cluster(
    secured: Cluster, spark: SparkSession, capfd: pytest.CaptureFixture[str], caplog: pytest.LogCaptureFixture
) -> None:
    options = options_of(secured)
    written = spark.createDataFrame([(f"value {number}",) for number in range(10)], "value string")
    written.write.format("odradek").options(**options).option("topic", "t").mode("append").save()
    frame = spark.read.format("odradek").options(**options).option("subscribe", "t").load()
    assert sorted(bytes(row.value) for row in frame.collect()) == sorted(f"value {number}".encode() for number in range(10))
    frame.explain(extended=True)
    shown = capfd.readouterr()
    plan = frame._jdf.queryExecution().toString()
    assert "wonder" not in shown.out + shown.err + caplog.text + plan


def test_spark_with_a_wrong_password_says_so(secured: Cluster, spark: SparkSession) -> None:
    options = {name: value.replace("wonder;land", "wronger") for name, value in options_of(secured).items()}
    with pytest.raises(Exception, match="Authentication failed") as caught:
        spark.read.format("odradek").options(**options).option("subscribe", "t").load().collect()
    assert "wronger" not in str(caught.value)


def test_config_does_not_show_secrets(secured: Cluster) -> None:
    shown = repr(client_of(secured, security_protocol="SASL_PLAINTEXT", sasl_mechanism="PLAIN", sasl_jaas_config=PLAIN).config)
    assert "alice" in shown
    assert "wonder" not in shown


@pytest.mark.parametrize("text", ["no module", 'x required username="wonder;land"'])
def test_error_of_malformed_settings_does_not_show_secrets(secured: Cluster, text: str) -> None:
    with pytest.raises(ValueError, match=r"Kafka options 'kafka.security.\*', 'kafka.sasl.\*' and 'kafka.ssl.\*': ") as caught:
        client_of(secured, security_protocol="SASL_PLAINTEXT", sasl_mechanism="PLAIN", sasl_jaas_config=text)
    assert "wonder" not in str(caught.value)
