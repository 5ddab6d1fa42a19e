"""Large requests are decoded in slices, and a request with too many items is refused before memory is taken."""

from __future__ import annotations

import tracemalloc

import pytest

from odradek.protocol.codec import MAX_ITEMS
from odradek.protocol.codec.decoders import SLICE_ITEMS
from odradek.protocol.frame import LENGTH, encode_request
from odradek.protocol.messages.api_versions import API_VERSIONS, ApiVersionsRequest
from odradek.protocol.messages.delete_topics import DELETE_TOPICS, DeleteTopicsRequest
from odradek.protocol.messages.fetch import FETCH, FetchPartition, FetchRequest, FetchTopic
from odradek.protocol.messages.metadata import METADATA, MetadataRequest, MetadataRequestTopic
from odradek.protocol.messages.produce import PRODUCE, ProduceRequest
from odradek.protocol.schema import Api, Message
from odradek.protocol.varints import put_uvarint
from tests.broker.harness import Client, World

VERSIONS = ApiVersionsRequest(client_software_name="", client_software_version="")
NAMES = 3000
WANTED = FetchPartition(partition=0, fetch_offset=0, partition_max_bytes=1)


@pytest.fixture
def stepwise() -> World:
    return World(1, {"auto.create.topics.enable": "false"}, stepwise=True)


def names(count: int, length: int = 8) -> MetadataRequest:
    return MetadataRequest(topics=[MetadataRequestTopic(name=f"{number:0{length}}") for number in range(count)])


def frame_of(api: Api, version: int, request: Message) -> bytes:
    return b"".join(encode_request(api, version, 1, "test", request))


def framed(api: Api, version: int, body: bytes) -> bytes:
    """Returns a frame of a flexible version with a body that no message of ours encodes."""
    header = api.key.to_bytes(2, "big") + version.to_bytes(2, "big") + bytes(4) + b"\xff\xff" + b"\0"
    return LENGTH.pack(len(header) + len(body)) + header + body


def uvarint(value: int) -> bytes:
    out = bytearray()
    put_uvarint(out, value)
    return bytes(out)


def finish(world: World) -> int:
    """Runs all turns and returns their number."""
    turns = 0
    while world.turns.has_more:
        world.turn()
        turns += 1
    return turns


def test_large_request_is_decoded_in_many_turns(stepwise: World) -> None:
    client, other = stepwise.client(), stepwise.client()
    client.send(METADATA, 9, names(NAMES))
    for _ in range(NAMES // SLICE_ITEMS - 1):
        assert client.receive() is None
        assert other.call(API_VERSIONS, 0, VERSIONS).api_keys
        stepwise.turn()
    finish(stepwise)
    assert [topic.name for topic in client.receive().topics] == [topic.name for topic in names(NAMES).topics or []]


def test_request_in_shared_memory_survives_other_requests(stepwise: World) -> None:
    client, other = stepwise.client(), stepwise.client()
    client.send(METADATA, 9, names(NAMES))
    for number in range(NAMES // SLICE_ITEMS):
        other.send(METADATA, 9, names(number, 20))
        stepwise.turn()
    finish(stepwise)
    assert len(client.receive().topics) == NAMES


def test_requests_behind_a_large_one_wait_for_it(stepwise: World) -> None:
    client = stepwise.client()
    client._asked += [(METADATA, 9), (API_VERSIONS, 0)]
    client.feed(frame_of(METADATA, 9, names(NAMES)) + frame_of(API_VERSIONS, 0, VERSIONS))
    assert client.receive() is None
    finish(stepwise)
    assert (len(client.receive().topics), bool(client.receive().api_keys)) == (NAMES, True)


def test_memory_of_a_large_frame_counts_until_it_is_answered(stepwise: World) -> None:
    client, memory = stepwise.client(), stepwise.cluster.brokers[1].request_memory
    frame = frame_of(METADATA, 9, names(NAMES, 200))
    client._asked.append((METADATA, 9))
    client.feed(frame)
    assert memory.used_bytes == len(frame)
    finish(stepwise)
    assert (len(client.receive().topics), memory.used_bytes) == (NAMES, 0)


def test_connection_that_ends_meanwhile_releases_its_frame(stepwise: World) -> None:
    client, memory = stepwise.client(), stepwise.cluster.brokers[1].request_memory
    client.feed(frame_of(METADATA, 9, names(NAMES, 200)))
    client.connection.lost("the client has disconnected")
    assert memory.used_bytes == 0
    assert finish(stepwise) <= 1


def test_invalid_request_closes_when_the_error_is_reached(stepwise: World) -> None:
    client = stepwise.client()
    client.feed(frame_of(METADATA, 9, names(NAMES))[:-1].replace(b"00002999", b"\xff" * 8) + b"\0")
    assert client.closed is None
    finish(stepwise)
    assert client.closed == "MetadataRequest v9 has a string that is not UTF-8"


@pytest.mark.parametrize(
    "frame",
    [
        framed(PRODUCE, 9, b"\0\0\1\0\0\0\0" + uvarint(1_000_001) + b"\1\1\0" * 1_000_000 + b"\0"),
        frame_of(METADATA, 9, names(MAX_ITEMS + 1)),
        frame_of(DELETE_TOPICS, 4, DeleteTopicsRequest(topic_names=["t"] * (MAX_ITEMS + 1), timeout_ms=0)),
        frame_of(
            FETCH, 4, FetchRequest(max_wait_ms=0, min_bytes=0, topics=[FetchTopic(topic="t", partitions=[WANTED])] * (MAX_ITEMS // 2 + 1))
        ),
        framed(METADATA, 9, b"\1" + bytes(3) + uvarint(1_000_000) + b"\1\0" * 1_000_000),
    ],
    ids=["empty-topics", "structures", "texts", "nested", "tagged-fields"],
)
def test_request_with_too_many_items_is_refused(stepwise: World, frame: bytes) -> None:
    client, memory = stepwise.client(), stepwise.cluster.brokers[1].request_memory
    client.feed(frame)
    finish(stepwise)
    assert client.closed == f"the message has more than {MAX_ITEMS} items in its arrays"
    assert memory.used_bytes == 0


def test_too_many_items_take_no_memory(stepwise: World) -> None:
    client = stepwise.client()
    client.feed(frame_of(PRODUCE, 9, ProduceRequest(transactional_id=None, acks=1, timeout_ms=0, topic_data=[])))  # imports its modules
    frame = framed(PRODUCE, 9, b"\0\0\1\0\0\0\0" + uvarint(1_000_001) + b"\1\1\0" * 1_000_000 + b"\0")
    tracemalloc.start()
    try:
        client.feed(frame)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert client.closed is not None
    assert peak < 1_000_000


def test_header_with_too_many_tagged_fields_is_refused(stepwise: World) -> None:
    client: Client = stepwise.client()
    header = METADATA.key.to_bytes(2, "big") + b"\0\x09" + bytes(4) + b"\xff\xff" + uvarint(MAX_ITEMS + 1) + b"\1\0" * (MAX_ITEMS + 1)
    client.feed(LENGTH.pack(len(header)) + header)
    assert client.closed == f"{MAX_ITEMS + 1} tagged fields"
