"""Fetches of small sizes and several partitions, across restarts and leader changes, of aborted transactions and beyond the log."""

from __future__ import annotations

from collections.abc import Generator
from contextlib import closing
from dataclasses import replace
from typing import Any, cast

import pytest
from confluent_kafka import Producer

from odradek.broker import Cluster
from odradek.protocol.client.connection import ClientConnection, TopicPartition
from odradek.protocol.errors import ErrorCode, KafkaError
from odradek.protocol.messages.fetch import FETCH
from odradek.spark_sink.batches import visible
from odradek.spark_sink.client import READ_COMMITTED, KafkaClient
from odradek.spark_sink.fetcher import Fetched, OffsetOutOfRange, Span, fetch
from tests.spark.kafka_topics import BROKER_SETTINGS, Body, Broker, bodies, config_of, delete_before, new_topic, produce

RACK_AWARE = "org.apache.kafka.common.replica.RackAwareReplicaSelector"


def offsets_read(client: KafkaClient, partition: TopicPartition, start: int, end: int) -> list[tuple[int, int]]:
    found = [fetched.batches for fetched in fetch(client, {partition: Span(start, end)})]
    return [span for batches in found for span in zip(batches.base_offsets.tolist(), batches.last_offsets.tolist(), strict=True)]


def test_fetch_small_fetches_return_all_batches_in_order(broker: Broker, client: KafkaClient) -> None:
    topic = new_topic(broker)
    rows = produce(broker, topic, bodies(500), **{"batch.num.messages": 7})
    with closing(KafkaClient(replace(client.config, max_partition_fetch_bytes=1000))) as small:
        spans = offsets_read(small, TopicPartition(topic, 0), 0, len(rows))
    assert [offset for first, last in spans for offset in range(first, last + 1)] == list(range(len(rows)))
    assert len(spans) > 50


def test_fetch_broker_restarts_lose_and_repeat_nothing() -> None:
    with Cluster(nodes=2, topics={"t": 1}, settings=BROKER_SETTINGS, seed=3) as cluster, closing(KafkaClient(config_of(cluster))) as client:
        rows = produce(cluster, "t", bodies(400), **{"batch.num.messages": 10})
        small = KafkaClient(replace(client.config, max_partition_fetch_bytes=2000))
        spans: list[tuple[int, int]] = []
        with closing(small):
            for number, fetched in enumerate(fetch(small, {TopicPartition("t", 0): Span(0, len(rows))})):
                spans += zip(fetched.batches.base_offsets.tolist(), fetched.batches.last_offsets.tolist(), strict=True)
                if number < 8:
                    [cluster.stop_node, cluster.start_node][number % 2](number // 2 % 2 + 1)
        assert [offset for first, last in spans for offset in range(first, last + 1)] == list(range(len(rows)))
        assert number >= 8


def test_fetch_closed_idle_connection_is_replaced() -> None:
    with Cluster(nodes=1, topics={"t": 1}, settings=BROKER_SETTINGS) as cluster, closing(KafkaClient(config_of(cluster))) as client:
        produce(cluster, "t", bodies(10))
        before = offsets_read(client, TopicPartition("t", 0), 0, 10)
        cluster.stop_node(1)
        cluster.start_node(1)
        assert offsets_read(client, TopicPartition("t", 0), 0, 10) == before
        client.close()
        assert offsets_read(client, TopicPartition("t", 0), 0, 10) == before


def test_fetch_abandoned_generator_keeps_client_usable(broker: Broker, client: KafkaClient) -> None:
    topic = new_topic(broker)
    produce(broker, topic, bodies(100), **{"batch.num.messages": 10})
    with closing(KafkaClient(replace(client.config, max_partition_fetch_bytes=100))) as small:
        given_up = cast("Generator[Fetched, None, None]", fetch(small, {TopicPartition(topic, 0): Span(0, 100)}))
        next(given_up)
        assert len(offsets_read(small, TopicPartition(topic, 0), 0, 100)) >= 10
        assert small.partitions([topic])
        given_up.close()
        assert len(offsets_read(small, TopicPartition(topic, 0), 0, 100)) >= 10


def test_fetch_beyond_the_log_raises(broker: Broker, client: KafkaClient) -> None:
    topic = new_topic(broker)
    produce(broker, topic, bodies(10))
    with closing(KafkaClient(replace(client.config, poll_timeout_ms=100))) as quick:
        for start, end in [(5, 11), (10, 11), (11, 12)]:
            with pytest.raises(KafkaError) as caught:
                offsets_read(quick, TopicPartition(topic, 0), start, end)
            assert caught.value.code == ErrorCode.OFFSET_OUT_OF_RANGE


def test_fetch_one_request_for_all_partitions_of_a_leader(client: KafkaClient, monkeypatch: pytest.MonkeyPatch) -> None:
    with Cluster(nodes=2, topics={"t": 8}, settings=BROKER_SETTINGS, seed=3) as cluster, closing(KafkaClient(config_of(cluster))) as client:
        for index in range(8):
            produce(cluster, "t", bodies(10 + index), index)
        sent, send = [], ClientConnection.send

        def recording_send(connection: ClientConnection, api: Any, request: Any) -> None:
            sent.append(api)
            send(connection, api, request)

        monkeypatch.setattr(ClientConnection, "send", recording_send)
        spans = {TopicPartition("t", index): Span(index, 10 + index) for index in range(8)}
        ends = {fetched.partition: fetched.next_offset for fetched in fetch(client, spans)}
        assert ends == {partition: span.end for partition, span in spans.items()}
        assert sent.count(FETCH) == 2


def test_fetch_batches_larger_than_the_fetch_size(cluster: Cluster) -> None:
    topic = new_topic(cluster, 2)
    body: list[Body] = [(None, b"x" * 5000, [])]
    for index in (0, 1):
        for _ in range(3):
            produce(cluster, topic, body * 4, index)
    config = replace(config_of(cluster), fetch_max_bytes=30_000, max_partition_fetch_bytes=25_000)
    for sizes in (config, replace(config, fetch_max_bytes=1, max_partition_fetch_bytes=1)):
        with closing(KafkaClient(sizes)) as small:
            spans = {TopicPartition(topic, index): Span(0, 12) for index in (0, 1)}
            found: dict[int, list[int]] = {0: [], 1: []}
            for fetched in fetch(small, spans):
                found[fetched.partition.partition] += fetched.batches.base_offsets.tolist()
        assert found == {0: [0, 4, 8], 1: [0, 4, 8]}


def test_fetch_read_committed_returns_aborted_transactions(cluster: Cluster) -> None:
    topic = new_topic(cluster)
    producer = Producer({"bootstrap.servers": cluster.bootstrap_servers, "transactional.id": topic})
    producer.init_transactions()
    for end in (producer.commit_transaction, producer.abort_transaction) * 2:
        producer.begin_transaction()
        producer.produce(topic, b"x", partition=0)
        assert producer.flush(10) == 0
        end()
    with closing(KafkaClient(replace(config_of(cluster), isolation_level=READ_COMMITTED))) as committed:
        partition = TopicPartition(topic, 0)
        offsets = [
            offset
            for fetched in fetch(committed, {partition: Span(0, 8)})
            for offset in visible(fetched.batches, 0, 8, fetched.aborted).base_offsets.tolist()
        ]
    assert offsets == [0, 4]


def test_fetch_prefers_its_rack_and_falls_back_to_leader() -> None:
    cluster = Cluster(nodes=2, topics={"t": 1}, settings=BROKER_SETTINGS | {"replica.selector.class": RACK_AWARE}, seed=3)
    options = cluster._embedded.options
    nodes = tuple(replace(node, rack=f"rack{node.node_id}") for node in options.config.nodes)
    cluster._embedded.options = replace(options, config=replace(options.config, nodes=nodes))
    partition = TopicPartition("t", 0)
    with cluster, closing(KafkaClient(config_of(cluster))) as client:
        rows = produce(cluster, "t", bodies(100), **{"batch.num.messages": 10})
        (leader,) = client.by_node([partition])
        racks = {node: f"rack{number}" for number, node in client._nodes.items()}
        (follower,) = racks.keys() - {leader}
        with closing(KafkaClient(replace(client.config, client_rack=racks[follower], max_partition_fetch_bytes=500))) as near:
            sources = []
            for number, fetched in enumerate(fetch(near, {partition: Span(0, len(rows))})):
                assert int(fetched.batches.base_offsets[0]) == number * 10
                sources.append(next(address for address in (leader, follower) if address not in near._idle))
                if number in (3, 6):
                    [cluster.stop_node, cluster.start_node][number // 6](int(racks[follower].removeprefix("rack")))
        assert sources[:4] == [follower] * 4
        assert leader in sources[4:]
        assert len(sources) == 10


def test_fetch_out_of_range_error_names_the_partition(broker: Broker, client: KafkaClient) -> None:
    topic = new_topic(broker, 2)
    for index in (0, 1):
        produce(broker, topic, bodies(20), index, **{"batch.num.messages": 10})
    delete_before(broker, topic, 10)
    found = []
    with pytest.raises(OffsetOutOfRange, match=f"there is no offset 3 of {topic}-0") as caught:
        found += [fetched.partition for fetched in fetch(client, {TopicPartition(topic, index): Span(3, 20) for index in (0, 1)})]
    assert (caught.value.partition, caught.value.offset) == (TopicPartition(topic, 0), 3)
