"""Every client on every secured listener with every mechanism: TLS, client certificates, PLAIN, SCRAM and OAUTHBEARER.

Refused clients, and transactions during which clients authenticate again, are also run on Apache Kafka, which has to give the same results.
"""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest
from confluent_kafka import KafkaError
from confluent_kafka.admin import AdminClient

from odradek.broker.tls.generated import GeneratedTls
from tests import apache_kafka as oracle
from tests.clients import secured
from tests.clients.kafka_programs import Programs
from tests.clients.secured import ACCESSES, MECHANISMS, OAUTHBEARER, PATIENCE_S, SCRAM, SESSION_MS, WRONG, Secured
from tests.clients.secured_clients import EXCHANGES, TRANSACTIONS

pytestmark = pytest.mark.clients

ROOT = Path(__file__).parents[2]
RECORDS, PAUSE_MS = 4, SESSION_MS // 2
JAVA_VERSIONS = (oracle.VERSION, "3.9.2", "2.8.2")
REFUSALS = {
    "PLAIN": "Authentication failed: Invalid username or password",
    **{name: f"Authentication failed during authentication due to invalid credentials with SASL mechanism {name}" for name in SCRAM},
    OAUTHBEARER: '{"status":"invalid_token"}',
}
"""The errors of Apache Kafka for wrong passwords and for a token that has ended."""
UNREPORTED = {
    ("aiokafka", OAUTHBEARER): "No broker metadata found",  # it does not read the error
    **{("kafka-python", mechanism): "Unable to bootstrap" for mechanism in MECHANISMS},  # an error before the end of the stream may be lost
}
"""The errors of clients that do not show the broker's."""


@pytest.fixture(scope="module")
def tls() -> Iterator[GeneratedTls]:
    with secured.generated_tls() as tls:
        yield tls


@pytest.fixture(scope="module")
def odradek(tls: GeneratedTls, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Secured]:
    with secured.odradek(tls, tmp_path_factory.mktemp("odradek")) as cluster:
        yield cluster


@pytest.fixture(scope="module")
def apache_kafka(tls: GeneratedTls, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Secured]:
    if missing := oracle.missing():
        pytest.skip(f"{missing} is not installed")
    with secured.apache_kafka(tls, tmp_path_factory.mktemp("kafka")) as cluster:
        yield cluster


@pytest.fixture(params=["odradek", "apache_kafka"])
def either(request: pytest.FixtureRequest) -> Secured:
    cluster: Secured = request.getfixturevalue(request.param)
    return cluster


@pytest.mark.parametrize("client", EXCHANGES)
@pytest.mark.parametrize(("listener", "mechanism"), ACCESSES)
def test_client_writes_and_reads_on_secured_listener(odradek: Secured, client: str, listener: str, mechanism: str) -> None:
    value = f"{client} {listener} {mechanism}".encode()
    assert EXCHANGES[client](odradek.config(client, listener, mechanism), value) == value


@pytest.mark.parametrize("mechanism", MECHANISMS)
def test_librdkafka_is_refused_with_the_error_of_kafka(either: Secured, mechanism: str) -> None:
    """The password is wrong, or the token has ended."""
    errors: list[KafkaError] = []
    admin = AdminClient(either.config("librdkafka", "SASL_SSL", mechanism, WRONG, -60) | {"error_cb": errors.append})
    while not errors:
        admin.poll(1)
    assert errors[0].code() == KafkaError._AUTHENTICATION
    assert REFUSALS[mechanism] in errors[0].str()


@pytest.mark.parametrize("client", ["kafka-python", "aiokafka"])
def test_python_client_is_refused_as_by_kafka(either: Secured, client: str) -> None:
    arguments = json.dumps({"address": either.addresses["SASL_SSL"], "ca_file": either.tls.ca_file})
    command = [sys.executable, "-m", "tests.clients.refused_clients", client, arguments]
    printed = json.loads(subprocess.run(command, capture_output=True, text=True, timeout=PATIENCE_S, cwd=ROOT).stdout)
    expected = {mechanism: UNREPORTED.get((client, mechanism), REFUSALS[mechanism]) for mechanism in MECHANISMS}
    assert {mechanism: expected[mechanism] in text for mechanism, text in printed.items()} == dict.fromkeys(MECHANISMS, True)


@pytest.mark.parametrize("client", TRANSACTIONS)
def test_transaction_outlives_sessions_of_its_client(either: Secured, client: str) -> None:
    """librdkafka and kafka-python authenticate again; aiokafka connects again."""
    assert TRANSACTIONS[client](either.config(client, "REAUTH", "SCRAM-SHA-512"))


# Java


def properties(directory: Path, name: str, config: Mapping[str, Any]) -> str:
    """Returns the path of a file with settings for Java."""
    path = directory / name
    path.write_text("".join(f"{name}={value}\n".replace("\\", "\\\\") for name, value in config.items()))
    return str(path)


def java_cases(cluster: Secured) -> dict[tuple[str, str, str], tuple[dict[str, Any], str]]:
    """Returns settings and expected results."""
    cases = {("exchange", listener, mechanism): (cluster.config("java", listener, mechanism), "read 1") for listener, mechanism in ACCESSES}
    for mechanism in MECHANISMS:
        refusal = f"org.apache.kafka.common.errors.SaslAuthenticationException: {REFUSALS[mechanism]}"
        refused = cluster.config("java", "SASL_SSL", mechanism, WRONG, -60)
        cases["refusal", "SASL_SSL", mechanism] = (refused, f"java.util.concurrent.ExecutionException: {refusal}, {refusal}")
        transaction = {"transactional.id": mechanism, "records": RECORDS, "pause.ms": PAUSE_MS}
        cases["transaction", "REAUTH", mechanism] = (cluster.config("java", "REAUTH", mechanism) | transaction, f"read {RECORDS}")
    return cases


@pytest.mark.parametrize("version", JAVA_VERSIONS)
def test_java_client_gets_the_results_of_kafka(odradek: Secured, apache_kafka: Secured, version: str, tmp_path: Path) -> None:
    """Exchanges on all listeners, refused clients, and transactions that outlive sessions, in one JVM for both clusters."""
    libraries = () if version == oracle.VERSION else (oracle.jars(oracle.CLIENTS, version),)
    cases = {(cluster.name, *name): case for cluster in (odradek, apache_kafka) for name, case in java_cases(cluster).items()}
    files = [properties(tmp_path, str(number), config) for number, (config, _) in enumerate(cases.values())]
    command = oracle.command(str(Path(__file__).with_name("SecureClient.java")), *files, libraries=libraries)
    printed = subprocess.run(command, capture_output=True, text=True, timeout=2 * PATIENCE_S).stdout.splitlines()
    assert dict(zip(cases, printed, strict=True)) == {name: expected for name, (_, expected) in cases.items()}


# Command line programs


@pytest.mark.skipif(shutil.which("kcat") is None, reason="needs kcat")
@pytest.mark.parametrize(("listener", "mechanism"), ACCESSES)
def test_kcat_writes_and_reads_on_secured_listener(odradek: Secured, listener: str, mechanism: str) -> None:
    value = f"kcat {listener} {mechanism}"
    config = odradek.config("librdkafka", listener, mechanism)
    if config.pop("oauth_cb", None):
        config |= {"enable.sasl.oauthbearer.unsecure.jwt": "true", "sasl.oauthbearer.config": "principal=alice"}
    options = ["-t", "t", "-p", "1", *(f"-X{name}={value}" for name, value in config.items())]
    written = subprocess.run(["kcat", "-P", *options], input=value, capture_output=True, text=True, timeout=PATIENCE_S)
    if mechanism in SCRAM and written.returncode:
        assert "Authentication failed" in written.stderr, written.stderr
        pytest.skip("this kcat sends a wrong nonce, which brokers refuse since CVE-2024-56128")
    read = subprocess.run(["kcat", "-C", "-e", "-q", "-o", "beginning", *options], capture_output=True, text=True, timeout=PATIENCE_S)
    assert value in read.stdout.splitlines(), written.stderr + read.stderr


@pytest.mark.parametrize(("listener", "mechanism"), ACCESSES)
def test_programs_of_kafka_work_on_secured_listener(
    odradek: Secured, programs: Programs, listener: str, mechanism: str, tmp_path: Path
) -> None:
    config = odradek.config("java", listener, mechanism)
    address = ("--bootstrap-server", config["bootstrap.servers"])
    secure = ("--command-config", properties(tmp_path, "client.properties", config))
    tools, topic = "org.apache.kafka.tools", f"programs-{listener}-{mechanism}".replace("_", "-")
    runs = {
        "kafka-topics": programs.run(f"{tools}.TopicCommand", *address, *secure, "--create", "--topic", topic),
        "kafka-console-producer": programs.run(f"{tools}.ConsoleProducer", *address, *secure, "--topic", topic, typed="value"),
        "kafka-console-consumer": programs.run(
            f"{tools}.consumer.ConsoleConsumer", *address, *secure, "--topic", topic, "--from-beginning", "--max-messages", "1"
        ),
        "kafka-configs": programs.run("kafka.admin.ConfigCommand", *address, *secure, *("--describe", "--entity-type", "users")),
        "kafka-acls": programs.run(
            f"{tools}.AclCommand", *address, *secure, "--add", "--allow-principal", "User:bob", "--operation", "Read", "--topic", topic
        ),
    }
    credentials = "SCRAM-SHA-256=iterations=4096, SCRAM-SHA-512=iterations=4096"
    acl = "(principal=User:bob, host=*, operation=READ, permissionType=ALLOW)"
    resource = f"ResourcePattern(resourceType=TOPIC, name={topic}, patternType=LITERAL)"
    assert runs == {
        "kafka-topics": f"Created topic {topic}.\n",
        "kafka-console-producer": "",
        "kafka-console-consumer": "value\nProcessed a total of 1 messages\n",
        "kafka-configs": f"SCRAM credential configs for user-principal 'alice' are {credentials}\n",
        "kafka-acls": f"Adding ACLs for resource `{resource}`: \n \t{acl}\n\n",
    }


def test_programs_of_kafka_report_wrong_passwords(either: Secured, programs: Programs, tmp_path: Path) -> None:
    config = either.config("java", "SASL_SSL", "PLAIN", WRONG)
    secure = ("--command-config", properties(tmp_path, "client.properties", config))
    printed = programs.run("org.apache.kafka.tools.TopicCommand", "--bootstrap-server", config["bootstrap.servers"], *secure, "--list")
    assert printed == f"Error while executing topic command : {REFUSALS['PLAIN']}\nstatus 1\n"
