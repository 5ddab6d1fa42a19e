"""A run of a simulated test with faults at points of its clusters, for exploration and for the mark `kafka`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from ..broker.exploring.damage import StoredData
from ..broker.exploring.points import RequestPoint, points_of
from ..broker.exploring.topology import ClusterTopology, topology_of
from ..broker.exploring.verdicts import MAX_FINDINGS, Evidence
from ..simulation.errors import Deadlock, Hung, Livelock
from ..simulation.seeds import run_seed
from .stored_data import stored_data

if TYPE_CHECKING:
    from .. import AsyncCluster, Simulation
    from ..broker.controls.fault_handles import AsyncFaultHandle
    from ..simulation.seeds import Test


class ExploredSimulation:
    """The run of a test with one seed. Points, topology and data are known if it has passed, and evidence if it has failed.

    `faults` are the specifications of faults at points, which each of its clusters gets, and `damage` is one of their data.
    """

    def __init__(self, test: Test, faults: Sequence[str], damage: str) -> None:
        self._test, self._specifications, self._damage = test, faults, damage
        self.handles: list[AsyncFaultHandle] = []
        self.uses_cluster = self.hangs = False
        self.points: list[RequestPoint] = []
        self.topology = ClusterTopology(0, {})
        self.stored = StoredData({}, {}, [])
        self.evidence = Evidence()

    def run(self, seed: int) -> None:
        """Runs the test. Raises what it raises."""
        error = run_seed(self._run_observed, seed).error
        self.hangs = isinstance(error, Deadlock | Hung | Livelock)
        if error is not None:
            raise error

    async def _run_observed(self, sim: Simulation) -> None:
        sim.on_cluster.append(self._arm)
        try:
            await self._test(sim)
        except Exception:
            for cluster in sim.clusters:
                if cluster.is_running:
                    self.evidence = await _evidence_of(cluster)
            raise
        for cluster in sim.clusters:
            if cluster.is_running:
                await self._observe(cluster)

    async def _arm(self, cluster: AsyncCluster) -> None:
        self.uses_cluster = True
        self.handles += [await cluster.fault_at(each) for each in self._specifications]
        if self._damage:
            self.handles.append(await cluster.damage(self._damage))

    async def _observe(self, cluster: AsyncCluster) -> None:
        self.points += points_of(await cluster.wire.since())
        topics = await cluster.topics()
        topology = topology_of(topics, len(await cluster.nodes()))
        self.topology = ClusterTopology(max(self.topology.nodes, topology.nodes), {**self.topology.topics, **topology.topics})
        records = {
            (topic.name, part.partition): await cluster.records(topic.name, partition=part.partition) if part.end_offset else []
            for topic in topics
            if not topic.internal
            for part in topic.partitions
        }
        self.stored = stored_data(records, await cluster.groups(), self.stored)


async def _evidence_of(cluster: AsyncCluster) -> Evidence:
    findings = (await cluster.doctor())[:MAX_FINDINGS]
    lines = tuple(f"{each.name}: {each.problem}" for each in findings)
    return Evidence(lines, await cluster.wire.diagram("html"), await cluster.wire.story())
