"""The scenario of the campaign: producers, classic groups, transactions and a share group on three nodes, under all faults."""

from __future__ import annotations

import asyncio
from typing import Any

from aiokafka import AIOKafkaConsumer, AIOKafkaProducer, TopicPartition
from aiokafka.coordinator.assignors.range import RangePartitionAssignor
from aiokafka.coordinator.assignors.roundrobin import RoundRobinPartitionAssignor
from aiokafka.errors import KafkaError

from odradek import AsyncCluster, Simulation
from tests.campaign.client_start import METADATA, start_client, stop_client
from tests.campaign.share_member import Connection, ShareMember

RECORDS = 20
FAULTS_S = 40.0
"""The time in which faults begin. Each lasts at most 10 s."""
SETTLED_S = 400.0
"""The time after the faults in which everything must have arrived."""
MAX_REBALANCE_S = 120.0
ASSIGNORS = (RangePartitionAssignor, RoundRobinPartitionAssignor)
GROUP = {"session_timeout_ms": 10_000, "heartbeat_interval_ms": 1000, "auto_offset_reset": "earliest", **METADATA}


async def scenario(sim: Simulation) -> None:
    """Runs all workers under faults. Raises AssertionError if records are lost, doubled, out of order or not read."""
    cluster = await sim.cluster(nodes=3, topics={"orders": 4, "copies": 2})
    sim.groups_settle(MAX_REBALANCE_S)
    await cluster_reads_share_groups_from_the_start(cluster)
    sim.network(latency=(0.001, sim.random.choice((0.01, 0.2))), resets=0.003, half_open=0.001)
    campaign = Campaign(sim, cluster)
    campaign.start()
    campaign.let_faults_happen()
    try:
        async with asyncio.timeout(FAULTS_S + SETTLED_S):
            await campaign.produce()
            await campaign.until_all_is_read()
    except TimeoutError:
        raise AssertionError(f"not all has arrived: {campaign.missing()}") from None
    campaign.check()


async def cluster_reads_share_groups_from_the_start(cluster: AsyncCluster) -> None:
    from odradek.protocol.messages.incremental_alter_configs import (
        INCREMENTAL_ALTER_CONFIGS,
        AlterableConfig,
        AlterConfigsResource,
        IncrementalAlterConfigsRequest,
    )

    config = AlterableConfig(name="share.auto.offset.reset", config_operation=0, value="earliest")
    resource = AlterConfigsResource(resource_type=32, resource_name="sharers", configs=[config])
    request = IncrementalAlterConfigsRequest(resources=[resource], validate_only=False)
    connection = await Connection.to(cluster.bootstrap_servers.split(",")[0])
    await connection.ask(INCREMENTAL_ALTER_CONFIGS, 1, request)
    connection.close()


class Campaign:
    """The workers of a run, and what they have seen."""

    def __init__(self, sim: Simulation, cluster: AsyncCluster) -> None:
        self._sim, self._cluster = sim, cluster
        self._servers = cluster.bootstrap_servers
        self.sent = {b"%d" % number for number in range(RECORDS)}
        self.read: set[bytes] = set()
        self.copied: list[bytes] = []
        self.lag: int | None = None
        self.accepted: set[tuple[int, int]] = set()
        self.again: list[tuple[int, int]] = []

    def start(self) -> None:
        """Starts the workers, and lets some of them end and start again."""
        sim, chance = self._sim, self._sim.random
        assignor = [chance.choice(ASSIGNORS)]
        workers = [sim.start(lambda: self._consume(assignor), f"reader-{number}") for number in range(3)]
        workers.append(sim.start(self._copy, "copier"))
        for number in range(2):
            member = ShareMember(self._cluster, "orders", "sharers", self.accepted, self.again)
            workers.append(sim.start(member.run, f"sharer-{number}"))
        for worker in workers:
            if chance.random() < 0.5:
                after, for_s = chance.uniform(1, FAULTS_S), chance.uniform(0, 5)
                sim.restart(worker, after=after, for_s=for_s, graceful=chance.random() < 0.5)

    def let_faults_happen(self) -> None:
        """Adds faults of nodes, leaders and networks."""
        sim, chance = self._sim, self._sim.random
        for fault in (sim.crash, sim.stop, sim.pause, sim.isolate):
            fault(chance.randint(1, 3), after=chance.uniform(1, FAULTS_S), for_s=chance.uniform(1, 10))
        for _ in range(3):
            sim.move_leader("orders", chance.randrange(4), to=chance.randint(1, 3), after=chance.uniform(0, FAULTS_S))
            group = chance.choice(("readers", "copiers", "sharers"))
            sim.move_coordinator(group, to=chance.randint(1, 3), after=chance.uniform(0, FAULTS_S))
        host = chance.choice(("test", "reader-0", "copier", "sharer-0"))
        sim.partition(host, chance.randint(1, 3), after=chance.uniform(1, FAULTS_S), for_s=chance.uniform(1, 10))

        async def calm() -> None:
            await asyncio.sleep(FAULTS_S + 15)
            sim.network(resets=0, half_open=0)

        sim.start(calm, "weather")

    async def produce(self) -> None:
        """Sends the records in the time of the faults."""
        producer = await start_client(lambda: AIOKafkaProducer(bootstrap_servers=self._servers, enable_idempotence=True, **METADATA))
        for value in sorted(self.sent):
            await producer.send_and_wait("orders", value, key=value[:1])
            await asyncio.sleep(self._sim.random.uniform(0, FAULTS_S / RECORDS))
        await producer.stop()

    async def _consume(self, assignors: list[Any]) -> None:
        consumer = await start_client(
            lambda: AIOKafkaConsumer(
                "orders", bootstrap_servers=self._servers, group_id="readers", partition_assignment_strategy=assignors, **GROUP
            )
        )
        try:
            async for record in consumer:
                self.read.add(record.value)
        finally:
            await stop_client(consumer)

    async def _copy(self) -> None:
        """Copies records exactly once, until it is cancelled. A transaction that fails is begun again by a new producer.

        One copier runs at a time, because aiokafka commits offsets without the generation of the group (KIP-447), so that only its
        transactional id fences a former copier. The producer starts before the consumer, so that no transaction is open when that reads
        the committed offsets.
        """
        while True:
            producer = await start_client(lambda: AIOKafkaProducer(bootstrap_servers=self._servers, transactional_id="copier", **METADATA))
            consumer = await start_client(
                lambda: AIOKafkaConsumer("orders", bootstrap_servers=self._servers, group_id="copiers", enable_auto_commit=False, **GROUP)
            )
            ends: dict[TopicPartition, int] = {}
            try:
                while True:
                    await self._copy_some(producer, consumer, ends)
            except (KafkaError, AssertionError, ValueError):
                await asyncio.sleep(1)
            finally:
                await stop_client(consumer)
                await stop_client(producer)

    async def _copy_some(self, producer: AIOKafkaProducer, consumer: AIOKafkaConsumer, ends: dict[TopicPartition, int]) -> None:
        """Copies some records in a transaction.

        `ends` are the offsets up to which it has copied, because aiokafka reads committed offsets again after a rebalance and does not
        wait for an open transaction (KIP-447).
        """
        found = await consumer.getmany(timeout_ms=1000)
        new = {part: [record for record in records if record.offset >= ends.get(part, 0)] for part, records in found.items()}
        if not any(new.values()):
            return
        offsets = {part: records[-1].offset + 1 for part, records in new.items() if records}
        async with producer.transaction():
            for records in new.values():
                for record in records:
                    await producer.send("copies", record.value, partition=record.partition % 2)
            await producer.send_offsets_to_transaction(offsets, "copiers")
        ends |= offsets

    async def until_all_is_read(self) -> None:
        """Returns when readers, copiers and sharers have all records."""
        while self.missing():
            await asyncio.sleep(2)
            self.copied = await self._committed_copies()
            self.lag = (await self._cluster.show_group("sharers")).lag

    def missing(self) -> list[str]:
        """Returns what has not arrived yet."""
        unread, uncopied = self.sent - self.read, self.sent - set(self.copied)
        unshared = [] if self.lag == 0 else [f"lag {self.lag}"]
        missing = {"not read": sorted(unread), "not copied": sorted(uncopied), "not accepted": unshared}
        return [f"{what}: {values}" for what, values in missing.items() if values]

    async def _committed_copies(self) -> list[bytes]:
        """Returns the values that consumers of committed records can read."""
        records = await self._cluster.records("copies")
        return [record.value for record in records if record.value is not None and record.transaction == "committed"]

    def check(self) -> None:
        """Raises AssertionError if a rule is broken.

        Committed offsets may go back because of a mistake of aiokafka, which service.py describes.
        """
        assert sorted(self.copied) == sorted(self.sent), "a record was copied twice"
        assert not self.again, f"accepted records were delivered again: {self.again}"
        history = self._sim.history
        for verdict in (history.no_record_lost, history.order_within_key, history.each_once):
            assert verdict, verdict
