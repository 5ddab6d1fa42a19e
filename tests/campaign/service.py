"""A service in simulations: one producer, and three consumers that are restarted, on nodes that fail.

aiokafka 0.14 does not read the error code of a whole OffsetFetch response, so that a consumer begins at the start, as if no offset had been
committed, if the coordinator moves between SyncGroup and OffsetFetch. Orders may therefore be billed twice, which nothing here forbids.
"""

from __future__ import annotations

import asyncio
from contextlib import suppress
from functools import partial

from aiokafka import AIOKafkaConsumer, AIOKafkaProducer
from aiokafka.errors import KafkaError

from odradek import Simulation
from tests.campaign.client_start import METADATA, start_client, stop_client

ORDERS = 20
FAULTS_S = 5.0
"""The time in which faults begin. Each lasts at most 2 s."""
SETTLED_S = 120.0
"""The time after the faults in which all orders must be billed."""
MAX_REBALANCE_S = 120.0
GROUP = {"group_id": "billing", "auto_offset_reset": "earliest", "enable_auto_commit": False, "session_timeout_ms": 6000}
SETTINGS = {"offsets.topic.num.partitions": 4}
"""As in many clusters of tests, because each partition costs time when a node fails."""


async def service(sim: Simulation, *, idempotent: bool = True) -> None:
    """Sends orders and bills them under faults. Raises AssertionError if one is lost, doubled in the log, or not billed."""
    cluster = await sim.cluster(nodes=2, topics={"orders": 4}, settings=SETTINGS)
    sim.groups_settle(MAX_REBALANCE_S)
    sim.network(latency=(0.001, sim.random.choice((0.01, 0.4))), resets=0.005)
    billed: set[bytes] = set()
    workers = [sim.start(lambda: _bill(cluster.bootstrap_servers, billed), f"billing-{number}") for number in range(3)]
    chance = sim.random
    for worker in workers:
        sim.restart(worker, after=chance.uniform(1, FAULTS_S), for_s=chance.uniform(0, 2), graceful=chance.random() < 0.5)
    for fault in (sim.crash, sim.stop, sim.pause):
        fault(chance.randint(1, 2), after=chance.uniform(1, FAULTS_S), for_s=chance.uniform(0.5, 2))
    for _ in range(2):
        sim.move_leader("orders", chance.randrange(4), to=chance.randint(1, 2), after=chance.uniform(0, FAULTS_S))
        sim.move_coordinator("billing", to=chance.randint(1, 2), after=chance.uniform(0, FAULTS_S))
    await _send(sim, cluster.bootstrap_servers, idempotent)
    sim.network(resets=0)
    async with asyncio.timeout(SETTLED_S):
        while len(billed) < ORDERS:
            await asyncio.sleep(0.1)
    history = sim.history
    assert history.no_record_lost, history.no_record_lost
    assert history.each_once, history.each_once


async def service_without_idempotence(sim: Simulation) -> None:
    """Does the same with a producer that may send a record twice."""
    await service(sim, idempotent=False)


async def _send(sim: Simulation, servers: str, idempotent: bool) -> None:
    """Sends the orders in the time of the faults, and waits for their acknowledgements."""
    producer = await start_client(
        partial(AIOKafkaProducer, bootstrap_servers=servers, enable_idempotence=idempotent, acks="all", **METADATA)
    )
    sent = []
    for number in range(ORDERS):
        sent.append(await producer.send("orders", b"%d" % number, key=b"%d" % (number % 7)))
        await asyncio.sleep(sim.random.uniform(0, 2 * FAULTS_S / ORDERS))
    await asyncio.gather(*sent)
    await producer.stop()


async def _bill(servers: str, billed: set[bytes]) -> None:
    """Bills the orders that have arrived and commits their offsets afterwards, until it is cancelled."""
    consumer = await start_client(partial(AIOKafkaConsumer, "orders", bootstrap_servers=servers, **GROUP, **METADATA))
    try:
        while True:
            for orders in (await consumer.getmany(timeout_ms=10_000)).values():
                billed.update(order.value for order in orders)
            with suppress(KafkaError):  # the next member reads the orders again
                await consumer.commit()
    finally:
        await stop_client(consumer)
