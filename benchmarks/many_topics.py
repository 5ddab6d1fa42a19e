"""Requests that concern many topics or partitions at once: the broker's CPU time for CreateTopics, DeleteTopics and Fetch.

The requests are sent on one socket, one after the other. Fetch finds no records and does not wait.
"""

from __future__ import annotations

import socket
from collections.abc import Iterable
from contextlib import closing
from statistics import median

from odradek.protocol.frame import decode_response, encode_request
from odradek.protocol.messages.create_topics import CREATE_TOPICS, CreatableTopic, CreatableTopicResult, CreateTopicsRequest
from odradek.protocol.messages.delete_topics import DELETE_TOPICS, DeletableTopicResult, DeleteTopicsRequest, DeleteTopicState
from odradek.protocol.messages.fetch import FETCH, FetchPartition, FetchRequest, FetchTopic
from odradek.protocol.schema import ZERO_UUID, Api, Message

from .brokers import KAFKA, KFAKE, ODRADEK, Broker
from .rows import Figures, Measure, Row, Target
from .topics import new_name

CREATION, DELETION, FETCHING = 7, 6, 11  # the versions, which all compared brokers support
TOPICS, FETCHED_TOPICS, PARTITIONS = 1_000, 5_000, 10_000
FETCHES = 7
TIMEOUT_S = 60


class Administrator:
    """A connection whose requests are measured."""

    def __init__(self, broker: Broker) -> None:
        self._broker = broker
        self._socket = socket.create_connection(broker.address, TIMEOUT_S)
        self._socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self._responses = self._socket.makefile("rb", buffering=1 << 20)

    def create(self, names: list[str], partitions: int) -> float:
        """Creates topics and returns the CPU time of the broker in ms."""
        topics = [CreatableTopic(name=name, num_partitions=partitions, replication_factor=1, assignments=[], configs=[]) for name in names]
        spent_ms, response = self._cpu_ms(CREATE_TOPICS, CREATION, CreateTopicsRequest(topics=topics, timeout_ms=TIMEOUT_S * 1000))
        _demand_success(decode_response(CREATE_TOPICS, CREATION, response)[1].topics)
        return spent_ms

    def delete(self, names: list[str]) -> float:
        """Deletes topics and returns the CPU time of the broker in ms."""
        topics = [DeleteTopicState(name=name, topic_id=ZERO_UUID) for name in names]
        request = DeleteTopicsRequest(topics=topics, topic_names=[], timeout_ms=TIMEOUT_S * 1000)
        spent_ms, response = self._cpu_ms(DELETE_TOPICS, DELETION, request)
        _demand_success(decode_response(DELETE_TOPICS, DELETION, response)[1].responses)
        return spent_ms

    def fetch(self, names: list[str], partitions: int) -> float:
        """Fetches from the first partitions of topics a few times. Returns the median of the CPU times of the broker in ms."""
        wanted = [FetchPartition(partition=index, fetch_offset=0, partition_max_bytes=1 << 20) for index in range(partitions)]
        topics = [FetchTopic(topic=name, partitions=wanted) for name in names]
        request = FetchRequest(max_wait_ms=0, min_bytes=0, max_bytes=1 << 26, session_epoch=-1, topics=topics, forgotten_topics_data=[])
        return median(self._cpu_ms(FETCH, FETCHING, request)[0] for _ in range(FETCHES))

    def close(self) -> None:
        self._responses.close()
        self._socket.close()

    def _cpu_ms(self, api: Api, version: int, request: Message) -> tuple[float, memoryview]:
        frame = b"".join(encode_request(api, version, 1, "bench", request))
        before_s = self._broker.cpu_s()
        self._socket.sendall(frame)
        response = self._responses.read(int.from_bytes(self._responses.read(4)))
        return (self._broker.cpu_s() - before_s) * 1e3, memoryview(response)


def _demand_success(results: Iterable[CreatableTopicResult | DeletableTopicResult]) -> None:
    errors = {each.error_code for each in results} - {0}
    if errors:
        raise RuntimeError(f"the broker refused topics with {errors}")


def many_topics(broker: Broker) -> Figures:
    """Measures requests for many topics in a new process, because the cost must not depend on what has happened before."""
    with broker.start() as fresh, closing(Administrator(fresh)) as administrator:
        names = [new_name() for _ in range(TOPICS)]
        figures = {"create 1,000 topics: CPU": administrator.create(names, 1), "delete 1,000 topics: CPU": administrator.delete(names)}
        wide = new_name()
        administrator.create([wide], PARTITIONS)
        figures["Fetch of 10,000 partitions: CPU"] = administrator.fetch([wide], PARTITIONS)
        administrator.delete([wide])
        names = [new_name() for _ in range(FETCHED_TOPICS)]
        for first in range(0, FETCHED_TOPICS, TOPICS):
            administrator.create(names[first : first + TOPICS], 1)
        return figures | {"Fetch of 5,000 topics: CPU": administrator.fetch(names, 1)}


MEASURES = (
    Measure(
        (
            Row("create 1,000 topics: CPU", "ms", (Target(40),)),
            Row("delete 1,000 topics: CPU", "ms", (Target(15),)),
            Row("Fetch of 10,000 partitions: CPU", "ms", (Target(20),)),
            Row("Fetch of 5,000 topics: CPU", "ms", (Target(20),)),
        ),
        many_topics,
        (ODRADEK, KAFKA, KFAKE),
    ),
)
