"""Error codes in the responses of every API and version, and errors for a part of a request."""

from __future__ import annotations

from typing import Any

import pytest

from odradek.broker.topics.names import CONSUMER_OFFSETS
from odradek.protocol.errors import ErrorCode
from odradek.protocol.messages import APIS
from odradek.protocol.messages.create_topics import CREATE_TOPICS, CreatableTopic, CreateTopicsRequest
from odradek.protocol.messages.describe_groups import DESCRIBE_GROUPS, DescribeGroupsRequest
from odradek.protocol.messages.fetch import FETCH, FetchPartition, FetchRequest, FetchTopic
from odradek.protocol.messages.heartbeat import HEARTBEAT, HeartbeatRequest
from odradek.protocol.messages.metadata import METADATA, MetadataRequest, MetadataRequestTopic
from odradek.protocol.messages.offset_commit import (
    OFFSET_COMMIT,
    OffsetCommitRequest,
    OffsetCommitRequestPartition,
    OffsetCommitRequestTopic,
)
from odradek.protocol.messages.offset_fetch import OFFSET_FETCH, OffsetFetchRequest, OffsetFetchRequestGroup
from odradek.protocol.messages.produce import PRODUCE, PartitionProduceData, ProduceRequest, TopicProduceData
from odradek.protocol.schema import Api
from tests.broker.api.examples import error_codes, example
from tests.broker.harness import World, a_batch, produce, produce_request

CODE = ErrorCode.REASSIGNMENT_IN_PROGRESS
VERSIONS = [(api, version) for api in APIS.values() for version in range(api.versions.first, api.versions.last + 1)]


@pytest.fixture
def world() -> World:
    world = World(nodes=1)
    world.cluster.topics.create("orders", 2)
    world.cluster.topics.create("payments", 1)
    world.cluster.topics.ensure_internal(CONSUMER_OFFSETS)
    return world


def batches(*places: tuple[str, int], acks: int = -1) -> ProduceRequest:
    """Returns a Produce with one batch for each topic and partition."""
    topics: dict[str, list[PartitionProduceData]] = {}
    for topic, index in places:
        topics.setdefault(topic, []).append(PartitionProduceData(index=index, records=a_batch(b"x")))
    data = [TopicProduceData(name=name, partition_data=partitions) for name, partitions in topics.items()]
    return ProduceRequest(acks=acks, timeout_ms=1000, topic_data=data)


def codes(response: Any) -> dict[tuple[str, int], int]:
    """Returns the error code of each partition of a Produce response, in its order."""
    return {(topic.name, data.index): data.error_code for topic in response.responses for data in topic.partition_responses}


def end_offsets(world: World, topic: str) -> list[int]:
    return [partition.log.end_offset for partition in world.cluster.topics[topic].partitions]


def named(api: Api, version: int) -> Any:
    """Returns a request with one element in each list, for a topic and a partition that exist."""
    request: Any = example(api.request, version)
    if api is FETCH:
        topic_id = bytes(16) if version < 13 else b"x" * 16
        partition = FetchPartition(partition=0, fetch_offset=0, partition_max_bytes=1000)
        return FetchRequest(max_wait_ms=500, min_bytes=1, topics=[FetchTopic(topic="orders", topic_id=topic_id, partitions=[partition])])
    return request


@pytest.mark.parametrize(("api", "version"), VERSIONS, ids=lambda each: each.name if isinstance(each, Api) else str(each))
@pytest.mark.parametrize("stage", ["before", "after"])
def test_error_is_returned_in_every_version(api: Api, version: int, stage: str) -> None:
    world = World(nodes=1)
    fault = world.fault(api=api.name, error=CODE.name, stage=stage)
    client = world.client()
    client.send(api, version, named(api, version))
    world.advance(100_000)
    response = client.receive()
    assert response is not None, client.closed
    assert CODE in error_codes(response)
    assert fault.hits == 1


@pytest.mark.parametrize("code", [code for code in ErrorCode if code], ids=lambda code: code.name)
def test_every_error_code_can_be_returned(world: World, code: ErrorCode) -> None:
    world.fault(api="Produce", error=code.name)
    response = world.client().call(PRODUCE, 9, batches(("orders", 0)))
    assert codes(response) == {("orders", 0): code}


def test_error_before_the_work_leaves_no_record(world: World) -> None:
    world.fault(api="Produce", error="NOT_ENOUGH_REPLICAS", times=1)
    client = world.client()
    assert codes(client.call(PRODUCE, 9, batches(("orders", 0)))) == {("orders", 0): ErrorCode.NOT_ENOUGH_REPLICAS}
    assert end_offsets(world, "orders") == [0, 0]
    assert codes(client.call(PRODUCE, 9, batches(("orders", 0)))) == {("orders", 0): 0}


@pytest.mark.parametrize("criteria", [{}, {"topic": "orders"}, {"topic": "orders", "partitions": [0]}, {"partitions": 0}])
def test_error_after_the_work_leaves_the_record(world: World, criteria: dict[str, Any]) -> None:
    world.fault(api="Produce", error="NOT_ENOUGH_REPLICAS_AFTER_APPEND", stage="after", **criteria)
    response = world.client().call(PRODUCE, 9, batches(("orders", 0)))
    assert codes(response) == {("orders", 0): ErrorCode.NOT_ENOUGH_REPLICAS_AFTER_APPEND}
    assert end_offsets(world, "orders") == [1, 0]


@pytest.mark.parametrize(("stage", "ends"), [("before", [1, 0]), ("after", [1, 1])])
def test_error_of_one_partition_serves_the_others_in_order(world: World, stage: str, ends: list[int]) -> None:
    world.fault(api="Produce", topic="orders", partitions=[1], error="INVALID_RECORD", stage=stage)
    response = world.client().call(PRODUCE, 9, batches(("orders", 1), ("orders", 0), ("payments", 0)))
    assert codes(response) == {("orders", 1): ErrorCode.INVALID_RECORD, ("orders", 0): 0, ("payments", 0): 0}
    assert list(codes(response)) == [("orders", 1), ("orders", 0), ("payments", 0)]
    assert end_offsets(world, "orders") == ends


def test_error_of_a_topic_with_ids_serves_the_others(world: World) -> None:
    world.fault(api="Produce", topic="ord*", error="INVALID_RECORD")
    request = batches(("orders", 0), ("payments", 0))
    for topic in request.topic_data:
        topic.topic_id, topic.name = world.cluster.topics[topic.name].id, ""
    response = world.client().call(PRODUCE, 13, request)
    assert [data.error_code for topic in response.responses for data in topic.partition_responses] == [ErrorCode.INVALID_RECORD, 0]
    assert [topic.topic_id for topic in response.responses] == [topic.topic_id for topic in request.topic_data]


@pytest.mark.parametrize("version", range(PRODUCE.versions.first, 13))
def test_request_without_its_failing_part_is_consistent(world: World, version: int) -> None:
    """The handler looks at the bytes of the request, which are those of the part that is served."""
    world.fault(api="Produce", topic="payments", error="INVALID_RECORD")
    client = world.client()
    for places in ([("orders", 0), ("payments", 0)], [("payments", 0), ("orders", 0)]):
        response = client.call(PRODUCE, version, batches(*places))
        assert codes(response) == {("orders", 0): 0, ("payments", 0): ErrorCode.INVALID_RECORD}
    assert client.closed is None
    assert end_offsets(world, "orders") == [2, 0]


def test_errors_of_two_faults_are_merged(world: World) -> None:
    first = world.fault(api="Produce", topic="orders", error="INVALID_RECORD")
    second = world.fault(api="Produce", topic="payments", error="NOT_LEADER_OR_FOLLOWER")
    response = world.client().call(PRODUCE, 9, batches(("payments", 0), ("orders", 0)))
    assert codes(response) == {("payments", 0): ErrorCode.NOT_LEADER_OR_FOLLOWER, ("orders", 0): ErrorCode.INVALID_RECORD}
    assert (first.hits, second.hits) == (1, 1)


@pytest.mark.parametrize("stage", ["before", "after"])
def test_error_of_a_produce_without_acks_closes(world: World, stage: str) -> None:
    world.fault(api="Produce", error="NOT_LEADER_OR_FOLLOWER", stage=stage)
    client = world.client()
    client.send(PRODUCE, 9, batches(("orders", 0), acks=0))
    assert client.closed == "Produce with acks=0 failed with NOT_LEADER_OR_FOLLOWER"
    assert not client.sent
    assert end_offsets(world, "orders") == [int(stage == "after"), 0]


def test_error_of_a_group_serves_the_other_groups(world: World) -> None:
    world.fault(api="DescribeGroups", group="g1", error="COORDINATOR_LOAD_IN_PROGRESS")
    response = world.client().call(DESCRIBE_GROUPS, 5, DescribeGroupsRequest(groups=["g0", "g1", "g2"]))
    found = [(group.group_id, group.error_code, group.protocol_type, group.protocol_data) for group in response.groups]
    assert found == [("g0", 0, "", ""), ("g1", ErrorCode.COORDINATOR_LOAD_IN_PROGRESS, "", ""), ("g2", 0, "", "")]


def test_error_of_a_group_fails_its_heartbeat(world: World) -> None:
    fault = world.fault(api="Heartbeat", group="g", error="NOT_COORDINATOR")
    client = world.client()
    codes = [
        client.call(HEARTBEAT, 3, HeartbeatRequest(group_id=group, generation_id=1, member_id="m")).error_code for group in ("g", "other")
    ]
    assert codes == [ErrorCode.NOT_COORDINATOR, ErrorCode.UNKNOWN_MEMBER_ID]
    assert fault.hits == 1


def test_error_of_a_commit_is_per_partition(world: World) -> None:
    world.fault(api="OffsetCommit", topic="orders", partitions=0, error="COORDINATOR_NOT_AVAILABLE")
    partitions = [OffsetCommitRequestPartition(partition_index=index, committed_offset=0, committed_metadata="") for index in (0, 1)]
    request = OffsetCommitRequest(
        group_id="g",
        generation_id_or_member_epoch=-1,
        member_id="",
        topics=[OffsetCommitRequestTopic(name="orders", partitions=partitions)],
    )
    response = world.client().call(OFFSET_COMMIT, 8, request)
    assert [each.error_code for each in response.topics[0].partitions] == [ErrorCode.COORDINATOR_NOT_AVAILABLE, 0]


def test_error_for_one_new_topic_creates_the_others(world: World) -> None:
    world.fault(api="CreateTopics", topic="a", error="POLICY_VIOLATION")
    topics = [CreatableTopic(name=name, num_partitions=1, replication_factor=1, assignments=[], configs=[]) for name in "ab"]
    response = world.client().call(CREATE_TOPICS, 6, CreateTopicsRequest(topics=topics, timeout_ms=1000, validate_only=False))
    assert [(topic.name, topic.error_code) for topic in response.topics] == [("a", ErrorCode.POLICY_VIOLATION), ("b", 0)]
    assert "b" in world.cluster.topics
    assert "a" not in world.cluster.topics


@pytest.mark.parametrize("topics", [None, [MetadataRequestTopic(name="payments"), MetadataRequestTopic(name="orders")]])
def test_error_of_metadata_keeps_the_nodes(world: World, topics: list[MetadataRequestTopic] | None) -> None:
    fault = world.fault(api="Metadata", topic="orders", error="LEADER_NOT_AVAILABLE")
    response = world.client().call(METADATA, 9, MetadataRequest(topics=topics, allow_auto_topic_creation=True))
    found = {topic.name: (topic.error_code, len(topic.partitions)) for topic in response.topics if not topic.is_internal}
    assert found == {"payments": (0, 1), "orders": (ErrorCode.LEADER_NOT_AVAILABLE, 0)}
    assert [broker.node_id for broker in response.brokers] == [1]
    assert fault.hits == 1


def test_error_of_a_metadata_partition_keeps_the_others(world: World) -> None:
    world.fault(api="Metadata", topic="orders", partitions=1, error="LEADER_NOT_AVAILABLE")
    response = world.client().call(METADATA, 9, MetadataRequest(topics=[MetadataRequestTopic(name="orders")]))
    (topic,) = response.topics
    found = [(each.partition_index, each.error_code, each.leader_id) for each in topic.partitions]
    assert (topic.error_code, found) == (0, [(0, 0, 1), (1, ErrorCode.LEADER_NOT_AVAILABLE, -1)])


def test_error_of_metadata_does_not_create_topics(world: World) -> None:
    world.fault(api="Metadata", error="LEADER_NOT_AVAILABLE")
    response = world.client().call(METADATA, 9, MetadataRequest(topics=[MetadataRequestTopic(name="new")], allow_auto_topic_creation=True))
    assert [(topic.name, topic.error_code) for topic in response.topics] == [("new", ErrorCode.LEADER_NOT_AVAILABLE)]
    assert "new" not in world.cluster.topics


def fetch(*, session_id: int = 0, epoch: int = -1, indexes: tuple[int, ...] = (0, 1), max_wait_ms: int = 500) -> FetchRequest:
    partitions = [FetchPartition(partition=index, fetch_offset=0, partition_max_bytes=1 << 20) for index in indexes]
    topics = [FetchTopic(topic="orders", partitions=partitions)] if partitions else []
    return FetchRequest(session_id=session_id, session_epoch=epoch, max_wait_ms=max_wait_ms, min_bytes=1, topics=topics)


def test_error_of_a_fetch_is_returned_at_once(world: World) -> None:
    """Without the error, the fetch would wait for records."""
    world.fault(api="Fetch", topic="orders", partitions=1, error="OFFSET_OUT_OF_RANGE")
    response = world.client().call(FETCH, 11, fetch())
    found = [(data.partition_index, data.error_code) for data in response.responses[0].partitions]
    assert (response.error_code, found) == (0, [(0, 0), (1, ErrorCode.OFFSET_OUT_OF_RANGE)])


def test_error_of_a_fetch_removes_the_records_once(world: World) -> None:
    produce(world, "orders", b"one")
    world.fault(api="Fetch", topic="orders", error="NOT_LEADER_OR_FOLLOWER", times=1)
    client = world.client()
    failed, served = (client.call(FETCH, 11, fetch(indexes=(0,))).responses[0].partitions[0] for _ in range(2))
    assert (failed.error_code, failed.records) == (ErrorCode.NOT_LEADER_OR_FOLLOWER, None)
    assert b"one" in bytes(served.records)


def test_error_of_a_session_hits_partitions_not_named(world: World) -> None:
    """An incremental fetch names only what has changed, but it reads all partitions of its session."""
    client = world.client()
    session_id = client.call(FETCH, 11, fetch(epoch=0, max_wait_ms=0)).session_id
    fault = world.fault(api="Fetch", topic="orders", partitions=[1], error="KAFKA_STORAGE_ERROR")
    produce(world, "orders", b"one", partition=1)
    response = world.client().call(FETCH, 11, fetch(session_id=session_id, epoch=1, indexes=()))
    assert [(each.partition_index, each.error_code) for each in response.responses[0].partitions] == [(1, ErrorCode.KAFKA_STORAGE_ERROR)]
    assert fault.exchanges[0].topics == ("orders",)


def test_error_of_a_session_fails_the_whole_fetch(world: World) -> None:
    world.fault(api="Fetch", error="FETCH_SESSION_ID_NOT_FOUND")
    response = world.client().call(FETCH, 11, fetch())
    assert (response.error_code, response.responses) == (ErrorCode.FETCH_SESSION_ID_NOT_FOUND, [])


def test_error_of_all_committed_offsets_is_per_topic(world: World) -> None:
    """The request asks for all topics of its groups, so it does not name the failing one."""
    partitions = [OffsetCommitRequestPartition(partition_index=0, committed_offset=7, committed_metadata="")]
    commit = OffsetCommitRequest(
        group_id="g",
        generation_id_or_member_epoch=-1,
        member_id="",
        topics=[OffsetCommitRequestTopic(name=name, partitions=partitions) for name in ("orders", "payments")],
    )
    world.client().call(OFFSET_COMMIT, 8, commit)
    world.fault(api="OffsetFetch", topic="orders", error="UNSTABLE_OFFSET_COMMIT")
    request = OffsetFetchRequest(groups=[OffsetFetchRequestGroup(group_id="g", topics=None)])
    (group,) = world.client().call(OFFSET_FETCH, 8, request).groups
    found = {topic.name: (topic.partitions[0].error_code, topic.partitions[0].committed_offset) for topic in group.topics}
    assert found == {"orders": (ErrorCode.UNSTABLE_OFFSET_COMMIT, -1), "payments": (0, 7)}


def test_error_of_a_produce_names_no_offset(world: World) -> None:
    world.fault(api="Produce", error="CORRUPT_MESSAGE")
    (topic,) = world.client().call(PRODUCE, 9, produce_request("orders", a_batch(b"x"))).responses
    assert topic.partition_responses[0].base_offset == -1
