"""The target of a Produce request: which bytes it compares, and where it finds the records."""

from __future__ import annotations

import pytest

from odradek.broker.appending.produce_shortcut import ProduceShortcut, ProduceTarget
from odradek.storage.producers import Appended
from tests.broker.appending.frames import frame
from tests.broker.harness import Client, World, a_batch


@pytest.fixture
def world() -> World:
    return World(nodes=1).with_topic("t", 1)


def target_of(client: Client) -> ProduceTarget:
    shapes = client.connection._shortcut
    assert isinstance(shapes, ProduceShortcut)
    ((target,),) = (known.values() for known in shapes._targets.values())
    return target


def with_length(request: bytes) -> bytes:
    return (len(request) - 4).to_bytes(4, "big") + request[4:]


def test_records_longer_than_their_request_are_decoded(world: World) -> None:
    client = world.client()
    data = frame(world, 3, a_batch(b"first"))
    client.feed(data)
    batch = len(a_batch(b"first"))
    client.feed(data[: -batch - 4] + (batch + (1 << 24)).to_bytes(4, "big") + data[-batch:])
    assert client.closed


def test_target_does_not_keep_a_large_frame(world: World) -> None:
    client = world.client()
    client.feed(frame(world, 9, a_batch(bytes(500_000))))
    assert len(target_of(client).context.frame) == 0


def test_request_with_tagged_fields_gets_no_target(world: World) -> None:
    """The sizes alone would place the records elsewhere, because the tagged fields after them are not empty."""
    client = world.client()
    data = frame(world, 9, a_batch(b"x"))
    client.feed(with_length(data[:-1] + b"\1\5\3\0\0\0"))
    assert client.closed is None
    assert world.cluster.topics["t"].partitions[0].log.end_offset == 1
    assert client.connection._shortcut is None


def test_other_bytes_after_the_records_are_decoded(world: World) -> None:
    client = world.client()
    data = frame(world, 9, a_batch(b"x"))
    client.feed(data)
    request = with_length(data[:-1] + b"\1\5\3\0\0\0")
    assert target_of(client).append(memoryview(bytearray(request[4:])), False) is None
    client.feed(request)
    assert world.cluster.topics["t"].partitions[0].log.end_offset == 2


@pytest.mark.parametrize("size", range(0, 130, 13))
def test_cut_request_is_not_appended(size: int, world: World) -> None:
    client = world.client()
    data = frame(world, 9, a_batch(b"x" * 40))
    client.feed(data)
    assert target_of(client).append(memoryview(bytearray(data[4:])), False) == (a_batch(b"x" * 40), Appended(1, -1))
    assert target_of(client).append(memoryview(bytearray(data[4 : 4 + size])), False) is None


def test_transactional_batch_without_transaction_is_decoded(world: World) -> None:
    client = world.client()
    client.feed(frame(world, 9, a_batch(b"x")))
    batch = a_batch(b"x", producer_id=1, producer_epoch=0, base_sequence=0, is_transactional=True)
    assert target_of(client).append(memoryview(bytearray(frame(world, 9, batch)[4:])), False) is None
