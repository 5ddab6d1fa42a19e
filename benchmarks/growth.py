"""How cost grows: the same requests while a cluster has 10 to 10,000 partitions, topics, groups, members, connections or consumers.

For each size there are three figures, measured on a broker of its own: the broker's CPU time for each of these things, when requests are
made for all of them; the memory that each of them takes; and the latency of a small Produce beside them, which concerns none of them. If
the cost is proportional to the work, all three stay the same from size to size.
"""

from __future__ import annotations

import socket
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from functools import partial
from statistics import median
from time import perf_counter, sleep
from typing import Any

from odradek.protocol.frame import decode_response, encode_request
from odradek.protocol.messages.consumer_group_heartbeat import CONSUMER_GROUP_HEARTBEAT, ConsumerGroupHeartbeatRequest
from odradek.protocol.messages.create_topics import CREATE_TOPICS, CreatableTopic, CreateTopicsRequest
from odradek.protocol.messages.fetch import FETCH, FetchPartition, FetchRequest, FetchTopic
from odradek.protocol.messages.metadata import METADATA, MetadataRequest
from odradek.protocol.messages.offset_commit import (
    OFFSET_COMMIT,
    OffsetCommitRequest,
    OffsetCommitRequestPartition,
    OffsetCommitRequestTopic,
)
from odradek.protocol.messages.produce import PRODUCE, PartitionProduceData, ProduceRequest, TopicProduceData
from odradek.protocol.schema import Api, Message

from .brokers import ODRADEK, Broker
from .formation import await_coordinator, connected, frame
from .pipeline import batch
from .rows import Figures, Measure, Row

SIZES = (10, 100, 1_000, 10_000)
VERSIONS = {PRODUCE: 9, FETCH: 11, METADATA: 9, CREATE_TOPICS: 7, OFFSET_COMMIT: 8, CONSUMER_GROUP_HEARTBEAT: 0}
TOPIC, BESIDE, GROUP = "growth", "beside", "growth"
IN_FLIGHT = 100
REPETITIONS, ACKNOWLEDGEMENTS = 5, 300
UNLOADED_S = 0.2
"""The time after which a broker has finished what it does once after its start."""
WAIT_MS = 60_000

Visit = Callable[[], None]
"""Makes requests for all things of a size, and waits for their responses."""
Things = Callable[[Broker, int], Iterator[Visit]]
"""Makes as many things as are asked for, and yields the visit to them. They end when it is resumed."""


def _frame(api: Api, request: Message) -> bytes:
    return b"".join(encode_request(api, VERSIONS[api], 1, "bench", request))


def _ask(connection: socket.socket, api: Api, request: Message) -> Any:
    connection.sendall(_frame(api, request))
    return decode_response(api, VERSIONS[api], frame(connection))[1]


def _ask_each(connection: socket.socket, frames: Sequence[bytes]) -> list[memoryview]:
    """Sends requests, of which at most IN_FLIGHT wait for their responses, and returns the responses."""
    responses = []
    for first in range(0, len(frames), IN_FLIGHT):
        some = frames[first : first + IN_FLIGHT]
        connection.sendall(b"".join(some))
        responses += [frame(connection) for _ in some]
    return responses


def _create_topics(connection: socket.socket, names: Sequence[str], partitions: int) -> None:
    for first in range(0, len(names), max(SIZES) // 10):
        topics = [
            CreatableTopic(name=name, num_partitions=partitions, replication_factor=1, assignments=[], configs=[])
            for name in names[first : first + max(SIZES) // 10]
        ]
        created = _ask(connection, CREATE_TOPICS, CreateTopicsRequest(topics=topics, timeout_ms=WAIT_MS))
        if codes := {each.error_code for each in created.topics} - {0}:
            raise RuntimeError(f"the broker refused topics with {codes}")


def _produce(topic: str) -> bytes:
    data = TopicProduceData(name=topic, partition_data=[PartitionProduceData(index=0, records=batch(1, 100))])
    return _frame(PRODUCE, ProduceRequest(transactional_id=None, acks=1, timeout_ms=WAIT_MS, topic_data=[data]))


def _fetch(topic: str, partitions: int, *, offset: int = 0, max_wait_ms: int = 0) -> bytes:
    wanted = [FetchPartition(partition=index, fetch_offset=offset, partition_max_bytes=1 << 20) for index in range(partitions)]
    topics = [FetchTopic(topic=topic, partitions=wanted)]
    return _frame(
        FETCH,
        FetchRequest(max_wait_ms=max_wait_ms, min_bytes=1, max_bytes=1 << 26, session_epoch=-1, topics=topics, forgotten_topics_data=[]),
    )


# The things


def _partitions(broker: Broker, count: int) -> Iterator[Visit]:
    """Partitions of one topic; the visit fetches from all of them, and finds no records."""
    with connected(broker.address) as connection:
        _create_topics(connection, [f"wide-{count}"], count)
        asked = _fetch(f"wide-{count}", count)
        yield lambda: _exchange(connection, asked)


def _exchange(connection: socket.socket, asked: bytes) -> None:
    connection.sendall(asked)
    frame(connection)


def _topics(broker: Broker, count: int) -> Iterator[Visit]:
    """Topics of one partition; the visit asks for the metadata of all topics."""
    with connected(broker.address) as connection:
        _create_topics(connection, [f"topic-{count}-{number}" for number in range(count)], 1)
        asked = _frame(METADATA, MetadataRequest(topics=None))
        yield lambda: _exchange(connection, asked)


def _groups(broker: Broker, count: int) -> Iterator[Visit]:
    """Groups that commit offsets; the visit commits one in each group."""
    asked = [_commit(f"group-{number}") for number in range(count)]
    with connected(broker.address) as connection:

        def visit() -> None:
            _demand_success(connection, OFFSET_COMMIT, asked)

        yield visit


def _commit(group_id: str) -> bytes:
    offset = OffsetCommitRequestPartition(partition_index=0, committed_offset=0, committed_metadata=None)
    topics = [OffsetCommitRequestTopic(name=TOPIC, partitions=[offset])]
    return _frame(OFFSET_COMMIT, OffsetCommitRequest(group_id=group_id, topics=topics))


def _demand_success(connection: socket.socket, api: Api, asked: Sequence[bytes]) -> list[Any]:
    """Returns the responses. Raises RuntimeError if one of them has an error."""
    responses = [decode_response(api, VERSIONS[api], each)[1] for each in _ask_each(connection, asked)]
    results = [each.topics[0].partitions[0] for each in responses] if api is OFFSET_COMMIT else responses
    if codes := {each.error_code for each in results} - {0}:
        raise RuntimeError(f"{api.name} failed with {codes}")
    return responses


def _members(broker: Broker, count: int) -> Iterator[Visit]:
    """Members of one consumer group (KIP-848) without partitions; the visit sends a heartbeat of each."""
    joining = [
        ConsumerGroupHeartbeatRequest(
            group_id=GROUP,
            member_id=f"member-{number}",
            member_epoch=0,
            rebalance_timeout_ms=WAIT_MS,
            subscribed_topic_names=["none"],
            topic_partitions=[],
        )
        for number in range(count)
    ]
    with connected(broker.address) as connection:
        epochs = _beat(connection, joining)

        def visit() -> None:
            epochs.update(_beat(connection, [_heartbeat(member_id, epoch) for member_id, epoch in epochs.items()]))

        yield visit


def _heartbeat(member_id: str, epoch: int) -> ConsumerGroupHeartbeatRequest:
    return ConsumerGroupHeartbeatRequest(group_id=GROUP, member_id=member_id, member_epoch=epoch)


def _beat(connection: socket.socket, heartbeats: Sequence[ConsumerGroupHeartbeatRequest]) -> dict[str, int]:
    """Returns the epochs of the members by id."""
    asked = [_frame(CONSUMER_GROUP_HEARTBEAT, each) for each in heartbeats]
    return {each.member_id: each.member_epoch for each in _demand_success(connection, CONSUMER_GROUP_HEARTBEAT, asked)}


def _connections(broker: Broker, count: int) -> Iterator[Visit]:
    """Connections of producers; the visit appends a record by each."""
    asked = _produce(TOPIC)
    with ExitStack() as stack:
        connections = [stack.enter_context(connected(broker.address)) for _ in range(count)]

        def visit() -> None:
            for first in range(0, count, IN_FLIGHT):
                for each in connections[first : first + IN_FLIGHT]:
                    each.sendall(asked)
                for each in connections[first : first + IN_FLIGHT]:
                    frame(each)

        yield visit


def _consumers(broker: Broker, count: int) -> Iterator[Visit]:
    """Consumers that wait for records of one topic; the visit appends a record, which each of them receives, and lets them wait again."""
    topic = f"consumed-{count}"
    asked = _produce(topic)
    with ExitStack() as stack:
        producer = stack.enter_context(connected(broker.address))
        _create_topics(producer, [topic], 1)
        consumers = [stack.enter_context(connected(broker.address)) for _ in range(count)]
        waiting = iter([_fetch(topic, 1, offset=offset, max_wait_ms=WAIT_MS) for offset in range(2 + REPETITIONS)])

        def wait() -> None:
            following = next(waiting)
            for each in consumers:
                each.sendall(following)

        def visit() -> None:
            _exchange(producer, asked)
            for each in consumers:
                frame(each)
            wait()

        wait()
        yield visit


THINGS: dict[str, Things] = {
    "partitions": _partitions,
    "topics": _topics,
    "groups": _groups,
    "members": _members,
    "connections": _connections,
    "consumers": _consumers,
}
CPU, MEMORY, ACKNOWLEDGEMENT = "CPU", "memory", "acknowledgement beside, p50"
FIGURES = {CPU: "us", MEMORY: "KiB", ACKNOWLEDGEMENT: "us"}
"""The units of the figures: CPU time and memory are those of each thing."""


def row_name(things: str, size: int, figure: str) -> str:
    """Returns the name of a row, which begins with "growth"."""
    return f"growth, {size} {things}: {figure}"


def growth(broker: Broker, things: str, sizes: Sequence[int] = SIZES) -> Figures:
    """Measures one kind of things in several sizes, each with a new process."""
    figures = {}
    for size in sizes:
        with broker.start() as fresh:
            for name, figure in _growth(fresh, THINGS[things], size).items():
                figures[row_name(things, size, name)] = figure
    return figures


def _growth(broker: Broker, things: Things, size: int) -> Figures:
    with connected(broker.address) as connection:
        _create_topics(connection, [TOPIC, BESIDE], 1)
        await_coordinator(broker.address, GROUP)  # which makes the internal topic
        _acknowledgement_us(connection)
        with contextmanager(things)(broker, 1) as visit:  # the first request compiles codecs, which every later one uses
            visit()
        sleep(UNLOADED_S)
        before = broker.resident_bytes()
        with contextmanager(things)(broker, size) as visit:
            visit()
            memory = max(broker.resident_bytes() - before, 0) / size / 1024
            spent_s = [_cpu_s(broker, visit) for _ in range(REPETITIONS)]
            return {CPU: median(spent_s) / size * 1e6, MEMORY: memory, ACKNOWLEDGEMENT: _acknowledgement_us(connection)}


def _cpu_s(broker: Broker, visit: Visit) -> float:
    before_s = broker.cpu_s()
    visit()
    return broker.cpu_s() - before_s


def _acknowledgement_us(connection: socket.socket) -> float:
    asked, times = _produce(BESIDE), []
    for _ in range(ACKNOWLEDGEMENTS):
        began = perf_counter()
        _exchange(connection, asked)
        times.append(perf_counter() - began)
    return median(times) * 1e6


MEASURES = tuple(
    Measure(
        tuple(Row(row_name(things, size, name), unit) for name, unit in FIGURES.items() for size in SIZES),
        partial(growth, things=things),
        (ODRADEK,),
    )
    for things in THINGS
)
