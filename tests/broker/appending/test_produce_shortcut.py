"""The shortcut of Produce gives the same responses, logs and errors as a decoded request, byte by byte."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from odradek.protocol.frame import encode_request
from odradek.protocol.messages.produce import PRODUCE
from tests.broker.harness import Client, World, a_batch, produce_request

VERSIONS = range(PRODUCE.versions.first, PRODUCE.versions.last + 1)


def frame(world: World, version: int, batch: bytes, *, correlation_id: int = 1, partition: int = 0, acks: int = -1) -> bytes:
    topic = world.cluster.topics.get("t")
    topic_id = topic.id if topic and version >= 13 else bytes(16)
    request = produce_request("t", batch, partition=partition, acks=acks, topic_id=topic_id)
    return b"".join(encode_request(PRODUCE, version, correlation_id, "test", request))


def taken(client: Client) -> bool:
    return client.connection._shortcut is not None


@pytest.mark.parametrize("version", VERSIONS)
def test_shortcut_serves_from_the_second_request_on(version: int) -> None:
    world = World(nodes=1)
    world.cluster.create_topic("t", 2)
    client, calls = world.client(), []
    client.feed(frame(world, version, a_batch(b"a")))
    shortcut: Any = client.connection._shortcut
    answer = shortcut.answer
    shortcut_type = type(shortcut)

    class Watched(shortcut_type):  # type: ignore[misc, valid-type]
        def answer(self, *arguments: Any) -> Any:
            calls.append(answer(*arguments))
            return calls[-1]

    shortcut.__class__ = Watched
    client.feed(frame(world, version, a_batch(b"bigger" * 100), correlation_id=2))
    client.feed(frame(world, version, a_batch(b"c"), correlation_id=3, partition=1))
    assert [call is not None for call in calls] == [True, False]
    assert world.cluster.topics["t"].partitions[0].log.end_offset == 2
    assert world.cluster.topics["t"].partitions[1].log.end_offset == 1


def mutated(data: bytes, position: int, value: int) -> bytes:
    position %= len(data)
    return data[:position] + bytes([value]) + data[position + 1 :]


STEPS = st.one_of(
    st.tuples(st.just("produce"), st.sampled_from([b"x", b"y" * 200, b"z" * 20_000, b"w" * 200_000])),
    st.tuples(st.just("sequence"), st.integers(0, 3)),
    st.tuples(st.just("mutate"), st.tuples(st.integers(4, 400), st.integers(0, 255))),
    st.tuples(st.just("cut"), st.integers(0, 120)),
    st.tuples(st.just("other partition"), st.just(1)),
    st.tuples(st.just("acks"), st.sampled_from([0, 1, 7])),
    st.tuples(st.just("stop"), st.just(2)),
    st.tuples(st.just("start"), st.just(2)),
    st.tuples(st.just("delete"), st.just(0)),
)


def run(steps: list[tuple[str, Any]], version: int, *, short: bool) -> list[bytes]:
    world = World(settings={"min.insync.replicas": "2"})
    world.cluster.create_topic("t", 2, assignments=[[1, 2], [1, 2]])
    client, seen = world.client(), []
    for number, (step, value) in enumerate(steps):
        data = frame(world, version, a_batch(b"first"), correlation_id=number)
        if step == "produce":
            data = frame(world, version, a_batch(value), correlation_id=number)
        elif step == "sequence":
            data = frame(world, version, a_batch(b"s", producer_id=5, producer_epoch=0, base_sequence=value), correlation_id=number)
        elif step == "mutate":
            data = mutated(data, *value)
        elif step == "cut":
            data = (max(len(data) - 4 - value, 0)).to_bytes(4, "big") + data[4 : max(len(data) - value, 4)]
        elif step == "other partition":
            data = frame(world, version, a_batch(b"o"), correlation_id=number, partition=value)
        elif step == "acks":
            data = frame(world, version, a_batch(b"a"), correlation_id=number, acks=value)
        elif step == "delete" and "t" in world.cluster.topics:
            world.cluster.delete_topic(world.cluster.topics["t"])
        elif step in ("stop", "start"):
            (world.cluster.stop_node if step == "stop" else world.cluster.start_node)(value)
        if client.closed:
            client = world.client()
        if not short:
            client.connection._shortcut = None
        client.feed(data)
        seen.append(bytes(client.sent) + str(client.closed).encode())
        client.sent.clear()
    for partition in world.cluster.partitions():
        seen += [bytes(view) for view in partition.log.batches(0, partition.log.end_offset)]
    return seen


@given(steps=st.lists(STEPS, min_size=2, max_size=8), version=st.sampled_from(VERSIONS))
def test_shortcut_and_decoded_requests_agree(steps: list[tuple[str, Any]], version: int) -> None:
    assert run(steps, version, short=True) == run(steps, version, short=False)


def test_records_longer_than_their_request_are_decoded() -> None:
    world = World(nodes=1)
    world.cluster.create_topic("t", 1)
    client = world.client()
    data = frame(world, 3, a_batch(b"first"))
    client.feed(data)
    batch = len(a_batch(b"first"))
    client.feed(data[: -batch - 4] + (batch + (1 << 24)).to_bytes(4, "big") + data[-batch:])
    assert client.closed


def test_template_does_not_keep_a_large_frame() -> None:
    world = World(nodes=1)
    world.cluster.create_topic("t", 1)
    client = world.client()
    client.feed(frame(world, 9, a_batch(bytes(500_000))))
    assert taken(client)
    shortcut: Any = client.connection._shortcut
    ((repeated,),) = (known.values() for known in shortcut._templates.values())
    assert len(repeated._context.frame) == 0


def test_every_partition_gets_a_template() -> None:
    world = World(nodes=1)
    world.cluster.create_topic("t", 3)
    client = world.client()
    for partition in range(3):
        client.feed(frame(world, 9, a_batch(b"a"), partition=partition))
    shortcut: Any = client.connection._shortcut
    for partition in range(3):
        again = frame(world, 9, a_batch(b"b"), partition=partition)
        assert shortcut.answer(memoryview(bytearray(again[4:])), False) is not None
    assert [partition.log.end_offset for partition in world.cluster.topics["t"].partitions] == [2, 2, 2]


def test_acks_0_and_internal_topics_get_no_template() -> None:
    world = World(nodes=1)
    world.cluster.create_topic("t", 1)
    world.cluster.ensure_internal("__consumer_offsets")
    client = world.client()
    client.feed(frame(world, 9, a_batch(b"a"), acks=0))
    assert not taken(client)
    client.call(PRODUCE, 9, produce_request("__consumer_offsets", a_batch(b"a")), client_id="__admin_client")
    assert not taken(client)
