"""Histories that break the rules. tests/simulation/test_run.py has one that doubles a record, and one that keeps all rules."""

from __future__ import annotations

import pytest
from aiokafka import AIOKafkaConsumer, AIOKafkaProducer, TopicPartition

from odradek import AsyncCluster, Simulation
from odradek.protocol.batches.record_builder import build_batch
from odradek.protocol.batches.records import Record
from odradek.protocol.messages.produce import PRODUCE, PartitionProduceData, ProduceRequest, TopicProduceData
from odradek.simulation.history import Verdict
from tests.campaign.share_member import Connection

from .programs import run

pytestmark = pytest.mark.clients

PART = TopicPartition("orders", 0)


async def _produce(cluster: AsyncCluster, *values: bytes) -> None:
    producer = AIOKafkaProducer(bootstrap_servers=cluster.bootstrap_servers)
    await producer.start()
    for value in values:
        await producer.send_and_wait("orders", value)
    await producer.stop()


async def _loses(sim: Simulation) -> Verdict:
    cluster = await sim.cluster(topics={"orders": 1})
    before = await cluster.snapshot()
    await _produce(cluster, b"one", b"two")
    assert sim.history.no_record_lost
    await cluster.restore(before)
    return sim.history.no_record_lost


def test_record_that_is_gone_is_lost() -> None:
    verdict = run(_loses)
    assert not verdict
    assert repr(verdict) == (
        "<no_record_lost: b'one' of aiokafka-producer-1 is not in orders-0; b'two' of aiokafka-producer-1 is not in orders-0>"
    )


async def _deletes(sim: Simulation) -> bool:
    cluster = await sim.cluster(topics={"orders": 1})
    await _produce(cluster, b"one")
    await cluster.delete_topic("orders")
    return bool(sim.history.no_record_lost)


def test_record_of_a_deleted_topic_is_not_lost() -> None:
    assert run(_deletes)


async def _commits_back(sim: Simulation) -> str:
    cluster = await sim.cluster(topics={"orders": 1})
    await _produce(cluster, b"one", b"two")
    consumer = AIOKafkaConsumer(bootstrap_servers=cluster.bootstrap_servers, group_id="billing", enable_auto_commit=False)
    await consumer.start()
    consumer.assign([PART])
    await consumer.commit({PART: 2})
    assert sim.history.committed_offsets_never_back
    await consumer.commit({PART: 1})
    await consumer.stop()
    return repr(sim.history.committed_offsets_never_back)


def test_commit_of_an_earlier_offset_goes_back() -> None:
    assert run(_commits_back) == "<committed_offsets_never_back: group billing has committed 1 in orders-0 after 2>"


async def _swaps(sim: Simulation) -> str:
    cluster = await sim.cluster(nodes=1, topics={"orders": 1})
    connection = await Connection.to(cluster.bootstrap_servers)

    async def send(value: bytes) -> None:
        batch = bytes(build_batch([Record(0, -1, b"key", value, [])]))
        data = TopicProduceData(name="orders", partition_data=[PartitionProduceData(index=0, records=batch)])
        await connection.ask(PRODUCE, 9, ProduceRequest(acks=-1, timeout_ms=1000, topic_data=[data]))

    async with cluster.fault(api="Produce", error="NOT_ENOUGH_REPLICAS", times=1):
        await send(b"first")
    await send(b"second")
    await send(b"first")
    connection.close()
    return repr(sim.history.order_within_key)


def test_record_that_is_repeated_after_the_next_is_swapped() -> None:
    assert run(_swaps) == "<order_within_key: b'key': b'second' is before b'key': b'first' in orders-0>"
