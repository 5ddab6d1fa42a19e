"""Clients that are connected during a restore or a reset: they connect again and go on."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from pathlib import Path

import pytest
from aiokafka import AIOKafkaConsumer, AIOKafkaProducer
from confluent_kafka import Consumer, Producer
from confluent_kafka.admin import AdminClient
from kafka import KafkaProducer

from odradek import Cluster

pytestmark = [pytest.mark.sockets, pytest.mark.clients]
TIMEOUT_S = 30


@pytest.fixture
def cluster() -> Iterator[Cluster]:
    with Cluster(nodes=2, topics={"orders": 1}, seed=1) as running:
        yield running


def values(cluster: Cluster) -> list[bytes | None]:
    return [record.value for record in cluster.records("orders")]


def test_confluent_producer_goes_on_after_a_restore(cluster: Cluster) -> None:
    producer = Producer({"bootstrap.servers": cluster.bootstrap_servers})
    producer.produce("orders", b"a")
    assert producer.flush(TIMEOUT_S) == 0
    snapshot = cluster.snapshot()
    producer.produce("orders", b"b")
    assert producer.flush(TIMEOUT_S) == 0
    cluster.restore(snapshot)
    producer.produce("orders", b"c")
    assert producer.flush(TIMEOUT_S) == 0
    assert values(cluster) == [b"a", b"c"]


def test_kafka_python_producer_goes_on_after_a_reset(cluster: Cluster) -> None:
    producer = KafkaProducer(bootstrap_servers=cluster.bootstrap_servers)
    producer.send("orders", b"a").get(TIMEOUT_S)
    cluster.reset()
    producer.send("orders", b"b").get(TIMEOUT_S)
    producer.close()
    assert values(cluster) == [b"b"]


def test_group_member_goes_on_after_a_restore(cluster: Cluster) -> None:
    settings = {"bootstrap.servers": cluster.bootstrap_servers, "group.id": "g", "auto.offset.reset": "earliest"}
    consumer = Consumer(settings | {"enable.auto.commit": False, "heartbeat.interval.ms": 100})
    consumer.subscribe(["orders"])
    cluster.produce("orders", ["a"])
    (message,) = consumer.consume(1, TIMEOUT_S)
    consumer.commit(message=message, asynchronous=False)
    snapshot = cluster.snapshot()
    cluster.produce("orders", ["b"])
    (message,) = consumer.consume(1, TIMEOUT_S)
    consumer.commit(message=message, asynchronous=False)
    assert cluster.group("g").lag == 0
    cluster.restore(snapshot)
    assert [each.committed for each in cluster.group("g").offsets] == [1], "the second commit is undone"
    cluster.produce("orders", ["c", "d"])
    # The consumer has read the offset of `b` already. It continues after it or, if `c` was not written yet, from the beginning.
    values_read: list[bytes | None] = []
    while values_read[-1:] != [b"d"]:
        (message,) = consumer.consume(1, TIMEOUT_S)
        values_read.append(message.value())
    consumer.commit(message=message, asynchronous=False)
    group = cluster.wait_for_group("g", members=1, state="Stable", lag=0, timeout_s=TIMEOUT_S)
    assert len(group.members) == 1
    consumer.close()


def test_aiokafka_clients_go_on_after_a_restore(cluster: Cluster) -> None:
    async def scenario() -> None:
        servers = cluster.bootstrap_servers
        async with (
            AIOKafkaProducer(bootstrap_servers=servers, enable_idempotence=True) as producer,
            AIOKafkaConsumer("orders", bootstrap_servers=servers, auto_offset_reset="earliest") as consumer,
        ):
            await producer.send_and_wait("orders", b"a")
            assert (await asyncio.wait_for(consumer.getone(), TIMEOUT_S)).value == b"a"
            cluster.restore(cluster.snapshot())
            await producer.send_and_wait("orders", b"b")
            assert (await asyncio.wait_for(consumer.getone(), TIMEOUT_S)).value == b"b"

    asyncio.run(scenario())
    assert values(cluster) == [b"a", b"b"], "the sequence numbers of the idempotent producer are part of the state"


@pytest.mark.parametrize("mechanism", ["PLAIN", "SCRAM-SHA-256"])
def test_users_and_acls_are_part_of_the_state(mechanism: str, tmp_path: Path) -> None:
    with Cluster(nodes=1, users={"alice": "secret"}, acls=["User:alice:allow:describe:topic:orders"], topics={"orders": 1}) as cluster:
        config = cluster.client_config("librdkafka", mechanism=mechanism)
        snapshot = cluster.snapshot()
        for _ in range(2):
            assert "orders" in AdminClient(config).list_topics(timeout=TIMEOUT_S).topics
            cluster.restore(snapshot)
        cluster.save(tmp_path / "state")
    with Cluster.load(tmp_path / "state") as loaded:
        admin = AdminClient(config | {"bootstrap.servers": loaded.bootstrap_servers})
        assert "orders" in admin.list_topics(timeout=TIMEOUT_S).topics


def test_tls_listener_goes_on_after_a_restore() -> None:
    pytest.importorskip("cryptography")
    with Cluster(nodes=1, tls=True, topics={"orders": 1}) as cluster:
        for _ in range(2):
            admin = AdminClient(cluster.client_config("librdkafka"))
            assert "orders" in admin.list_topics(timeout=TIMEOUT_S).topics
            cluster.reset()
