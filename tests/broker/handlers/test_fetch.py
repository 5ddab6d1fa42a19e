from __future__ import annotations

from typing import Any, cast

import pytest

from odradek.protocol.batches.records import batches
from odradek.protocol.errors import ErrorCode
from odradek.protocol.messages.fetch import FETCH, FetchPartition, FetchRequest, FetchResponse, FetchTopic
from tests.broker.harness import World, produce

VERSIONS = range(FETCH.versions.first, FETCH.versions.last + 1)


@pytest.fixture
def world() -> World:
    return World(nodes=1).with_topic("t", 3)


def request(world: World, *wanted: tuple[int, int], version: int = 11, partition_max_bytes: int = 1 << 20, **options: Any) -> FetchRequest:
    topic = world.cluster.topics["t"]
    partitions = [FetchPartition(partition=index, fetch_offset=offset, partition_max_bytes=partition_max_bytes) for index, offset in wanted]
    topics = [FetchTopic(topic="t", topic_id=topic.id if version >= 13 else bytes(16), partitions=partitions)]
    fields: dict[str, Any] = {"max_wait_ms": 0, "min_bytes": 1, "topics": topics}
    return FetchRequest(**(fields | options))


def fetched(response: FetchResponse) -> list[list[bytes | None]]:
    """Returns the values of each partition."""
    return [
        [record.value for batch in batches(bytes(cast(bytes, partition.records))) for record in batch.records()]
        for topic in response.responses
        for partition in topic.partitions
    ]


@pytest.mark.parametrize("version", VERSIONS)
def test_fetch_returns_produced_records(world: World, version: int) -> None:
    produce(world, "t", b"a", b"b")
    produce(world, "t", b"c")
    response = world.client().call(FETCH, version, request(world, (0, 0), (1, 0), version=version))
    assert fetched(response) == [[b"a", b"b", b"c"], []]
    partition = response.responses[0].partitions[0]
    assert (partition.high_watermark, partition.last_stable_offset) == (3, 3)
    assert response.session_id == 0


def test_fetch_begins_with_the_batch_of_the_offset(world: World) -> None:
    produce(world, "t", b"a", b"b")
    produce(world, "t", b"c")
    assert fetched(world.client().call(FETCH, 11, request(world, (0, 1)))) == [[b"a", b"b", b"c"]]
    assert fetched(world.client().call(FETCH, 11, request(world, (0, 2)))) == [[b"c"]]
    assert fetched(world.client().call(FETCH, 11, request(world, (0, 3)))) == [[]]


@pytest.mark.parametrize("offset", [-1, 4, 1 << 40])
def test_fetch_outside_the_log_gets_an_error(world: World, offset: int) -> None:
    produce(world, "t", b"a", b"b", b"c")
    (partition,) = world.client().call(FETCH, 11, request(world, (0, offset))).responses[0].partitions
    assert partition.error_code == ErrorCode.OFFSET_OUT_OF_RANGE
    assert (partition.high_watermark, partition.last_stable_offset, partition.log_start_offset) == (-1, -1, -1)
    assert partition.records == b""


def test_fetch_errors_of_topics_leaders_and_epochs(world: World) -> None:
    def code(answer: FetchResponse) -> int:
        return int(answer.responses[0].partitions[0].error_code)

    client = world.client()
    assert code(client.call(FETCH, 11, request(world, (9, 0)))) == ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
    unknown = request(world, (0, 0), version=13)
    unknown.topics[0].topic_id = b"?" * 16
    assert code(client.call(FETCH, 13, unknown)) == ErrorCode.UNKNOWN_TOPIC_ID
    ahead = request(world, (0, 0))
    ahead.topics[0].partitions[0].current_leader_epoch = 5
    assert code(client.call(FETCH, 11, ahead)) == ErrorCode.UNKNOWN_LEADER_EPOCH
    world.cluster.topics["t"].partitions[0].elect(1)
    behind = request(world, (0, 0))
    behind.topics[0].partitions[0].current_leader_epoch = 0
    assert code(client.call(FETCH, 11, behind)) == ErrorCode.FENCED_LEADER_EPOCH


def test_fetch_from_another_broker_returns_the_leader() -> None:
    world = World()
    world.cluster.topics.create("t", 1, 1)
    leader = world.cluster.topics["t"].partitions[0].leader
    wrong = 3 - leader
    response = world.client(wrong).call(FETCH, 16, request(world, (0, 0), version=16))
    partition = response.responses[0].partitions[0]
    assert partition.error_code == ErrorCode.NOT_LEADER_OR_FOLLOWER
    assert partition.current_leader.leader_id == leader
    assert [node.node_id for node in response.node_endpoints] == [leader]


def test_fetch_obeys_its_limits(world: World) -> None:
    for index in range(3):
        for _ in range(4):
            produce(world, "t", bytes(1000), partition=index)
    size = world.cluster.topics["t"].partitions[0].log.size // 4
    ask = [(0, 0), (1, 0), (2, 0)]

    def counts(**options: Any) -> list[int]:
        return [len(values) for values in fetched(world.client().call(FETCH, 11, request(world, *ask, **options)))]

    assert counts() == [4, 4, 4]
    assert counts(partition_max_bytes=2 * size) == [2, 2, 2]
    assert counts(max_bytes=5 * size) == [4, 1, 0]
    assert counts(max_bytes=1) == [1, 0, 0]  # the first batch comes whatever its size (KIP-74)
    assert counts(partition_max_bytes=1) == [1, 0, 0]
    assert counts(max_bytes=0) == [1, 0, 0]


def test_fetch_waits_for_min_bytes(world: World) -> None:
    client = world.client()
    client.send(FETCH, 11, request(world, (0, 0), (1, 0), max_wait_ms=500, min_bytes=1500))
    produce(world, "t", bytes(1000))
    assert client.receive() is None
    produce(world, "t", bytes(1000), partition=1)
    assert [len(values) for values in fetched(client.receive())] == [1, 1]


def test_fetch_with_an_error_does_not_wait(world: World) -> None:
    client = world.client()
    client.send(FETCH, 11, request(world, (0, 0), (1, 5), max_wait_ms=500))
    assert client.receive() is not None
    client.send(FETCH, 11, request(world, (9, 0), max_wait_ms=500))
    assert client.receive() is not None
    client.send(FETCH, 11, FetchRequest(max_wait_ms=500, min_bytes=1, topics=[]))
    assert client.receive() is not None


def test_unknown_partition_comes_last_after_the_wait(world: World) -> None:
    client = world.client()
    client.send(FETCH, 11, request(world, (9, 0), (0, 0), max_wait_ms=500))
    assert client.receive() is None
    world.advance(500)
    (topic,) = client.receive().responses
    unknown = ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
    assert [(partition.partition_index, partition.error_code) for partition in topic.partitions] == [(0, 0), (9, unknown)]


def test_followers_serve_fetches_from_v11_on() -> None:
    world = World()
    world.cluster.topics.create("t", 1, 2)
    produce(world, "t", b"a")
    follower = world.client(3 - world.cluster.topics["t"].partitions[0].leader)
    assert fetched(follower.call(FETCH, 11, request(world, (0, 0)))) == [[b"a"]]
    refused = follower.call(FETCH, 10, request(world, (0, 0)))
    assert refused.responses[0].partitions[0].error_code == ErrorCode.NOT_LEADER_OR_FOLLOWER


RACKS = {"replica.selector.class": "org.apache.kafka.common.replica.RackAwareReplicaSelector"}


@pytest.mark.parametrize(("settings", "near"), [(RACKS, True), ({}, False)])
def test_leader_returns_the_replica_in_the_clients_rack(settings: dict[str, str], near: bool) -> None:
    world = World(settings=settings)
    world.cluster.topics.create("t", 1, 2)
    produce(world, "t", b"a")
    leader = world.cluster.topics["t"].partitions[0].leader
    world.cluster.brokers[leader].rack, world.cluster.brokers[3 - leader].rack = "east", "west"

    def read(node: int, rack: str, version: int = 11, offset: int = 0) -> Any:
        ask = request(world, (0, offset), rack_id=rack, max_wait_ms=500)
        return world.client(node).call(FETCH, version, ask).responses[0].partitions[0]

    sent = read(leader, "west")
    assert sent.preferred_read_replica == (3 - leader if near else -1)
    assert (len(sent.records) == 0, sent.high_watermark) == (near, 1)
    stay = [read(leader, "east"), read(leader, ""), read(leader, "north"), read(3 - leader, "west"), read(leader, "west", version=10)]
    assert [(answer.preferred_read_replica, len(answer.records) > 0) for answer in stay] == [(-1, True)] * 5
    assert read(leader, "west", offset=7).error_code == ErrorCode.OFFSET_OUT_OF_RANGE


@pytest.mark.parametrize(("version", "epoch", "code"), [(10, -1, ErrorCode.NOT_LEADER_OR_FOLLOWER), (11, 0, ErrorCode.FENCED_LEADER_EPOCH)])
def test_leader_change_ends_the_wait(version: int, epoch: int, code: ErrorCode) -> None:
    world = World()
    world.cluster.topics.create("t", 1)
    client = world.leader_of("t")
    leader = world.cluster.topics["t"].partitions[0].leader
    ask = request(world, (0, 0), max_wait_ms=500)
    ask.topics[0].partitions[0].current_leader_epoch = epoch
    client.send(FETCH, version, ask)
    world.cluster.topics["t"].partitions[0].elect(3 - leader)
    world.cluster.wake(world.cluster.topics["t"].partitions[0])
    world.advance(0)
    assert client.receive().responses[0].partitions[0].error_code == code


def test_deleting_the_topic_ends_the_wait(world: World) -> None:
    client = world.client()
    client.send(FETCH, 11, request(world, (0, 0), max_wait_ms=500))
    world.cluster.delete_topic(world.cluster.topics["t"])
    world.advance(0)
    assert client.receive().responses[0].partitions[0].error_code == ErrorCode.UNKNOWN_TOPIC_OR_PARTITION


def test_read_committed_has_a_list_of_aborted_transactions(world: World) -> None:
    produce(world, "t", b"a")
    for isolation_level, aborted in ((0, None), (1, [])):
        response = world.client().call(FETCH, 11, request(world, (0, 0), isolation_level=isolation_level))
        assert response.responses[0].partitions[0].aborted_transactions == aborted


def test_unknown_session_id_is_not_found(world: World) -> None:
    response = world.client().call(FETCH, 11, request(world, (0, 0), session_id=5, session_epoch=1))
    assert (response.error_code, response.responses) == (ErrorCode.FETCH_SESSION_ID_NOT_FOUND, [])


def test_diverging_reader_gets_the_diverging_epoch(world: World) -> None:
    partition = world.cluster.topics["t"].partitions[0]
    produce(world, "t", b"a", b"b")
    partition.elect(1)
    produce(world, "t", b"c")

    def read(offset: int, last_fetched_epoch: int) -> Any:
        ask = request(world, (0, offset), version=12)
        ask.topics[0].partitions[0].last_fetched_epoch = last_fetched_epoch
        return world.client().call(FETCH, 12, ask).responses[0].partitions[0]

    assert read(2, 0).diverging_epoch is None
    diverging = read(3, 0).diverging_epoch
    assert (diverging.epoch, diverging.end_offset) == (0, 2)
    assert read(3, 7).error_code == ErrorCode.OFFSET_OUT_OF_RANGE
    assert read(3, 1).error_code == 0
