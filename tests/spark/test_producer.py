"""The producer against brokers that restart, lose responses or reject batches."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from odradek.broker import Cluster
from odradek.protocol.client.connection import ClientConnection
from odradek.protocol.errors import ErrorCode, KafkaError
from odradek.protocol.messages.init_producer_id import INIT_PRODUCER_ID
from odradek.protocol.messages.produce import PRODUCE
from odradek.spark_sink import producer as producer_module
from odradek.spark_sink.task_writer import write
from tests.spark.arrow_rows import producer_config, rows_of_values
from tests.spark.kafka_topics import Broker, new_topic, records_by_partition


def drop_responses(monkeypatch: pytest.MonkeyPatch, lost: set[int]) -> list[int]:
    """Drops the responses to Produce with the numbers in `lost`. Returns a list to which the number of each response is appended."""
    receive, received = ClientConnection.receive, list[int]()

    def receive_or_drop(connection: ClientConnection) -> Any:
        api = connection._sent[0][0]
        response = receive(connection)
        if api is PRODUCE:
            received.append(len(received))
            if received[-1] in lost:
                raise ConnectionResetError("the response is lost")
        return response

    monkeypatch.setattr(ClientConnection, "receive", receive_or_drop)
    return received


def test_write_lost_responses_repeat_nothing(broker: Broker, monkeypatch: pytest.MonkeyPatch) -> None:
    topic, texts = new_topic(broker), [b"%d" % number for number in range(400)]
    received = drop_responses(monkeypatch, {0, 3, 4, 9, 15})
    write([rows_of_values(texts[n : n + 100]) for n in range(0, 400, 100)], producer_config(broker, batch_size=200), topic)
    assert [value for _, value, _ in records_by_partition(broker, topic, 1, 400)[0]] == texts
    assert len(received) > 20


def test_write_lost_response_not_idempotent_repeats(cluster: Cluster, monkeypatch: pytest.MonkeyPatch) -> None:
    topic = new_topic(cluster)
    drop_responses(monkeypatch, {0})
    write([rows_of_values([b"x"])], producer_config(cluster, idempotent=False, acks=1), topic)
    records_by_partition(cluster, topic, 1, 2)


def test_write_tasks_share_the_producer_of_a_process(cluster: Cluster, monkeypatch: pytest.MonkeyPatch) -> None:
    topic, sent, send = new_topic(cluster), list[Any](), ClientConnection.send

    def recording_send(connection: ClientConnection, api: Any, request: Any) -> None:
        sent.append(api)
        send(connection, api, request)

    monkeypatch.setattr(ClientConnection, "send", recording_send)
    settings = producer_config(cluster, max_block_ms=4321)
    for _ in range(3):
        write([rows_of_values([b"x"] * 10)], settings, topic)
    assert (sent.count(INIT_PRODUCER_ID), sent.count(PRODUCE)) == (1, 3)
    records_by_partition(cluster, topic, 1, 30)


def test_write_second_batch_waits_for_the_first_response(cluster: Cluster, monkeypatch: pytest.MonkeyPatch) -> None:
    topic, events = new_topic(cluster), list[str]()
    send, receive = ClientConnection.send, ClientConnection.receive

    def sending(connection: ClientConnection, api: Any, request: Any) -> None:
        events.append(f"{api.name} sent")
        send(connection, api, request)

    def receiving(connection: ClientConnection) -> Any:
        events.append(f"{connection._sent[0][0].name} response received")
        return receive(connection)

    monkeypatch.setattr(ClientConnection, "send", sending)
    monkeypatch.setattr(ClientConnection, "receive", receiving)
    write([rows_of_values([b"x"] * 500)], producer_config(cluster, batch_size=200), topic)
    produced = [event for event in events if event.startswith("Produce")]
    assert produced[:3] == ["Produce sent", "Produce response received", "Produce sent"]
    assert produced[3:7] == ["Produce sent"] * 4
    records_by_partition(cluster, topic, 1, 500)


def test_write_failed_producer_is_not_reused(broker: Broker) -> None:
    topic, settings = new_topic(broker, max_message_bytes="1000"), producer_config(broker, max_block_ms=1234)
    write([rows_of_values([b"first"])], settings, topic)
    assert settings in producer_module._idle
    with pytest.raises(KafkaError) as caught:
        write([rows_of_values([b"x" * 2000])], settings, topic)
    assert caught.value.code == ErrorCode.MESSAGE_TOO_LARGE
    assert settings not in producer_module._idle
    write([rows_of_values([b"second"])], settings, topic)
    assert [value for _, value, _ in records_by_partition(broker, topic, 1, 2)[0]] == [b"first", b"second"]


def test_write_unknown_topic_raises_or_creates_it() -> None:
    with Cluster(nodes=1, settings={"auto.create.topics.enable": False}) as cluster:
        write([], producer_config(cluster, max_block_ms=50), "nosuch")
        write([rows_of_values([])], producer_config(cluster, max_block_ms=50), "nosuch")
        with pytest.raises(TimeoutError, match=r"Topic nosuch not present in metadata after 50 ms\."):
            write([rows_of_values([b"x"])], producer_config(cluster, max_block_ms=50), "nosuch")
    with Cluster(nodes=1) as cluster:
        write([rows_of_values([b"x"])], producer_config(cluster), "made")
        records_by_partition(cluster, "made", 1, 1)


def test_write_without_a_broker_raises() -> None:
    with Cluster(nodes=1, topics={"t": 1}) as cluster:
        settings = producer_config(cluster, max_block_ms=50, delivery_timeout_ms=50)
        write([rows_of_values([b"x"])], settings, "t")
        cluster.stop_node(1)
        with pytest.raises((OSError, KafkaError)):
            write([rows_of_values([b"x"])], settings, "t")
        with pytest.raises(TimeoutError, match=r"Topic t not present in metadata after 50 ms\."):
            write([rows_of_values([b"x"])], replace(settings, acks=1), "t")
