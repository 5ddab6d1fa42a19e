"""Damage of stored data, seen by real clients and by the controls of the cluster."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from typing import Any

import pytest
from confluent_kafka import Consumer, KafkaError, Producer, TopicPartition

from odradek import Cluster
from odradek.broker.control_errors import InvalidControl
from odradek.broker.exploring.damage import DamageOrder, StoredData, damages_of, parse_damage

pytestmark = [pytest.mark.sockets, pytest.mark.clients]


@pytest.fixture
def cluster() -> Iterator[Cluster]:
    settings = {"offsets.topic.num.partitions": 1, "transaction.state.log.num.partitions": 1}
    with Cluster(nodes=1, topics={"orders": 1}, settings=settings) as cluster:
        yield cluster


def read(cluster: Cluster, count: int, isolation: str = "read_committed") -> list[bytes | None]:
    """Returns the values that a consumer gets."""
    config = {"group.id": "reading", "auto.offset.reset": "earliest", "isolation.level": isolation, "log_level": 0}
    with closing(Consumer({"bootstrap.servers": cluster.bootstrap_servers, **config})) as consumer:
        consumer.assign([TopicPartition("orders", 0, 0)])
        return [message.value() for message in consumer.consume(count, 20)]


@pytest.mark.parametrize(
    ("order", "expected"),
    [
        ("orders-0#2:gone", [b"a", b"c"]),
        ("orders-0#1:twice", [b"a", b"b", b"c", b"a"]),
        ("orders-0#2:swapped", [b"a", b"c", b"b"]),
    ],
)
def test_damaged_records_are_what_a_consumer_reads(cluster: Cluster, order: str, expected: list[bytes]) -> None:
    cluster.produce("orders", ["a", "b", "c"])
    handle = cluster.damage(order)
    assert read(cluster, len(expected)) == expected
    assert handle.hits == 1


def test_record_is_damaged_before_it_is_acknowledged(cluster: Cluster) -> None:
    handle = cluster.damage("orders-0#2:gone")
    with Producer({"bootstrap.servers": cluster.bootstrap_servers, "log_level": 0}) as producer:
        for value in (b"a", b"b"):
            producer.produce("orders", value)
            producer.flush(20)
    assert ([record.value for record in cluster.records("orders")], handle.hits) == ([b"a"], 1)


def test_damage_without_its_record_is_not_done(cluster: Cluster) -> None:
    cluster.produce("orders", ["a"])
    handles = [cluster.damage("orders-0#1:swapped"), cluster.damage("orders-0#2:gone"), cluster.damage("unknown-0#1:gone")]
    assert read(cluster, 1) == [b"a"]
    assert [handle.hits for handle in handles] == [0, 0, 0]


def test_aborted_record_becomes_visible(cluster: Cluster) -> None:
    handle = cluster.damage("orders-0#1:aborted-visible")
    producer = Producer({"bootstrap.servers": cluster.bootstrap_servers, "transactional.id": "t", "log_level": 0})
    with producer:
        producer.init_transactions(20)
        producer.begin_transaction()
        producer.produce("orders", b"aborted")
        producer.flush(20)
        producer.abort_transaction(20)
    assert read(cluster, 1) == [b"aborted"]
    assert handle.hits == 1


def test_committed_offset_goes_back(cluster: Cluster) -> None:
    handle = cluster.damage("billing@orders-0:offset-back")
    with closing(Consumer({"bootstrap.servers": cluster.bootstrap_servers, "group.id": "billing", "log_level": 0})) as consumer:
        partition = TopicPartition("orders", 0, 7)
        consumer.commit(offsets=[partition], asynchronous=False)
        assert consumer.committed([TopicPartition("orders", 0)], 20)[0].offset == 6
    assert handle.hits == 1


def test_forged_certificate_is_refused_by_clients_that_check_it() -> None:
    with Cluster(nodes=1, topics={"orders": 1}, tls=True) as cluster:
        handle = cluster.damage("certificate:forged")
        config = cluster.client_config("librdkafka") | {"log_level": 0}
        assert error_of(config) == KafkaError._SSL
        assert error_of({**config, "enable.ssl.certificate.verification": False}) is None
        assert (handle.hits > 1, [record.value for record in cluster.records("orders")]) == (True, [b"a"])
        handle.remove()
        assert error_of(config) is None


def error_of(config: dict[str, Any]) -> int | None:
    """Returns the code of the first error that a producer gets, None if its record is stored."""
    outcomes: list[KafkaError | None] = []
    with Producer({**config, "error_cb": outcomes.append}) as producer:
        producer.produce("orders", b"a", on_delivery=lambda error, _: outcomes.append(error))
        while not outcomes:
            producer.poll(1)
        producer.purge()
    return None if outcomes[0] is None else outcomes[0].code()


def test_cluster_without_tls_shows_no_forged_certificate(cluster: Cluster) -> None:
    handle = cluster.damage("certificate:forged")
    cluster.produce("orders", ["a"])
    assert (read(cluster, 1), handle.hits) == ([b"a"], 0)


@pytest.mark.parametrize("text", ["orders", "orders-0#0:gone", "orders-0#1:burnt", "orders-0:gone", "billing@orders:offset-back"])
def test_invalid_damage_names_the_form(text: str) -> None:
    with pytest.raises(InvalidControl, match="must have the form TOPIC-PARTITION#NUMBER"):
        parse_damage(text)


def test_damages_follow_from_the_data_that_all_runs_have() -> None:
    first = StoredData({("a-b", 0): 4, ("c", 1): 1}, {("a-b", 0): [3]}, [("g", "a-b", 0), ("h", "c", 1)])
    second = StoredData({("a-b", 0): 4}, {("a-b", 0): [3]}, [("g", "a-b", 0)])
    found = [*map(str, damages_of([first._replace(has_certificates=True), second]))]
    assert found == [
        "certificate:forged",
        *("a-b-0#1:gone", "a-b-0#1:twice", "a-b-0#1:swapped", "a-b-0#2:gone", "a-b-0#2:twice", "a-b-0#2:swapped"),
        *("a-b-0#4:gone", "a-b-0#4:twice", "a-b-0#3:aborted-visible", "g@a-b-0:offset-back"),
    ]
    assert [str(parse_damage(text)) for text in found] == found


def test_damage_is_told_in_words() -> None:
    assert DamageOrder("gone", "orders", 0, 22).words == "the 22nd record of orders-0 was gone"
    assert DamageOrder("swapped", "orders", 0, 3).words == "the 3rd record of orders-0 and the next one were swapped"
    assert DamageOrder("gone", "orders", 0, 11).words == "the 11th record of orders-0 was gone"
