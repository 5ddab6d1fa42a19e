"""The doctor with real clients: each mistake is found and named, and clients that make none are left alone."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator
from contextlib import closing, suppress
from typing import Any

import pytest
from aiokafka import AIOKafkaConsumer, AIOKafkaProducer
from confluent_kafka import KafkaException, Producer, TopicPartition
from confluent_kafka.admin import AdminClient
from confluent_kafka.cimpl import NewTopic
from kafka import KafkaConsumer, KafkaProducer

from odradek import Cluster
from tests.clients.client import CLIENTS, Client, sample
from tests.clients.diagnosis import PATIENCE_S, QUIET, cluster_with, consumer, diagnosis, producer
from tests.clients.silent_firewall import SilentFirewall
from tests.waiting import until

pytestmark = [pytest.mark.sockets, pytest.mark.clients]
every_client = pytest.mark.parametrize("client_name", CLIENTS)


@pytest.fixture
def cluster() -> Iterator[Cluster]:
    with cluster_with() as running:
        yield running


# Mistakes


def test_loss_above_message_max_bytes_is_explained(cluster: Cluster) -> None:
    writer = producer(cluster, acks=0, message_max_bytes=5_000_000, client_id="writer")
    writer.produce("orders", bytes(2_000_000), partition=0)
    writer.flush()
    found = diagnosis(cluster, "losses with acks=0")
    assert "writer" in found.client
    assert "1 record is lost" in found.problem and "2000" in found.problem
    assert {"acks", "message.max.bytes"} <= set(found.settings)
    assert "Produce" in found.lines[0] and "FIN" in found.lines[0]
    assert cluster.records("orders") == []


def test_oversize_batch_is_explained() -> None:
    with cluster_with({"message.max.bytes": 10_000}) as cluster:
        writer = producer(cluster)
        writer.produce("orders", bytes(20_000))
        writer.flush()
        found = diagnosis(cluster, "oversize batches")
        assert "to orders" in found.problem
        assert "message.max.bytes" in found.settings


def test_oversize_request_is_explained() -> None:
    with cluster_with({"socket.request.max.bytes": 100_000}) as cluster:
        writer = producer(cluster, message_send_max_retries=0)
        writer.produce("orders", bytes(200_000))
        writer.flush()
        found = diagnosis(cluster, "oversize requests")
        assert "socket.request.max.bytes is 100000" in found.problem
        assert "socket.request.max.bytes" in found.settings


def test_idle_close_is_explained() -> None:
    with cluster_with({"connections.max.idle.ms": 1000}) as cluster:
        writer = producer(cluster)
        writer.produce("orders", b"a", partition=0)
        writer.flush()
        found = diagnosis(cluster, "idle connections")
        assert "connections.max.idle.ms is 1000" in found.problem


def test_idle_close_by_a_moved_clock_is_no_finding(cluster: Cluster) -> None:
    writer = producer(cluster)
    writer.produce("orders", b"a", partition=0)
    writer.flush()
    cluster.clock.advance(minutes=11)
    until(lambda: "connections.max.idle.ms is" in cluster.wire.story())
    assert cluster.doctor() == []


def test_half_open_connection_is_explained() -> None:
    with closing(SilentFirewall()) as firewall:
        listeners = {"listeners": "PLAINTEXT://127.0.0.1:0", "advertised.listeners": f"PLAINTEXT://127.0.0.1:{firewall.port}"}
        with Cluster(nodes=1, topics={"orders": 1}, settings=listeners) as cluster:
            firewall.target = ("127.0.0.1", bound_port(cluster))
            writer = producer(cluster, socket_timeout_ms=1000)
            writer.produce("orders", b"a")
            writer.flush()
            firewall.forget()
            writer.produce("orders", b"b")
            writer.flush()
            assert len(cluster.records("orders")) == 2
            cluster.clock.advance(minutes=11)
            found = diagnosis(cluster, "half-open connections")
            assert "drops packets silently" in found.problem
            assert "connections.max.idle.ms" in found.settings


def test_duplicate_is_explained(cluster: Cluster) -> None:
    cluster.lost_acks("orders")
    writer = producer(cluster, enable_idempotence=False, socket_timeout_ms=2000)
    writer.produce("orders", b"a", partition=0)
    writer.flush()
    found = diagnosis(cluster, "duplicates for lack of idempotence")
    assert "1 record is in orders-0 twice" in found.problem
    assert "enable.idempotence" in found.settings
    assert len(cluster.records("orders")) == 2


def test_unreachable_address_is_explained() -> None:
    settings = {"listeners": "PLAINTEXT://127.0.0.1:0", "advertised.listeners": "PLAINTEXT://127.0.0.1:1"}
    with Cluster(nodes=1, topics={"orders": 1}, settings=settings, control="127.0.0.1:0") as cluster:
        port = bound_port(cluster)
        writer = Producer({"bootstrap.servers": f"127.0.0.1:{port}", **QUIET})
        writer.produce("orders", b"a")
        writer.poll(0)
        found = diagnosis(cluster, "unreachable advertised addresses")
        assert "through listener PLAINTEXT of node 1" in found.problem
        assert "node 1 at 127.0.0.1:1" in found.problem
        assert "advertised.listeners" in found.settings
        writer.purge()


def bound_port(cluster: Cluster) -> int:
    """Returns the port on which a node listens, which no client learns if it advertises another one."""
    return cluster._server.config.nodes[0].listeners[0].port


def test_reconnect_loop_without_credentials_is_explained() -> None:
    with cluster_with(users={"alice": "secret"}) as cluster:
        sasl = {"security.protocol": "SASL_PLAINTEXT", "sasl.mechanism": "PLAIN", "sasl.username": "alice", "sasl.password": "wrong"}
        writer = Producer({"bootstrap.servers": cluster.bootstrap_servers, "reconnect.backoff.max.ms": 200, **sasl, **QUIET})
        writer.poll(0)
        found = diagnosis(cluster, "reconnect loop")
        assert "sasl.password" in found.settings
        assert "wrong" not in repr(found) and "secret" not in repr(found)


def test_tls_to_a_plaintext_port_is_explained(cluster: Cluster) -> None:
    writer = producer(cluster, security_protocol="SSL", reconnect_backoff_max_ms=200)
    writer.poll(0)
    found = diagnosis(cluster, "a connection that is not understood")
    assert "this looks like TLS, but the listener is PLAINTEXT" in found.problem
    assert "security.protocol" in found.settings
    until(lambda: len(cluster.doctor()[0].exchanges) == 8)
    assert len(cluster.doctor()) == 1, "the loop is no other finding"


@pytest.mark.parametrize(
    ("protocol", "cause", "setting"),
    [
        ("SSL", "the client does not trust the authority (CA) of the broker's certificate", "ssl.ca.location"),
        ("PLAINTEXT", "this looks like plaintext (", "security.protocol"),
    ],
)
def test_client_without_the_ca_or_without_tls_is_explained(protocol: str, cause: str, setting: str) -> None:
    with cluster_with(tls=True) as cluster:
        writer = producer(cluster, security_protocol=protocol)
        writer.poll(0)
        found = diagnosis(cluster, "a connection that is not understood")
        assert cause in found.problem
        assert setting in found.settings
        assert found.client == "a client at 127.0.0.1"


def test_client_with_the_ca_gets_no_finding() -> None:
    with cluster_with(tls=True) as cluster:
        send(cluster, security_protocol="SSL", ssl_ca_location=cluster.tls.ca_file)
        assert cluster.doctor() == []


def test_producer_per_message_is_explained(cluster: Cluster) -> None:
    for _ in range(6):
        writer = producer(cluster)
        writer.produce("orders", b"a")
        writer.flush()
        del writer
    assert "for one Produce request" in diagnosis(cluster, "a connection per message").problem


def test_numbered_producers_per_message_are_explained(cluster: Cluster) -> None:
    for _ in range(6):
        with closing(KafkaProducer(bootstrap_servers=cluster.bootstrap_servers)) as writer:
            writer.send("orders", b"a").get(PATIENCE_S)
    assert "for one Produce request" in diagnosis(cluster, "a connection per message").problem


def test_metadata_storm_of_a_loop_is_explained(cluster: Cluster) -> None:
    admin = AdminClient({"bootstrap.servers": cluster.bootstrap_servers, **QUIET})
    for _ in range(30):
        admin.list_topics(timeout=PATIENCE_S)
    assert "in a loop" in diagnosis(cluster, "metadata storm").advice


def test_metadata_storm_of_a_missing_topic_is_explained() -> None:
    with cluster_with({"auto.create.topics.enable": False}) as cluster:
        writer = producer(cluster)
        writer.produce("ordres", b"a")
        writer.poll(0)
        found = diagnosis(cluster, "metadata storm")
        assert "UNKNOWN_TOPIC_OR_PARTITION for ordres" in found.problem
        writer.purge()


def test_metadata_storm_of_a_short_interval_is_explained(cluster: Cluster) -> None:
    writer = producer(cluster, topic_metadata_refresh_interval_ms=20)
    writer.produce("orders", b"a")
    writer.flush()
    assert "metadata.max.age.ms" in diagnosis(cluster, "metadata storm").settings


def test_tiny_fetches_are_explained(cluster: Cluster) -> None:
    for _ in range(60):
        cluster.produce("orders", [{"value": "a" * 100, "partition": 0}])
    with closing(consumer(cluster, fetch_message_max_bytes=200)) as reader:
        reader.assign([TopicPartition("orders", 0, 0)])
        assert len(reader.consume(60, timeout=PATIENCE_S)) == 60
        found = diagnosis(cluster, "tiny fetches")
        assert "partition_max_bytes=200" in found.problem
        assert "max.partition.fetch.bytes" in found.settings


def test_fetches_without_waiting_are_explained(cluster: Cluster) -> None:
    with closing(consumer(cluster, fetch_wait_max_ms=1)) as reader:
        reader.assign([TopicPartition("orders", 0, 0)])
        reader.poll(0)
        assert "fetch.max.wait.ms" in diagnosis(cluster, "tiny fetches").settings


def test_commit_per_record_is_explained(cluster: Cluster) -> None:
    cluster.produce("orders", [{"value": "a", "partition": 0} for _ in range(20)])
    with closing(consumer(cluster, enable_auto_commit=False)) as reader:
        reader.subscribe(["orders"])
        for _ in range(20):
            message = reader.poll(PATIENCE_S)
            assert message is not None
            reader.commit(message=message, asynchronous=False)
        found = diagnosis(cluster, "a commit per record")
        assert "group billing" in found.problem


def test_consumer_without_commits_is_explained(cluster: Cluster) -> None:
    cluster.produce("orders", ["a", "b"])
    with closing(consumer(cluster, enable_auto_commit=False)) as reader:
        reader.subscribe(["orders"])
        assert len(reader.consume(2, timeout=PATIENCE_S)) == 2
        assert cluster.doctor() == []
    assert "group billing" in diagnosis(cluster, "a consumer that never commits").problem


@pytest.mark.parametrize("protocol", ["classic", "consumer"])
def test_consumer_per_batch_is_explained(cluster: Cluster, protocol: str) -> None:
    for _ in range(4):
        with closing(consumer(cluster, group_protocol=protocol)) as reader:
            reader.subscribe(["orders"])
            cluster.produce("orders", ["a"])
            assert reader.poll(PATIENCE_S) is not None
    found = diagnosis(cluster, "rebalance storm")
    assert "they left and came back" in found.problem
    assert "group.instance.id" in found.settings


def test_poll_interval_shorter_than_processing_is_explained(cluster: Cluster) -> None:
    cluster.produce("orders", ["a"])
    times = {"max_poll_interval_ms": 1000, "session_timeout_ms": 1000, "heartbeat_interval_ms": 200}
    with closing(consumer(cluster, **times)) as reader:
        reader.subscribe(["orders"])
        assert reader.poll(PATIENCE_S) is not None
        until(lambda: not cluster.group("billing").members)  # no poll meanwhile, as while records are processed
        with suppress(KafkaException):
            until(lambda: reader.poll(0.1) is None and cluster.group("billing").members)
        found = diagnosis(cluster, "a session time-out shorter than processing")
        assert "did not poll within 1000 ms" in found.problem
        assert "max.poll.interval.ms" in found.settings


def test_session_shorter_than_a_pause_is_explained(cluster: Cluster) -> None:
    """aiokafka sends heartbeats on the event loop, which the processing of a record blocks here."""
    cluster.produce("orders", ["a"])

    async def consume() -> None:
        reader = AIOKafkaConsumer(
            "orders",
            bootstrap_servers=cluster.bootstrap_servers,
            group_id="billing",
            auto_offset_reset="earliest",
            session_timeout_ms=600,
            heartbeat_interval_ms=100,
        )
        await reader.start()
        try:
            await asyncio.wait_for(reader.getone(), PATIENCE_S)
            until(lambda: not cluster.group("billing").members)
            await asyncio.to_thread(until, lambda: cluster.group("billing").members)
        finally:
            await reader.stop()

    asyncio.run(consume())
    found = diagnosis(cluster, "a session time-out shorter than processing")
    assert "so its session of 600 ms expired" in found.problem
    assert "session.timeout.ms" in found.settings


# Clients that make no mistake


def send(cluster: Cluster, count: int = 100, **settings: Any) -> None:
    writer = producer(cluster, **settings)
    for number in range(count):
        writer.produce("orders", f"record {number}".encode(), key=str(number).encode())
        writer.poll(0)
    writer.flush()


def healthy_librdkafka(cluster: Cluster, protocol: str) -> None:
    admin = AdminClient({"bootstrap.servers": cluster.bootstrap_servers, **QUIET})
    admin.create_topics([NewTopic("created", 2)])["created"].result(PATIENCE_S)
    admin.list_topics(timeout=PATIENCE_S)
    send(cluster, enable_idempotence=True)
    send(cluster, acks=0)
    readers = [consumer(cluster, group_protocol=protocol, group_id=f"{protocol} group") for _ in range(3)]
    for reader in readers:
        reader.subscribe(["orders"])
    read = 0
    while read < 200:
        for reader in readers:
            read += len(reader.consume(200, timeout=0.1))
    for reader in readers:
        reader.close()


def healthy_transaction(cluster: Cluster) -> None:
    writer = producer(cluster, transactional_id="transfers")
    writer.init_transactions()
    for number in range(3):
        writer.begin_transaction()
        writer.produce("orders", str(number).encode())
        writer.commit_transaction()
    with closing(consumer(cluster, group_id="readers of transactions", isolation_level="read_committed")) as reader:
        reader.subscribe(["orders"])
        assert len(reader.consume(3, timeout=PATIENCE_S)) == 3


def healthy_kafka_python(cluster: Cluster) -> None:
    with closing(KafkaProducer(bootstrap_servers=cluster.bootstrap_servers, linger_ms=5)) as writer:
        for number in range(100):
            writer.send("orders", str(number).encode())
        writer.flush()
    options = {"group_id": "python group", "auto_offset_reset": "earliest", "consumer_timeout_ms": int(PATIENCE_S * 1000)}
    with closing(KafkaConsumer("orders", bootstrap_servers=cluster.bootstrap_servers, **options)) as reader:
        assert len([next(reader) for _ in range(100)]) == 100


def healthy_aiokafka(cluster: Cluster) -> None:
    async def run() -> None:
        async with AIOKafkaProducer(bootstrap_servers=cluster.bootstrap_servers) as writer:
            await asyncio.gather(*[await writer.send("orders", str(number).encode()) for number in range(100)])
        options = {"group_id": "aiokafka group", "auto_offset_reset": "earliest"}
        async with AIOKafkaConsumer("orders", bootstrap_servers=cluster.bootstrap_servers, **options) as reader:
            read = 0
            while read < 100:
                read += sum(map(len, (await reader.getmany(timeout_ms=500)).values()))

    asyncio.run(run())


HEALTHY: dict[str, Callable[[Cluster], None]] = {
    "librdkafka, classic": lambda cluster: healthy_librdkafka(cluster, "classic"),
    "librdkafka, consumer": lambda cluster: healthy_librdkafka(cluster, "consumer"),
    "librdkafka, transactions": healthy_transaction,
    "kafka-python": healthy_kafka_python,
    "aiokafka": healthy_aiokafka,
}


@pytest.mark.parametrize("kind", HEALTHY)
def test_healthy_client_gets_no_finding(cluster: Cluster, kind: str) -> None:
    HEALTHY[kind](cluster)
    until(lambda: not cluster.connections())
    assert cluster.doctor() == []


@every_client
def test_client_of_every_kind_gets_no_finding(client: Client, cluster: Cluster) -> None:
    """The clients of the other scenarios refresh their metadata every 100 ms, which is the only mistake that the doctor may report."""
    servers = cluster.bootstrap_servers
    client.create_topic(servers, "payments")
    with closing(client.producer(servers, "payments", "none", idempotent=True)) as writer:
        writer.send([client.written(record) for record in sample("payments", 50)])
        writer.flush()
    with closing(client.member(servers, "payments", "accounting")) as member:
        read = 0
        while read < 50:
            read += len(member.poll(1.0))
        member.commit()
    found = cluster.doctor()
    assert {each.name for each in found} <= {"metadata storm"}
    assert all("metadata.max.age.ms" in each.settings for each in found)


def test_healthy_clients_after_a_node_stopped_get_no_finding(cluster: Cluster) -> None:
    writer = producer(cluster, enable_idempotence=True)
    for number in range(10):
        writer.produce("orders", str(number).encode())
        if number == 5:
            cluster.stop_node(2)
        writer.flush()
    cluster.start_node(2)
    assert cluster.doctor() == []


def test_program_with_many_clients_gets_no_finding(cluster: Cluster) -> None:
    writers = [producer(cluster) for _ in range(20)]
    for writer in writers:
        writer.produce("orders", b"a")
    for writer in writers:
        writer.flush()
    writers.clear()
    del writer
    until(lambda: not cluster.connections())
    assert cluster.doctor() == []
