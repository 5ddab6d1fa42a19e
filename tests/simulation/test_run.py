"""A cluster and aiokafka in simulations: faults, workers, invariants and histories."""

from __future__ import annotations

import asyncio
import time
from typing import Any

import pytest
from aiokafka import AIOKafkaConsumer, AIOKafkaProducer
from aiokafka.errors import KafkaError

from odradek import Simulation
from odradek.simulation.errors import InvariantViolated, SimulationError
from odradek.simulation.run import simulated
from odradek.simulation.workers import Worker

from .programs import run, until

pytestmark = pytest.mark.clients


async def produce(servers: str, number: int, *, idempotent: bool = True, **options: Any) -> None:
    producer = AIOKafkaProducer(bootstrap_servers=servers, enable_idempotence=idempotent, acks="all", **options)
    await producer.start()
    for each in range(number):
        try:
            await producer.send_and_wait("orders", b"%d" % each, key=b"%d" % (each % 3))
        except KafkaError:
            await asyncio.sleep(1)
    await producer.stop()


async def consume(servers: str, seen: set[bytes]) -> None:
    consumer = AIOKafkaConsumer(
        "orders", bootstrap_servers=servers, group_id="billing", auto_offset_reset="earliest", session_timeout_ms=45_000
    )
    await consumer.start()
    try:
        async for record in consumer:
            seen.add(record.value)
    finally:
        await consumer.stop()


async def _transfer(sim: Simulation) -> tuple[list[bool], str]:
    cluster = await sim.cluster(nodes=2, topics={"orders": 4})
    seen: set[bytes] = set()
    sim.start(lambda: consume(cluster.bootstrap_servers, seen), "reader")
    sim.groups_settle(60)
    await produce(cluster.bootstrap_servers, 20)
    await until(lambda: len(seen) == 20)
    await asyncio.sleep(10)
    history = sim.history
    rules = [history.no_record_lost, history.each_once, history.order_within_key, history.committed_offsets_never_back]
    return [bool(rule) for rule in rules], cluster.bootstrap_servers


def test_transfer_keeps_all_rules_and_repeats_its_trace() -> None:
    traces = []
    for seed in (3, 3, 4):
        with simulated(Simulation(seed)) as sim:
            assert sim(_transfer(sim)) == ([True] * 4, "kafka:9092,kafka:9093")
        traces.append(sim.trace)
    assert traces[0] == traces[1] != traces[2]


async def _takes_over(sim: Simulation) -> float:
    cluster = await sim.cluster(topics={"orders": 1})
    both: list[set[bytes]] = [set(), set()]
    first = sim.start(lambda: consume(cluster.bootstrap_servers, both[0]), "first")
    await produce(cluster.bootstrap_servers, 3)
    await until(lambda: len(both[0]) == 3)
    began_s = sim.now_s
    sim.restart(first, for_s=1000)
    sim.start(lambda: consume(cluster.bootstrap_servers, both[1]), "second")
    await produce(cluster.bootstrap_servers, 5)
    await until(lambda: both[1])
    return sim.now_s - began_s


def test_partition_of_a_killed_member_is_taken_over() -> None:
    cpu_s = time.process_time()
    assert 40 < run(_takes_over) < 60
    assert time.process_time() - cpu_s < 10


async def _faults(sim: Simulation) -> list[str]:
    cluster = await sim.cluster(nodes=3, topics={"orders": 4})
    seen: set[bytes] = set()
    worker = sim.start(lambda: consume(cluster.bootstrap_servers, seen), "reader")
    sim.crash(1, after=2, for_s=5)
    sim.pause(2, after=8, for_s=3)
    sim.isolate(3, after=12, for_s=3)
    sim.stop(2, after=16, for_s=2)
    sim.move_leader("orders", 0, to=3, after=19)
    sim.move_coordinator("billing", to=2, after=20)
    sim.restart(worker, after=5, for_s=2)
    sim.restart(worker, after=11, for_s=1, graceful=True)
    for _ in range(8):
        await produce(cluster.bootstrap_servers, 3)
        await asyncio.sleep(3)
    assert sim.history.no_record_lost
    assert worker.starts == 3
    states = {node.state for node in await cluster.nodes()}
    assert states == {"running"}
    return [str(fault) for fault in sim.faults.happened]


def test_faults_happen_at_their_times() -> None:
    texts = run(_faults)
    assert [text.split()[0] for text in texts] == ["2.000", "5.000", "8.000", "11.000", "12.000", "16.000", "19.000", "20.000"], texts
    assert texts[0].strip().startswith("2.0") and texts[0].endswith("s  node 1 crashes for 5 s (crash 1)")
    assert texts[1].endswith("reader is killed for 2 s (restart 1)")


async def _doubles(sim: Simulation) -> str:
    cluster = await sim.cluster(topics={"orders": 1})
    await cluster.lost_acks("orders")
    await produce(cluster.bootstrap_servers, 3, idempotent=False)
    assert sim.history.no_record_lost
    return repr(sim.history.each_once)


def test_producer_without_idempotence_doubles_a_record() -> None:
    assert run(_doubles) == "<each_once: b'0': b'0' is in orders-0 2 times and was sent 1 times>"


async def _authenticates(sim: Simulation) -> bool:
    with pytest.raises(ValueError, match="a simulation has no TLS; leave tls out"):
        await sim.cluster(tls=True)
    cluster = await sim.cluster(topics={"orders": 1}, users={"alice": "secret"})
    producer = AIOKafkaProducer(**cluster.client_config("aiokafka"))
    await producer.start()
    await producer.send_and_wait("orders", b"one")
    await producer.stop()
    return bool(sim.history.no_record_lost and await cluster.records("orders"))


def test_cluster_with_users_authenticates_clients() -> None:
    assert run(_authenticates)


async def _invariant(sim: Simulation) -> None:
    await sim.cluster()
    sim.always(lambda: sim.now_s < 5)
    await asyncio.sleep(10)


def test_invariant_is_looked_at_after_each_event() -> None:
    with pytest.raises(InvariantViolated, match=r"<lambda> has returned False at 10.000 s"):
        run(_invariant)


async def _unsettled(sim: Simulation) -> None:
    sim.groups_settle(20)
    await _takes_over(sim)


def test_group_that_does_not_settle_fails_the_run() -> None:
    with pytest.raises(InvariantViolated, match=r"group billing is \w+ and has not settled within 20 virtual seconds"):
        run(_unsettled)


async def _worker_fails(sim: Simulation) -> None:
    async def work() -> None:
        await asyncio.sleep(1)
        raise KeyError("orders")

    sim.start(work)
    await asyncio.sleep(10)


def test_error_of_a_worker_fails_the_run() -> None:
    with pytest.raises(KeyError, match="orders"):
        run(_worker_fails)


async def _worker_awaits_what_is_cancelled(sim: Simulation) -> None:
    other = asyncio.get_running_loop().create_future()
    other.cancel()
    sim.start(lambda: asyncio.wait_for(other, 1), "reader")
    await asyncio.sleep(1)


def test_worker_that_a_foreign_cancellation_ends_fails_the_run() -> None:
    with pytest.raises(SimulationError, match="worker reader has ended with a CancelledError, although nobody has cancelled it"):
        run(_worker_awaits_what_is_cancelled)


async def _killed(sim: Simulation) -> tuple[Worker, list[str]]:
    done: list[str] = []

    async def work() -> None:
        try:
            await asyncio.sleep(100)
        finally:
            try:
                await asyncio.open_connection("shop", 80)
            except OSError as error:
                done.append(str(error.strerror))
                await asyncio.sleep(10)  # until the worker runs again
                raise

    worker = sim.start(work)
    sim.restart(worker, after=1, for_s=5)
    await asyncio.sleep(3)
    assert not worker.is_running
    await asyncio.sleep(15)
    return worker, done


def test_killed_worker_reaches_nobody_and_starts_again() -> None:
    worker, done = run(_killed)
    assert (worker.starts, done[0]) == (2, "Network is down")


def test_history_without_a_cluster_says_how_to_get_one() -> None:
    with simulated(Simulation(0)) as sim, pytest.raises(ValueError, match=r"make a cluster by `await sim.cluster\(\)`"):
        _ = sim.history
