"""Replaced fields of responses, and the check of replacements."""

from __future__ import annotations

from typing import Any

import pytest

from odradek.broker.control_errors import InvalidControl
from odradek.protocol.errors import ErrorCode
from odradek.protocol.messages.create_topics import CREATE_TOPICS, CreatableTopic, CreateTopicsRequest
from odradek.protocol.messages.fetch import FETCH
from odradek.protocol.messages.list_offsets import LIST_OFFSETS, ListOffsetsPartition, ListOffsetsRequest, ListOffsetsTopic
from odradek.protocol.messages.metadata import METADATA, MetadataRequest
from odradek.protocol.messages.produce import PRODUCE
from tests.broker.harness import World, a_batch, fetch_request, produce, produce_request

ALL = MetadataRequest(topics=None)


def leaders(world: World, version: int = 9) -> dict[tuple[str, int], tuple[int, int]]:
    """Returns (leader, epoch) of each partition in the metadata."""
    topics = world.client().call(METADATA, version, ALL).topics
    return {(topic.name, each.partition_index): (each.leader_id, each.leader_epoch) for topic in topics for each in topic.partitions}


def test_mapping_changes_every_item_of_a_list(world: World) -> None:
    world.fault(api="Metadata", respond={"topics": {"partitions": {"leader_id": 7, "leader_epoch": 3}}})
    assert set(leaders(world).values()) == {(7, 3)}


def test_mapping_changes_only_the_selected_items(world: World) -> None:
    before = leaders(world)
    world.fault(api="Metadata", topic="a", partitions=1, respond={"topics": {"partitions": {"leader_id": 7}}})
    assert leaders(world) == before | {("a", 1): (7, before["a", 1][1])}


def test_mapping_changes_items_that_are_encoded_once(world: World) -> None:
    world.fault(api="CreateTopics", respond={"topics": {"configs": {"value": "x"}}})
    topics = [CreatableTopic(name=name, num_partitions=1, replication_factor=1, assignments=[], configs=[]) for name in "cd"]
    response = world.client().call(CREATE_TOPICS, 7, CreateTopicsRequest(topics=topics))
    assert [{config.value for config in topic.configs} for topic in response.topics] == [{"x"}, {"x"}]


def test_list_replaces_a_list_by_position(world: World) -> None:
    world.fault(api="Metadata", respond={"topics": [{"name": "z"}], "brokers": [{}, {"port": 1}, {"node_id": 9, "host": "h", "port": 2}]})
    response = world.client().call(METADATA, 9, ALL)
    assert [(topic.name, len(topic.partitions)) for topic in response.topics] == [("z", 2)]
    assert [(broker.node_id, broker.port) for broker in response.brokers][1:] == [(2, 1), (9, 2)]


def test_empty_list_empties_the_response(world: World) -> None:
    world.fault(api="Metadata", respond={"topics": [], "brokers": []})
    response = world.client().call(METADATA, 9, ALL)
    assert (response.topics, response.brokers) == ([], [])


@pytest.mark.parametrize("version", range(METADATA.versions.first, METADATA.versions.last + 1))
def test_fields_of_other_versions_are_left_out(world: World, version: int) -> None:
    world.fault(
        api="Metadata", respond={"cluster_id": None, "controller_id": 5, "topics": {"topic_id": "AAAAAAAAAAAAAAAAAAAAAQ", "name": None}}
    )
    response = world.client().call(METADATA, version, MetadataRequest(topics=[]) if version == 0 else ALL)
    assert response.controller_id == (5 if version else -1)
    assert {topic.topic_id for topic in response.topics} == {b"\0" * 15 + b"\1" if version >= 10 else bytes(16)}
    assert {topic.name for topic in response.topics} == ({None} if version >= 12 else {"a", "b"})


def test_high_watermark_is_replaced_in_fetches(world: World) -> None:
    produce(world, "b", b"one")
    world.fault(api="Fetch", topic="b", respond={"responses": {"partitions": {"high_watermark": 0, "records": b""}}})
    (data,) = world.leader_of("b").call(FETCH, 11, fetch_request("b", max_wait_ms=0)).responses[0].partitions
    assert (data.high_watermark, bytes(data.records), data.last_stable_offset) == (0, b"", 1)


def test_structure_that_is_absent_is_created(world: World) -> None:
    world.fault(api="Produce", respond={"responses": {"partition_responses": {"current_leader": {"leader_id": 2, "leader_epoch": 8}}}})
    response = world.leader_of("b").call(PRODUCE, 10, produce_request("b", a_batch(b"x")))
    leader = response.responses[0].partition_responses[0].current_leader
    assert (leader.leader_id, leader.leader_epoch) == (2, 8)


def test_error_code_is_given_by_name(world: World) -> None:
    world.fault(api="ListOffsets", respond={"topics": {"partitions": {"error_code": "OFFSET_NOT_AVAILABLE", "offset": -1}}})
    wanted = ListOffsetsPartition(partition_index=0, timestamp=-1)
    request = ListOffsetsRequest(replica_id=-1, topics=[ListOffsetsTopic(name="b", partitions=[wanted])])
    (data,) = world.leader_of("b").call(LIST_OFFSETS, 5, request).topics[0].partitions
    assert (data.error_code, data.offset) == (ErrorCode.OFFSET_NOT_AVAILABLE, -1)


def test_produce_without_acks_has_nothing_to_replace(world: World) -> None:
    fault = world.fault(api="Produce", respond={"throttle_time_ms": 1})
    client = world.leader_of("b")
    client.send(PRODUCE, 9, produce_request("b", a_batch(b"x"), acks=0))
    assert (bytes(client.sent), client.closed, fault.hits) == (b"", None, 1)


@pytest.mark.parametrize(
    ("replacement", "message"),
    [
        (3, "respond: must be a mapping of fields to values, not 3"),
        ({"topic": []}, "respond: MetadataResponse: there is no field 'topic'; did you mean 'topics'?"),
        ({"topics": 3}, "respond.topics: must be a mapping of fields to values, not 3"),
        ({"topics": [{"name": 3}]}, "respond.topics[0].name: must be text, not 3"),
        ({"topics": {"is_internal": 1}}, "respond.topics.is_internal: must be true or false, not 1"),
        (
            {"topics": {"topic_id": "x"}},
            "respond.topics.topic_id: must be an id of 16 bytes, or its text as Kafka's tools print it, not 'x'",
        ),
        ({"topics": {"error_code": "NO"}}, "respond.topics.error_code: error: there is no error code 'NO'; did you mean 'NONE'?"),
        ({"topics": {"error_code": 1 << 15}}, "respond.topics.error_code: must be a number that fits into 16 bits, not 32768"),
        ({"topics": {"partitions": {"isr_nodes": 1}}}, "respond.topics.partitions.isr_nodes: must be a list, not 1"),
        ({"topics": {"partitions": {"isr_nodes": ["x"]}}}, "respond.topics.partitions.isr_nodes[0]: must be a number, not 'x'"),
        ({"topics": {"partitions": None}}, "respond.topics.partitions: must be a mapping of fields to values, not None"),
        ({"controller_id": True}, "respond.controller_id: must be a number, not True"),
        ({"controller_id": 1.5}, "respond.controller_id: must be a number that fits into 32 bits, not 1.5"),
    ],
)
def test_replacement_that_does_not_fit_is_refused(world: World, replacement: Any, message: str) -> None:
    with pytest.raises(InvalidControl) as raised:
        world.fault(api="Metadata", respond=replacement)
    assert (str(raised.value), raised.value.parameter) == (message, "respond")
    assert not world.core.faults.active


def test_bytes_are_given_as_text_or_bytes(world: World) -> None:
    world.fault(api="Fetch", respond={"responses": {"partitions": {"records": "text"}}})
    (data,) = world.leader_of("b").call(FETCH, 11, fetch_request("b", max_wait_ms=0)).responses[0].partitions
    assert bytes(data.records) == b"text"
    with pytest.raises(InvalidControl, match="records: must be bytes or text, not 3"):
        world.fault(api="Fetch", respond={"responses": {"partitions": {"records": 3}}})
