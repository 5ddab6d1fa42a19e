"""Clients consume, transform and produce in 200 transactions; consumers of committed records read each committed record once."""

from __future__ import annotations

import subprocess
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path

import pytest

from odradek.broker import Cluster
from tests import apache_kafka
from tests.clients.transactional import LAST, AioKafka, Client, KafkaPython, Librdkafka, transform

pytestmark = pytest.mark.clients
RECORDS = 133
VALUES = [b"value %d" % n for n in range(RECORDS)]
# Each of 133 records is copied once; 66 transactions are aborted, and one is open when its producer is replaced.
NOT_COPIED = 67
JAVA_SOURCE = Path(__file__).with_name("TransactionalClient.java")
clients = pytest.mark.parametrize("make", [Librdkafka, KafkaPython, AioKafka])


@pytest.fixture(scope="module", params=[2, 1], ids=["v2", "v1"])
def cluster(request: pytest.FixtureRequest) -> Iterator[Cluster]:
    """Clients that support transactions v2 use it only if the finalized transaction.version is 2."""
    with Cluster(nodes=2, transaction_version=request.param) as cluster:
        yield cluster


@pytest.fixture
def v2(request: pytest.FixtureRequest) -> str:
    return "true" if "v2" in request.node.callspec.id else "false"


@clients
def test_consume_transform_produce_copies_values_once(cluster: Cluster, make: Callable[[str], Client]) -> None:
    source, target = f"{make.__name__}-source", f"{make.__name__}-target"
    with closing(make(cluster.bootstrap_servers)) as client:
        producer = client.producer(f"{source}-fill")
        for values in (VALUES, [LAST]):
            producer.begin()
            for value in values:
                producer.send(source, value)
            producer.commit()
        assert transform(client, source, target, f"{source}-group") == NOT_COPIED
        assert client.read(target, f"{target}-committed", committed=True) == VALUES
        everything = client.read(target, f"{target}-everything", committed=False)
        assert len(everything) == RECORDS + NOT_COPIED
        assert set(everything) == set(VALUES)
        assert (
            client.read(source, f"{source}-group", committed=True) == []
        )  # resumes after the last offset that a transaction has committed


def test_java_client_copies_values_once(cluster: Cluster, v2: str) -> None:
    """The Java client uses transactions v2 if it is enabled: then every transaction has its own epoch."""
    if missing := apache_kafka.missing():
        pytest.skip(f"{missing} is not installed")
    if subprocess.run([str(apache_kafka.java()), "--describe-module", "jdk.compiler"], capture_output=True).returncode:
        pytest.skip("this Java has no compiler")
    command = apache_kafka.command(str(JAVA_SOURCE), cluster.bootstrap_servers, str(RECORDS))
    ended = subprocess.run(command, capture_output=True, text=True, timeout=280)
    assert ended.returncode == 0, ended.stdout[-2000:] + ended.stderr[-2000:]
    expected = f"committed {RECORDS} uncommitted {RECORDS + NOT_COPIED} offset {RECORDS} epoch per transaction {v2}"
    assert expected in ended.stdout.splitlines()
