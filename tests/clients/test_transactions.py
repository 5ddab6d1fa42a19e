"""Real clients consume, transform and produce in 200 transactions; read_committed sees what was committed, once."""

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
# Of 133 records each is copied once; 66 transactions are aborted and one is left open when its producer is replaced.
NOT_COPIED = 67
JAVA_SOURCE = Path(__file__).with_name("TransactionalClient.java")
clients = pytest.mark.parametrize("make", [Librdkafka, KafkaPython, AioKafka])


@pytest.fixture(scope="module", params=[2, 1], ids=["v2", "v1"])
def cluster(request: pytest.FixtureRequest) -> Iterator[Cluster]:
    """By the finalized transaction.version, clients that know transactions v2 use it or do not."""
    with Cluster(nodes=2, transaction_version=request.param) as cluster:
        yield cluster


@pytest.fixture
def v2(request: pytest.FixtureRequest) -> str:
    return "true" if "v2" in request.node.callspec.id else "false"


@clients
def test_consume_transform_produce(cluster: Cluster, make: Callable[[str], Client]) -> None:
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
        assert client.read(source, f"{source}-group", committed=True) == []  # goes on behind the last offset of a transaction


def test_the_java_client(cluster: Cluster, v2: str) -> None:
    """The same in Java, which does it by transactions v2 if it may: then every transaction has an epoch of its own."""
    if lacking := apache_kafka.missing():
        pytest.skip(f"no {lacking}")
    if subprocess.run([str(apache_kafka.java()), "--describe-module", "jdk.compiler"], capture_output=True).returncode:
        pytest.skip("this Java cannot compile")
    command = apache_kafka.command(str(JAVA_SOURCE), cluster.bootstrap_servers, str(RECORDS))
    ended = subprocess.run(command, capture_output=True, text=True, timeout=100)
    assert ended.returncode == 0, ended.stdout[-2000:] + ended.stderr[-2000:]
    expected = f"committed {RECORDS} uncommitted {RECORDS + NOT_COPIED} offset {RECORDS} epoch per transaction {v2}"
    assert expected in ended.stdout.splitlines()
