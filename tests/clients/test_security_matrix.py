"""Every client on every secured listener with every mechanism: TLS, client certificates, PLAIN, SCRAM and OAUTHBEARER.

Refused clients, and transactions during which clients authenticate again, are also run on Apache Kafka, which has to give the same results.
"""

from __future__ import annotations

import asyncio
import gc
import shutil
import subprocess
import time
import warnings
from base64 import b64decode
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from traceback import clear_frames
from typing import Any

import aiokafka
import aiokafka.errors
import kafka
import kafka.errors
import pytest
from confluent_kafka import Consumer, KafkaError, Producer
from confluent_kafka.admin import AdminClient

from odradek.broker.tls.generated import GeneratedTls
from tests import apache_kafka as oracle
from tests.clients import secured
from tests.clients.secured import ACCESSES, MECHANISMS, OAUTHBEARER, PATIENCE_S, SCRAM, SESSION_MS, WRONG, Secured

pytestmark = pytest.mark.clients

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
RECORDS, PAUSE_MS = 6, SESSION_MS // 2


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


# librdkafka


def librdkafka(config: dict[str, Any], value: bytes) -> bytes:
    """Writes a record and returns what a new consumer reads."""
    producer = Producer(config)
    producer.produce("t", value, partition=0)
    assert producer.flush(PATIENCE_S) == 0
    consumer = Consumer({**config, "group.id": value.decode(), "auto.offset.reset": "earliest"})
    try:
        consumer.subscribe(["t"])
        while True:
            message = consumer.poll(PATIENCE_S)
            assert message is not None and message.error() is None
            if message.value() == value:
                return value
    finally:
        consumer.close()


def librdkafka_refusal(config: dict[str, Any]) -> str:
    errors: list[KafkaError] = []
    admin = AdminClient(config | {"error_cb": errors.append})
    while not errors:
        admin.poll(1)
    assert errors[0].code() == KafkaError._AUTHENTICATION
    return errors[0].str()


def librdkafka_transaction(config: dict[str, Any]) -> int:
    producer = Producer(config | {"transactional.id": "librdkafka"})
    producer.init_transactions(PATIENCE_S)
    producer.begin_transaction()
    delivered: list[KafkaError | None] = []
    for _ in range(RECORDS):
        producer.produce("t", b"v", on_delivery=lambda error, message: delivered.append(error))
        producer.flush(PATIENCE_S)
        time.sleep(PAUSE_MS / 1000)
    producer.commit_transaction(PATIENCE_S)
    return delivered.count(None)


# kafka-python


def kafka_python(config: dict[str, Any], value: bytes) -> bytes:
    producer = kafka.KafkaProducer(**config)
    producer.send("t", value, partition=0).get(PATIENCE_S)
    producer.close()
    options = {"group_id": value.decode(), "auto_offset_reset": "earliest", "consumer_timeout_ms": PATIENCE_S * 1000}
    consumer = kafka.KafkaConsumer("t", **config, **options)
    try:
        return next(bytes(record.value) for record in consumer if record.value == value)
    finally:
        consumer.close()


def kafka_python_refusal(config: dict[str, Any]) -> str:
    with pytest.raises(kafka.errors.KafkaError) as raised:
        kafka.KafkaProducer(**config, bootstrap_timeout_ms=1000)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ResourceWarning)  # the client leaves sockets open when its constructor raises
        clear_frames(raised.tb)
        gc.collect()
    return str(raised.value)


def kafka_python_transaction(config: dict[str, Any]) -> int:
    producer = kafka.KafkaProducer(**config, transactional_id="kafka-python")
    producer.init_transactions()
    producer.begin_transaction()
    for _ in range(RECORDS):
        producer.send("t", b"v").get(PATIENCE_S)
        time.sleep(PAUSE_MS / 1000)
    producer.commit_transaction()
    producer.close()
    return RECORDS


# aiokafka


def aiokafka_client(config: dict[str, Any], value: bytes) -> bytes:
    async def exchange() -> bytes:
        async with aiokafka.AIOKafkaProducer(**config) as producer:
            await producer.send_and_wait("t", value, partition=0)
        async with aiokafka.AIOKafkaConsumer("t", **config, group_id=value.decode(), auto_offset_reset="earliest") as consumer:
            async for record in consumer:
                if record.value == value:
                    return bytes(record.value)
        raise AssertionError("the consumer has ended")

    return asyncio.run(asyncio.wait_for(exchange(), PATIENCE_S))


def aiokafka_refusal(config: dict[str, Any]) -> str:
    async def start() -> None:
        producer = aiokafka.AIOKafkaProducer(**config)
        try:
            await producer.start()
        finally:
            await producer.stop()

    with suppress(aiokafka.errors.KafkaError):
        asyncio.run(start())
    return ""


def aiokafka_transaction(config: dict[str, Any]) -> int:
    async def transaction() -> None:
        async with aiokafka.AIOKafkaProducer(**config, transactional_id="aiokafka") as producer, producer.transaction():
            for _ in range(RECORDS):
                await producer.send_and_wait("t", b"v")
                await asyncio.sleep(PAUSE_MS / 1000)

    asyncio.run(asyncio.wait_for(transaction(), PATIENCE_S))
    return RECORDS


Exchange = Callable[[dict[str, Any], bytes], bytes]
EXCHANGES: dict[str, Exchange] = {"librdkafka": librdkafka, "kafka-python": kafka_python, "aiokafka": aiokafka_client}
REFUSED = {"librdkafka": librdkafka_refusal, "kafka-python": kafka_python_refusal, "aiokafka": aiokafka_refusal}
TRANSACTIONS = {"librdkafka": librdkafka_transaction, "kafka-python": kafka_python_transaction, "aiokafka": aiokafka_transaction}


@pytest.mark.parametrize("client", EXCHANGES)
@pytest.mark.parametrize(("listener", "mechanism"), ACCESSES)
def test_client_writes_and_reads_on_secured_listener(odradek: Secured, client: str, listener: str, mechanism: str) -> None:
    value = f"{client} {listener} {mechanism}".encode()
    assert EXCHANGES[client](odradek.config(client, listener, mechanism), value) == value


@pytest.mark.parametrize("client", REFUSED)
@pytest.mark.parametrize("mechanism", MECHANISMS)
def test_client_is_refused_with_the_error_of_kafka(either: Secured, client: str, mechanism: str, caplog: pytest.LogCaptureFixture) -> None:
    """The password is wrong, or the token has ended. aiokafka only logs the reason."""
    text = REFUSED[client](either.config(client, "SASL_SSL", mechanism, WRONG, -60))
    assert UNREPORTED.get((client, mechanism), REFUSALS[mechanism]) in text + caplog.text


@pytest.mark.parametrize("client", TRANSACTIONS)
@pytest.mark.parametrize("mechanism", ["SCRAM-SHA-512", OAUTHBEARER])
def test_transaction_outlives_sessions_of_its_client(either: Secured, client: str, mechanism: str) -> None:
    assert TRANSACTIONS[client](either.config(client, "REAUTH", mechanism)) == RECORDS


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


class Programs:
    """Kafka's command line programs, which run in one JVM."""

    def __init__(self) -> None:
        command = oracle.command(str(Path(__file__).with_name("KafkaPrograms.java")), libraries=(oracle.jars(oracle.TOOLS), oracle.jars()))
        pipe = subprocess.PIPE
        self._jvm = subprocess.Popen(command, stdin=pipe, stdout=pipe, stderr=subprocess.DEVNULL, text=True)

    def run(self, program: str, *arguments: str, typed: str = "") -> str:
        """Returns what a program prints."""
        assert self._jvm.stdin is not None and self._jvm.stdout is not None
        self._jvm.stdin.write("\t".join((program, typed, *arguments)) + "\n")
        self._jvm.stdin.flush()
        return b64decode(self._jvm.stdout.readline()).decode()

    def close(self) -> None:
        self._jvm.communicate(timeout=PATIENCE_S)


@pytest.fixture(scope="module")
def programs() -> Iterator[Programs]:
    if missing := oracle.missing():
        pytest.skip(f"{missing} is not installed")
    programs = Programs()
    yield programs
    programs.close()


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
