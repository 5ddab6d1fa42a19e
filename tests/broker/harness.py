"""A cluster without sockets, and clients that send it messages. Its clock advances only when a test advances it.

All turns of the event loop run until no deferred work is left. If the world is `stepwise`, a test runs each turn itself.

Whenever Metadata uses a kept description of a topic, the description is compared with a new one (`checked`). Therefore every test that
changes a cluster and then asks for Metadata verifies that the change has discarded the descriptions.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Mapping
from copy import copy
from dataclasses import replace
from random import Random
from typing import Any

from odradek.broker.api.context import Parked
from odradek.broker.api.topic_descriptions import Description, TopicDescriber
from odradek.broker.cluster.state import ClusterState
from odradek.broker.connections.connection import Connection
from odradek.broker.connections.core import Core
from odradek.broker.faults.creation import add_fault
from odradek.broker.faults.fault import Fault
from odradek.broker.faults.options import FaultOptions
from odradek.broker.scheduling.slices import Slices
from odradek.broker.scheduling.timers import Timers
from odradek.broker.scheduling.turns import Turns
from odradek.broker.security.startup import Security
from odradek.broker.settings.cluster_config import cluster_of
from odradek.broker.settings.record_limits import DEFAULT_LIMITS, RecordLimits
from odradek.broker.snapshots.cluster import State, nodes_of, read_cluster, restore_cluster
from odradek.broker.topics.partition import Topic
from odradek.protocol.batches.record_builder import build_batch
from odradek.protocol.batches.records import Record
from odradek.protocol.frame import decode_response, encode_request
from odradek.protocol.messages.api_versions import ApiVersionsRequest
from odradek.protocol.messages.fetch import FetchPartition, FetchRequest, FetchTopic
from odradek.protocol.messages.produce import PRODUCE, PartitionProduceData, ProduceRequest, TopicProduceData
from odradek.protocol.schema import Api, Message

START_MS = 1_700_000_000_000
NO_SECURITY = Security()


def checked(
    known: Callable[[TopicDescriber, Topic, int], Description | None],
) -> Callable[[TopicDescriber, Topic, int], Description | None]:
    """Returns `TopicDescriber.find` with a comparison."""

    def checked_known(describer: TopicDescriber, topic: Topic, operations: int) -> Description | None:
        description = known(describer, topic, operations)
        if description is not None:
            kept, topic.descriptions = topic.descriptions, {}
            again = copy(describer)
            again.slices = Slices()
            for _ in again.describe(topic, operations):
                pass
            (new,) = topic.descriptions.values()
            topic.descriptions = kept
            assert description == new, f"the description of {topic.name} is outdated"
        return description

    return checked_known


TopicDescriber.find = checked(TopicDescriber.find)  # type: ignore[assignment, method-assign]


ASK = ApiVersionsRequest(client_software_name="test", client_software_version="1")
"""A request that every broker answers."""


class World:
    """The brokers, their clock, and any number of clients."""

    def __init__(
        self,
        nodes: int = 2,
        settings: Mapping[str, str] | None = None,
        *,
        stepwise: bool = False,
        max_memory_bytes: int | None = None,
        as_version: str | None = None,
        security: Security = NO_SECURITY,
        record: RecordLimits = DEFAULT_LIMITS,
    ) -> None:
        listeners = {"listeners": "PLAINTEXT://127.0.0.1:9092"}
        self.timers = Timers(START_MS)
        self.turns = Turns[Parked](self.timers, lambda: self.seconds)
        properties = security.settings(listeners | dict(settings or {}), settings or {})
        config = security.apply_to(cluster_of([properties], nodes=nodes, as_version=as_version))
        self.config = replace(config, max_memory_bytes=max_memory_bytes, record=record)
        self.cluster = ClusterState(self.config, self.turns, Random(1))
        self.seconds = 0.0
        """The value of the core's clock, which only tests change, so that no time passes within a turn."""
        self.core = Core(self.cluster, self.turns, record)
        self.stepwise = stepwise

    def with_topic(self, name: str, partitions: int) -> World:
        """Creates a topic and returns the world."""
        self.cluster.topics.create(name, partitions)
        return self

    def client(self, node_id: int = 1, listener: str = "", host: str = "127.0.0.1") -> Client:
        """Returns a client of a listener, by default of the node's first one."""
        return Client(self, node_id, listener or next(iter(self.cluster.brokers[node_id].listeners)), host)

    def fault(self, **options: Any) -> Fault:
        """Adds a fault with the options of `cluster.fault`."""
        return add_fault(self.core.faults, FaultOptions(**options))

    def advance(self, milliseconds: int) -> None:
        """Advances the clock, fires the timers that are due, and writes."""
        self.core.advance(self.timers.now_ms + milliseconds)
        self.end_turn()

    def restore(self, state: State, *, continues: bool = False) -> None:
        """Replaces the cluster by one with a former state. Clients of the present cluster must not be used.

        With `continues`, the counters of the present cluster go on, as `Server.restore` does it.
        """
        before, now_ms = self.cluster, self.timers.now_ms
        self.timers = Timers(now_ms)
        self.turns = Turns[Parked](self.timers, lambda: self.seconds)
        self.config = replace(self.config, nodes=nodes_of(state))
        if continues:
            self.cluster = restore_cluster(state, self.config, self.turns, before.random, before.log_memory, before)
        else:
            self.cluster = read_cluster(state, self.config, self.turns, Random(), before.log_memory)
        self.core = Core(self.cluster, self.turns, self.config.record, self.core)
        deque(before.discard(), maxlen=0)

    def turn(self) -> None:
        """Runs one turn of the event loop: deferred work, then output."""
        self.core.next_turn()
        self.core.flush()

    def end_turn(self) -> None:
        """Writes output and runs all further turns, unless the world is stepwise."""
        self.core.flush()
        while self.turns.has_more and not self.stepwise:
            self.turn()

    def leader_of(self, topic: str, partition: int = 0) -> Client:
        """Returns a client of the broker that leads a partition."""
        return self.client(self.cluster.topics[topic].partitions[partition].leader)


class NotRead(AssertionError):
    """A client sends more than the broker reads while earlier requests wait."""


class Client:
    """A connection. `sent` contains all bytes that the broker has written and the test has not read."""

    def __init__(self, world: World, node_id: int, listener: str, host: str) -> None:
        self.world = world
        self.core = core = world.core
        self.aborted = False
        self.sent = bytearray()
        self._asked: list[tuple[Api, int]] = []
        self.connection: Connection = core.connect(world.cluster.brokers[node_id], listener, host, 50_000, self._flush, self._abort)

    def _flush(self) -> None:
        for part in self.connection.take_output():
            self.sent += part
        self.connection.flushed()

    def _abort(self) -> None:
        self.aborted = True

    @property
    def closed(self) -> str | None:
        """Returns the reason for which the broker closed the connection, None while it is open."""
        return self.connection.closing

    def wants_data(self) -> bool:
        """Returns whether the broker reads from the connection."""
        return self.connection.wants_data

    def send(self, api: Api, version: int, request: Message, client_id: str = "test") -> None:
        """Sends a request without waiting for the response."""
        self._asked.append((api, version))
        self.feed(b"".join(encode_request(api, version, len(self._asked), client_id, request)))

    def feed(self, data: bytes) -> None:
        """Sends bytes in pieces of at most the connection's buffer. Raises NotRead if the broker does not read all of them."""
        rest = memoryview(data)
        while rest and self.closed is None:
            room = self.connection.buffer()
            n = min(len(room), len(rest))
            if not n:
                raise NotRead("the connection is not read from while requests are held back")
            room[:n] = rest[:n]
            rest = rest[n:]
            self.connection.received(n)
            self.world.end_turn()

    def receive(self) -> Any:
        """Returns the next response, None if there is none yet."""
        if len(self.sent) < 4:
            return None
        size = int.from_bytes(self.sent[:4], "big")
        frame = memoryview(bytes(self.sent[4 : 4 + size]))
        del self.sent[: 4 + size]
        api, version = self._asked.pop(0)
        return decode_response(api, version, frame)[1]

    def call(self, api: Api, version: int, request: Message, client_id: str = "test") -> Any:
        """Sends a request and returns its response. Fails if the request waits."""
        self.send(api, version, request, client_id)
        response = self.receive()
        assert response is not None, f"no answer; closed: {self.closed}"
        return response


def a_batch(*values: bytes, **options: Any) -> bytes:
    """Returns a record batch of these values with the timestamps 1000, 1001 and so on."""
    records = [Record(offset, 1000 + offset, None, value, []) for offset, value in enumerate(values)]
    return bytes(build_batch(records, **options))


def produce_request(topic: str, batch: bytes | None, *, partition: int = 0, acks: int = -1, topic_id: bytes = bytes(16)) -> ProduceRequest:
    data = PartitionProduceData(index=partition, records=batch)
    return ProduceRequest(acks=acks, timeout_ms=1000, topic_data=[TopicProduceData(name=topic, topic_id=topic_id, partition_data=[data])])


def produce(world: World, topic: str, *values: bytes, partition: int = 0, acks: int = -1, **options: Any) -> int:
    """Produces one batch of these values and returns its base offset."""
    client = world.leader_of(topic, partition)
    version = min(9, world.cluster.serves(PRODUCE).last)
    response = client.call(PRODUCE, version, produce_request(topic, a_batch(*values, **options), partition=partition, acks=acks))
    answer = response.responses[0].partition_responses[0]
    assert answer.error_code == 0, answer
    return int(answer.base_offset)


def fetch_request(topic: str, offset: int = 0, *, max_wait_ms: int = 500, min_bytes: int = 1) -> FetchRequest:
    wanted = FetchPartition(partition=0, fetch_offset=offset, partition_max_bytes=1 << 30)
    return FetchRequest(max_wait_ms=max_wait_ms, min_bytes=min_bytes, topics=[FetchTopic(topic=topic, partitions=[wanted])])
