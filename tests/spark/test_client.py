"""The client: partitions, offsets, missing topics and missing brokers."""

from __future__ import annotations

import socket
from contextlib import closing
from dataclasses import replace

import pytest

from odradek.broker import Cluster
from odradek.protocol.client.connection import TopicPartition
from odradek.protocol.errors import ErrorCode, KafkaError
from odradek.spark_sink.client import EARLIEST, LATEST, ClientConfig, KafkaClient, client_for
from odradek.spark_sink.fetcher import Span, fetch
from tests.spark.kafka_topics import Broker, bodies, config_of, new_topic, produce


def test_client_finds_partitions_and_offsets(broker: Broker, client: KafkaClient) -> None:
    topic = new_topic(broker, 3)
    produce(broker, topic, bodies(5), 1)
    partitions = [TopicPartition(topic, index) for index in range(3)]
    assert client.partitions_where(lambda name: name == topic) == partitions
    assert client.partitions_where(lambda name: name.startswith("__")) == []
    assert client.partitions([topic]) == partitions
    assert client.list_offsets(dict.fromkeys(partitions, LATEST)) == dict(zip(partitions, [0, 5, 0], strict=True))
    assert client.list_offsets(dict.fromkeys(partitions, EARLIEST)) == dict.fromkeys(partitions, 0)
    assert client.list_offsets({partitions[1]: 1_700_000_000_037}) == {partitions[1]: 1}
    assert client.list_offsets({}) == {}


def test_client_unknown_topic_raises(client: KafkaClient) -> None:
    with pytest.raises(KafkaError, match="nosuch") as caught:
        client.partitions(["nosuch"])
    assert caught.value.code == ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
    with closing(KafkaClient(replace(client.config, request_timeout_ms=100, api_timeout_ms=100))) as quick, pytest.raises(KafkaError):
        quick.list_offsets({TopicPartition("nosuch", 0): LATEST})


def test_client_without_a_broker_raises() -> None:
    with closing(socket.create_server(("127.0.0.1", 0))) as silent:
        refused = silent.getsockname()
    config = ClientConfig((refused,), request_timeout_ms=100, api_timeout_ms=100, poll_timeout_ms=100)
    with closing(KafkaClient(config)) as client:
        with pytest.raises(ConnectionRefusedError):
            client.partitions_where(str)
        with pytest.raises(ConnectionRefusedError):
            list(fetch(client, {TopicPartition("t", 0): Span(0, 1)}))


def test_client_for_equal_configs_returns_one_client(cluster: Cluster) -> None:
    config = config_of(cluster)
    assert client_for(config) is client_for(replace(config))
    assert client_for(config) is not client_for(replace(config, client_id="another"))
