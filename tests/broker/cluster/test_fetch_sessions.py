"""Incremental fetch sessions (KIP-227). The expected values are the responses of Apache Kafka 4.3.1 to the same requests."""

from __future__ import annotations

from collections.abc import Sequence
from random import Random
from typing import Any, cast

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, rule

from odradek.broker.cluster.fetch_sessions import EVICTION_MS, MAX_EPOCH, FetchSessions, next_epoch
from odradek.protocol.errors import ErrorCode, KafkaError
from odradek.protocol.messages.fetch import (
    FETCH,
    FetchableTopicResponse,
    FetchPartition,
    FetchRequest,
    FetchResponse,
    FetchTopic,
    ForgottenTopic,
    PartitionData,
)
from tests.broker.harness import Client, World, produce


@pytest.fixture
def world() -> World:
    world = World(nodes=1)
    world.cluster.topics.create("a", 3)
    world.cluster.topics.create("b", 1)
    return world


def wants(*partitions: tuple[str, int, int], topic_ids: World | None = None) -> list[FetchTopic]:
    """Returns topics for (topic, partition, offset) triples, one topic per triple, so that a topic may occur twice."""
    return [
        FetchTopic(
            topic="" if topic_ids else name,
            topic_id=topic_ids.cluster.topics[name].id if topic_ids else bytes(16),
            partitions=[FetchPartition(partition=index, fetch_offset=offset, partition_max_bytes=1 << 20)],
        )
        for name, index, offset in partitions
    ]


def ask(session_id: int, epoch: int, topics: Sequence[FetchTopic] = (), **options: Any) -> FetchRequest:
    request: dict[str, Any] = {"max_wait_ms": 0, "min_bytes": 1, "session_id": session_id, "session_epoch": epoch, "topics": list(topics)}
    return FetchRequest(**(request | options))


def told(response: FetchResponse) -> list[tuple[str, int, int]]:
    """Returns (topic, partition, error or high watermark) in the order of the response."""
    return [
        (topic.topic, data.partition_index, data.error_code or data.high_watermark)
        for topic in response.responses
        for data in topic.partitions
    ]


def opened(client: Client, *partitions: tuple[str, int, int]) -> int:
    response = client.call(FETCH, 11, ask(0, 0, wants(*partitions)))
    assert response.session_id > 0
    return int(response.session_id)


def refused(client: Client, request: FetchRequest, version: int = 11) -> tuple[int, int, list[Any]]:
    response = client.call(FETCH, version, request)
    return response.error_code, response.session_id, response.responses


def test_incremental_fetch_returns_only_changes(world: World) -> None:
    produce(world, "a", b"1")
    client = world.client()
    response = client.call(FETCH, 11, ask(0, 0, wants(("a", 0, 1), ("a", 1, 0), ("b", 0, 0))))
    session = response.session_id
    assert told(response) == [("a", 0, 1), ("a", 1, 0), ("b", 0, 0)]
    response = client.call(FETCH, 11, ask(session, 1))
    assert (told(response), response.session_id, response.error_code) == ([], session, 0)
    produce(world, "a", b"1", partition=1)
    assert told(client.call(FETCH, 11, ask(session, 2))) == [("a", 1, 1)]
    assert told(client.call(FETCH, 11, ask(session, 3))) == [("a", 1, 1)]  # the client has not moved past its records
    assert told(client.call(FETCH, 11, ask(session, 4, wants(("a", 1, 1))))) == []


def test_partition_with_records_moves_to_the_end(world: World) -> None:
    for index in range(3):
        produce(world, "a", b"1", partition=index)
    client = world.client()
    session = opened(client, ("a", 0, 0), ("a", 1, 0), ("a", 2, 1), ("b", 0, 0))
    produce(world, "b", b"1")
    produce(world, "a", b"2", partition=2)
    first = client.call(FETCH, 11, ask(session, 1, max_bytes=1))
    assert [len(cast(bytes, data.records)) > 0 for topic in first.responses for data in topic.partitions] == [True, False, False]
    second = client.call(FETCH, 11, ask(session, 2))
    # The first partition returned records, so it comes after those that had records but got no room.
    assert told(second) == [("a", 1, 1), ("a", 2, 2), ("b", 0, 1), ("a", 0, 1)]
    assert [len(topic.partitions) for topic in second.responses] == [2, 1, 1]  # adjacent partitions of a topic are grouped


def test_incremental_fetch_adds_and_forgets_partitions(world: World) -> None:
    client = world.client()
    session = opened(client, ("a", 0, 0), ("a", 1, 0))
    forget = [ForgottenTopic(topic="a", partitions=[0]), ForgottenTopic(topic="nowhere", partitions=[7])]
    assert told(client.call(FETCH, 11, ask(session, 1, wants(("b", 0, 0)), forgotten_topics_data=forget))) == [("b", 0, 0)]
    produce(world, "a", b"1")
    produce(world, "b", b"1")
    assert told(client.call(FETCH, 11, ask(session, 2))) == [("b", 0, 1)]
    # A partition that a request both adds and forgets is forgotten.
    forget = [ForgottenTopic(topic="b", partitions=[0])]
    assert told(client.call(FETCH, 11, ask(session, 3, wants(("b", 0, 0)), forgotten_topics_data=forget))) == []


def test_session_without_partitions_is_closed(world: World) -> None:
    client = world.client()
    session = opened(client, ("a", 0, 0))
    response = client.call(FETCH, 11, ask(session, 1, forgotten_topics_data=[ForgottenTopic(topic="a", partitions=[0])]))
    assert (response.error_code, response.session_id, response.responses) == (0, 0, [])
    assert refused(client, ask(session, 2)) == (ErrorCode.FETCH_SESSION_ID_NOT_FOUND, 0, [])


def test_invalid_session_requests_get_errors(world: World) -> None:
    client = world.client()
    assert refused(client, ask(5, 1)) == (ErrorCode.FETCH_SESSION_ID_NOT_FOUND, 0, [])
    assert refused(client, ask(0, 1)) == (ErrorCode.FETCH_SESSION_ID_NOT_FOUND, 0, [])
    session = opened(client, ("a", 0, 0))
    for epoch in (2, -5, MAX_EPOCH):
        assert refused(client, ask(session, epoch)) == (ErrorCode.INVALID_FETCH_SESSION_EPOCH, 0, [])
    assert refused(client, ask(session, 1), version=13) == (ErrorCode.FETCH_SESSION_TOPIC_ID_ERROR, 0, [])
    by_id = client.call(FETCH, 13, ask(0, 0, wants(("a", 0, 0), topic_ids=world))).session_id
    assert refused(client, ask(by_id, 1), version=12) == (ErrorCode.FETCH_SESSION_TOPIC_ID_ERROR, 0, [])
    assert client.call(FETCH, 11, ask(session, 1)).error_code == 0  # errors do not advance the epoch


@pytest.mark.parametrize("epoch", [0, -1])
def test_full_fetch_closes_its_session(world: World, epoch: int) -> None:
    client = world.client()
    session = opened(client, ("a", 0, 0))
    response = client.call(FETCH, 11, ask(session, epoch, wants(("a", 0, 0))))
    assert told(response) == [("a", 0, 0)]
    assert (response.session_id > 0) == (epoch == 0)
    assert response.session_id != session
    assert refused(client, ask(session, 1))[0] == ErrorCode.FETCH_SESSION_ID_NOT_FOUND


def test_error_is_repeated_until_it_is_over(world: World) -> None:
    client = world.client()
    error = ("a", 0, ErrorCode.OFFSET_OUT_OF_RANGE)
    response = client.call(FETCH, 11, ask(0, 0, wants(("a", 0, 9))))
    session = response.session_id
    assert told(response) == [error]
    assert told(client.call(FETCH, 11, ask(session, 1))) == [error]
    assert told(client.call(FETCH, 11, ask(session, 2, wants(("a", 0, 0))))) == [("a", 0, 0)]
    assert told(client.call(FETCH, 11, ask(session, 3))) == []


def test_new_log_start_is_a_change(world: World) -> None:
    produce(world, "a", b"1", b"2")
    client = world.client()
    session = opened(client, ("a", 0, 2))
    world.cluster.topics["a"].partitions[0].log.delete_before(1)
    assert told(client.call(FETCH, 11, ask(session, 1))) == [("a", 0, 2)]
    assert told(client.call(FETCH, 11, ask(session, 2))) == []


def test_session_waits_for_min_bytes(world: World) -> None:
    client = world.client()
    session = opened(client, ("a", 0, 0), ("b", 0, 0))
    client.send(FETCH, 11, ask(session, 1, max_wait_ms=500))
    assert client.receive() is None
    produce(world, "b", b"1")
    assert told(client.receive()) == [("b", 0, 1)]
    client.send(FETCH, 11, ask(session, 2, wants(("b", 0, 1)), max_wait_ms=500))
    world.advance(500)
    assert told(client.receive()) == []


def test_session_used_elsewhere_refuses_the_waiting_fetch(world: World) -> None:
    waiting, other = world.client(), world.client()
    session = opened(waiting, ("a", 0, 0))
    waiting.send(FETCH, 11, ask(session, 1, max_wait_ms=500))
    assert other.call(FETCH, 11, ask(session, 2)).error_code == 0
    world.advance(500)
    response = waiting.receive()
    assert (response.error_code, response.session_id, response.responses) == (ErrorCode.INVALID_FETCH_SESSION_EPOCH, session, [])


@pytest.mark.parametrize("change", ["records", "start", "leader", "deletion", "anew"])
def test_quiet_partition_is_read_again_when_it_changes(world: World, change: str) -> None:
    produce(world, "a", b"1")
    client = world.client()
    session = opened(client, ("a", 0, 1), ("b", 0, 0))
    for epoch in (1, 2):
        assert told(client.call(FETCH, 11, ask(session, epoch))) == []
    topic = world.cluster.topics["a"]
    match change:
        case "records":
            produce(world, "a", b"2")
            expected = ("a", 0, 2)
        case "start":
            topic.partitions[0].log.delete_before(1)
            expected = ("a", 0, 1)
        case "leader":
            topic.partitions[0].reassign([2], [1, 2])
            topic.partitions[0].catch_up([2], [1, 2])
            expected = ("a", 0, ErrorCode.NOT_LEADER_OR_FOLLOWER)
        case "deletion" | "anew":
            world.cluster.delete_topic(topic)
            expected = ("a", 0, ErrorCode.UNKNOWN_TOPIC_OR_PARTITION)
            if change == "anew":
                world.cluster.topics.create("a", 1)
                expected = ("a", 0, ErrorCode.OFFSET_OUT_OF_RANGE)
    assert told(client.call(FETCH, 11, ask(session, 3))) == [expected]


def test_quiet_partition_wakes_the_waiting_fetch(world: World) -> None:
    client = world.client()
    session = opened(client, ("a", 0, 0), ("b", 0, 0))
    assert told(client.call(FETCH, 11, ask(session, 1))) == []
    client.send(FETCH, 11, ask(session, 2, max_wait_ms=500))
    produce(world, "b", b"1")
    assert told(client.receive()) == [("b", 0, 1)]


def test_rack_aware_session_reads_quiet_partitions() -> None:
    world = World(settings={"replica.selector.class": "org.apache.kafka.common.replica.RackAwareReplicaSelector"})
    world.cluster.topics.create("t", 1, 2)
    leader = world.cluster.topics["t"].partitions[0].leader
    client = world.client(leader)
    session = opened(client, ("t", 0, 0))
    assert told(client.call(FETCH, 11, ask(session, 1, rack_id="west"))) == []
    world.cluster.brokers[3 - leader].rack = "west"
    (topic,) = client.call(FETCH, 11, ask(session, 2, rack_id="west")).responses
    assert topic.partitions[0].preferred_read_replica == 3 - leader


def test_topic_ids_of_deleted_and_unknown_topics_get_errors(world: World) -> None:
    client = world.client()
    old = wants(("b", 0, 0), topic_ids=world)
    session = client.call(FETCH, 13, ask(0, 0, old)).session_id
    stranger = FetchTopic(topic_id=b"x" * 16, partitions=[FetchPartition(partition=0, fetch_offset=0, partition_max_bytes=1)])

    def codes(epoch: int, topics: Sequence[FetchTopic] = ()) -> list[int]:
        response = client.call(FETCH, 13, ask(session, epoch, topics))
        return [data.error_code for topic in response.responses for data in topic.partitions]

    assert codes(1, [stranger]) == [ErrorCode.UNKNOWN_TOPIC_ID]
    world.cluster.delete_topic(world.cluster.topics["b"])
    assert codes(2) == [ErrorCode.UNKNOWN_TOPIC_ID, ErrorCode.UNKNOWN_TOPIC_OR_PARTITION]
    world.cluster.topics.create("b", 1)
    assert codes(3) == [ErrorCode.INCONSISTENT_TOPIC_ID, ErrorCode.UNKNOWN_TOPIC_ID]
    assert client.call(FETCH, 13, ask(0, -1, old)).responses[0].partitions[0].error_code == ErrorCode.UNKNOWN_TOPIC_ID


def test_stopped_node_has_no_sessions() -> None:
    world = World()
    world.cluster.topics.create("t", 1)
    session = opened(world.client(1), ("t", 0, 0))
    world.cluster.nodes.stop(1)
    world.cluster.nodes.start(1)
    assert refused(world.client(1), ask(session, 1))[0] == ErrorCode.FETCH_SESSION_ID_NOT_FOUND


def test_fetch_without_a_free_slot_gets_no_session() -> None:
    world = World(nodes=1, settings={"max.incremental.fetch.session.cache.slots": "0"})
    world.cluster.topics.create("a", 1)
    response = world.client().call(FETCH, 11, ask(0, 0, wants(("a", 0, 0))))
    assert (told(response), response.session_id) == ([("a", 0, 0)], 0)


# The slots


def open_one(sessions: FetchSessions, partitions: int, now_ms: int) -> int:
    topics = [
        FetchTopic(topic="t", partitions=[FetchPartition(partition=n, fetch_offset=0, partition_max_bytes=1) for n in range(partitions)])
    ]
    answers = [FetchableTopicResponse(topic="t", partitions=[])]
    return sessions.open(topics, answers, lambda id_: "", topic_ids=False, now_ms=now_ms)


def test_eviction_takes_unused_then_old_smaller_sessions() -> None:
    sessions = FetchSessions(2, Random(1))
    small, large = open_one(sessions, 2, 0), open_one(sessions, 5, 0)
    assert open_one(sessions, 100, EVICTION_MS) == 0  # both are younger than EVICTION_MS
    for session_id in (small, large):
        sessions.touch(sessions.resume(session_id, 1, topic_ids=False), EVICTION_MS + 1)
    assert open_one(sessions, 2, EVICTION_MS + 2) == 0  # no session is smaller
    third = open_one(sessions, 3, EVICTION_MS + 2)
    assert third > 0
    with pytest.raises(KafkaError):
        sessions.resume(small, 2, topic_ids=False)
    assert open_one(sessions, 1, 2 * EVICTION_MS + 2) > 0  # the large one was idle for EVICTION_MS
    assert len(sessions) == 2
    sessions.resume(third, 1, topic_ids=False)


def test_epoch_wraps_to_1() -> None:
    assert [next_epoch(epoch) for epoch in (0, 1, MAX_EPOCH - 1, MAX_EPOCH)] == [1, 2, MAX_EPOCH, 1]


# The model: a client that applies the changes has the same state as after a full fetch.

NAMES = st.sampled_from(["a", "b"])
INDEXES = st.integers(0, 2)


class SessionMachine(RuleBasedStateMachine):
    @initialize(topic_ids=st.booleans())
    def begin(self, topic_ids: bool) -> None:
        self.world = World(nodes=1)
        for name in ("a", "b"):
            self.world.cluster.topics.create(name, 2)  # partition 2 is unknown
        self.topic_ids = topic_ids
        self.client, self.other = self.world.client(), self.world.client()
        self.wanted: dict[tuple[str, int], int] = {("a", 0): 0}
        self.known: dict[tuple[str, int], tuple[int, int, int]] = {}
        response = self._call(self.client, ask(0, 0, self._topics(self.wanted)))
        self.session, self.epoch = response.session_id, 1
        self._apply(response)

    @rule(name=NAMES, index=st.integers(0, 1))
    def produce(self, name: str, index: int) -> None:
        produce(self.world, name, b"x", partition=index)

    @rule(name=NAMES, index=st.integers(0, 1))
    def delete_records(self, name: str, index: int) -> None:
        log = self.world.cluster.topics[name].partitions[index].log
        log.delete_before(log.end_offset)

    @rule(
        change=st.dictionaries(st.tuples(NAMES, INDEXES), st.integers(0, 3), max_size=3),
        drop=st.sets(st.tuples(NAMES, INDEXES), max_size=2),
    )
    def fetch(self, change: dict[tuple[str, int], int], drop: set[tuple[str, int]]) -> None:
        self.wanted = {key: offset for key, offset in (self.wanted | change).items() if key not in drop} or {("b", 1): 0}
        change = {key: offset for key, offset in self.wanted.items() if key in change or key == ("b", 1)}
        drop -= self.wanted.keys()
        self.known = {key: value for key, value in self.known.items() if key not in drop}
        forgotten = [
            ForgottenTopic(topic="" if self.topic_ids else name, topic_id=self._id(name), partitions=[index])
            for name, index in sorted(drop)
        ]
        response = self._call(self.client, ask(self.session, self.epoch, self._topics(change), forgotten_topics_data=forgotten))
        assert (response.error_code, response.session_id) == (0, self.session)
        self.epoch += 1
        seen = self._apply(response)
        full = self._call(self.other, ask(0, -1, self._topics(self.wanted)))
        expected = self._values(full)
        assert self.known == {key: data[:3] for key, data in expected.items()}
        # Records and errors are always returned; unchanged partitions never are.
        assert {key for key, data in expected.items() if data[3] or data[2]} <= seen

    def _apply(self, response: FetchResponse) -> set[tuple[str, int]]:
        values = self._values(response)
        for key, (high_watermark, start, error, has_records) in values.items():
            assert has_records or error or self.known.get(key) != (high_watermark, start, error)
            self.known[key] = (high_watermark, start, error)
        return set(values)

    def _values(self, response: FetchResponse) -> dict[tuple[str, int], tuple[int, int, int, bool]]:
        names = {topic.id: name for name, topic in self.world.cluster.topics.items()}
        return {
            (topic.topic or names[topic.topic_id], data.partition_index): (
                data.high_watermark,
                data.log_start_offset,
                data.error_code,
                len(cast(bytes, data.records)) > 0,
            )
            for topic in response.responses
            for data in topic.partitions
        }

    def _topics(self, wanted: dict[tuple[str, int], int]) -> list[FetchTopic]:
        return wants(*((*key, offset) for key, offset in wanted.items()), topic_ids=self.world if self.topic_ids else None)

    def _id(self, name: str) -> bytes:
        return self.world.cluster.topics[name].id if self.topic_ids else bytes(16)

    def _call(self, client: Client, request: FetchRequest) -> Any:
        return client.call(FETCH, 13 if self.topic_ids else 12, request)


SessionMachine.TestCase.settings = settings(max_examples=60, stateful_step_count=25, deadline=None)
TestSessionAgainstFullFetches = SessionMachine.TestCase


def test_preferred_replica_and_divergence_are_repeated() -> None:
    sessions = FetchSessions(1, Random(1))
    open_one(sessions, 1, 0)
    session = next(iter(sessions._sessions.values()))
    answer = PartitionData(partition_index=0, high_watermark=-1, aborted_transactions=None, records=b"", preferred_read_replica=2)
    for _ in range(2):
        assert session.changes([FetchableTopicResponse(topic="t", partitions=[answer])], lambda name, index: None)
