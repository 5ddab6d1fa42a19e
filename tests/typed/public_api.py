"""A program that uses all of the public interface. It is not run: mypy and pyright check it, as they check the code of a user.

`assert_type` states the types on which users rely. A test compares the attributes that are used here with those that there are.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, ClassVar, assert_type
from unittest import TestCase

import pytest

from odradek import (
    AsyncClock,
    AsyncCluster,
    AsyncFaultHandle,
    AsyncGroup,
    AsyncSchemas,
    AsyncTopic,
    AsyncWire,
    Clock,
    Cluster,
    ControlError,
    ControlRefused,
    ControlTimeout,
    Event,
    Exchange,
    FaultHandle,
    Format,
    Group,
    InvalidControl,
    Schemas,
    Simulation,
    SimulationError,
    Topic,
    TopicRecord,
    Wire,
    __version__,
    assert_committed,
    assert_records,
    formats,
    record,
    simulate,
    simulation,
)
from odradek.plugin import (
    AsyncKafkaClusters,
    AsyncKafkaFaults,
    AsyncKafkaWire,
    KafkaClientLeftOpenWarning,
    KafkaClusters,
    KafkaClusterStoppedWarning,
    KafkaFaults,
    KafkaTestMixin,
    KafkaWire,
    MakeKafkaCluster,
)


def construction() -> None:
    version: str = __version__
    assert version
    cluster = Cluster(
        2,
        {"orders": 4, "totals": {"partitions": 2, "replication_factor": 2, "configs": {"cleanup.policy": "compact"}}},
        {"num.partitions": 3, "auto.create.topics.enable": False, "log.dirs": "a,b"},
        tls=True,
        users={"alice": "secret"},
        acls=["User:alice:allow:read:topic:orders"],
        data=["fixtures/*.jsonl", Path("fixtures")],
        from_log_dirs={"directories": ["kafka-data", Path("kafka-data")], "topics": ["orders*"], "latest": 10},
        data_dir="data",
        memory_limit=50_000_000,
        seed=1,
        transaction_version=1,
        features={"share.version": 0},
        as_version="3.9",
        record_exchanges=100,
        record_bytes=1000,
        control="127.0.0.1:0",
        control_token="token",
        schema_registry=True,
        capture=Path("orders.pcapng"),
        capture_addresses="real",
    )
    with cluster as entered, Cluster.load("state", {"num.partitions": 1}) as loaded:
        assert_type(entered, Cluster)
        assert_type(loaded, Cluster)
    assert_type(cluster.start(), Cluster)
    assert_type(cluster.bootstrap_servers, str)
    assert_type(cluster.is_running, bool)
    assert_type(cluster.control, str | None)
    assert_type(cluster.schema_registry_url, str)
    assert_type(cluster.start_schema_registry(), str)
    assert_type(cluster.tls.ca_file, str)
    assert_type(cluster.client_config("java", user="alice", mechanism="PLAIN"), dict[str, Any])
    assert_type(cluster.awaitable, AsyncCluster)
    cluster.stop()


def topics_and_records(cluster: Cluster) -> None:
    cluster.create_topic("orders", 4, replication_factor=2, configs={"cleanup.policy": "compact"})
    assert_type(cluster.topics()[0].partitions[0].leader, int)
    assert_type(cluster.produce("orders", ["text", b"bytes", ("key", "value"), {"value": None, "headers": {"a": "1"}}])[0].offset, int)
    for each in cluster.records("orders", 0, offset=1, since=datetime.now(UTC), limit=1, max_bytes=1):
        assert_type(each.value, bytes | None)
        assert_type(each.headers, tuple[tuple[str, bytes | None], ...])
    for decoded in cluster.decoded_records("orders", 0, offset=1, since=datetime.now(UTC), limit=1, max_bytes=1):
        assert_type(decoded.key, bytes | None)
        if decoded.decoded_value is not None:
            assert_type(decoded.decoded_value.data, str | None)
    cluster.wait_for_records("orders", 1, timeout_s=1)
    cluster.delete_topic("orders")
    orders = cluster.topic("orders", key=formats.text, value=formats.json)
    assert_type(orders, Topic)
    assert_type(orders.produce({"id": 1}, key="alice", headers={"trace": b"1"}, partition=0, timestamp=0).partition, int)
    orders.produce_all([("bob", {"id": 2}), ("bob", None)], partition=0)
    assert_type(orders.wait_for(3, timeout_s=1), list[TopicRecord])
    found: TopicRecord = orders.records(0, offset=0, limit=1)[0]
    assert_records(orders, [record(key="alice"), ("bob", {"id": 2}), None], ignore_order=True)
    assert_records([found], [record(value={"id": 1}, headers={"trace": "1"})])
    avro = Format(str.encode, bytes.decode)
    cluster.topic("avro", value=avro, key=formats.raw)


def groups_and_clients(cluster: Cluster) -> None:
    billing = cluster.group("billing")
    assert_type(billing, Group)
    assert_type((billing.group_id, billing.type, billing.state, billing.protocol), tuple[str, str, str, str])
    assert_type((billing.epoch, billing.coordinator, billing.lag), tuple[int, int, int])
    assert_type(billing.committed, dict[tuple[str, int], int])
    assert_type(billing.members[0].assignment, dict[str, list[int]])
    assert_type(billing.offsets[0].committed, int | None)
    assert_type(billing.wait_until_stable(members=2, timeout_s=1).lag, int | None)
    billing.wait_for(topic="orders", partition=0, committed=3, lag=0)
    assert_committed(billing, "orders", 3, partition=0)
    assert_type(billing.info().state, str)
    assert_type(cluster.groups()[0].group_id, str)
    cluster.show_group("billing")
    cluster.wait_for_group("billing", members=1, state="Stable", lag=0, timeout_s=1)
    assert_type(cluster.transactions()[0].state, str)
    assert_type(cluster.connections()[0].client_id, str)
    assert_type(cluster.waiting_requests()[0].waits_for, list[str])
    assert_type(cluster.client_metrics()[0].client_id, str)
    assert_type(cluster.acls()[0].principal, str)
    assert_type(cluster.users()[0].name, str)
    assert_type(cluster.status().problems, list[str])
    assert_type(cluster.nodes()[0].state, str)
    assert_type(cluster.doctor(since=1)[0].settings, list[str])
    assert_type(cluster.wait_until(lambda: cluster.connections(), timeout_s=1)[0].port, int)


def nodes_and_replicas(cluster: Cluster) -> None:
    cluster.stop_node(1, graceful=False)
    cluster.start_node(1)
    cluster.pause_node(1)
    cluster.resume_node(1)
    cluster.isolate(1)
    cluster.rejoin(1)
    assert_type(cluster.add_node(rack="a"), int)
    cluster.remove_node(3)
    cluster.move_leader("orders", 0, 2)
    cluster.elect("unclean", "orders", [0])
    cluster.move_coordinator(2, group="billing")
    cluster.set_replicas("orders", 0, [1, 2])
    cluster.hold_reassignments()
    cluster.release_reassignments()
    cluster.lag("orders", 0, 2, records=10)
    cluster.catch_up("orders", 0, 2)


def faults(cluster: Cluster, kafka_faults: KafkaFaults) -> None:
    fault = cluster.fault(api=["Produce", "Fetch"], topic="orders*", partitions=[0, 1], error="NOT_LEADER_OR_FOLLOWER", times=2)
    assert_type(fault, FaultHandle)
    assert_type((fault.number, fault.hits), tuple[int, int])
    assert_type(fault.exchanges[0].api, str)
    fault.wait(hits=1, timeout_s=1)
    fault.remove()
    with cluster.fault(when=lambda request: request.acks == 0, delay_ms=10, jitter_ms=5, respond={"throttle_time_ms": 1}) as entered:
        assert_type(entered.described().missed, str)
    cluster.lost_acks("orders", times=2)
    cluster.flaky(10)
    cluster.firewall(1)
    cluster.slow_network(100)
    cluster.leader_election("orders", takes="5s")
    cluster.coordinator_moves("billing")
    assert_type(cluster.damage("orders-0#2:gone"), FaultHandle)
    assert_type(cluster.fault_at("OffsetCommit#1@billing:lost-response"), FaultHandle)
    cluster.disk_full(1)
    cluster.disk_slow(1, 100)
    cluster.torn_write("orders")
    cluster.not_enough_replicas("orders")
    cluster.rolling_restart(5)
    cluster.outage(5)
    assert_type((cluster.crash_client("billing-1").connections, cluster.crash_client("billing-1").groups), tuple[int, list[str]])
    assert_type(cluster.list_faults()[0].hits, int)
    assert_type(cluster.wait_for_fault(1, hits=1, timeout_s=1).options, str)
    assert_type(cluster.remove_fault(1).removed, bool)
    assert_type(cluster.faults, list[FaultHandle])
    cluster.remove_faults()
    for add in (kafka_faults.firewall, kafka_faults.disk_full):
        assert_type(add(1), FaultHandle)
    assert_type(kafka_faults.add(api="Produce", drop=True), FaultHandle)
    assert_type([kafka_faults.lost_acks("orders"), kafka_faults.flaky(1), kafka_faults.slow_network(1)], list[FaultHandle])
    assert_type([kafka_faults.leader_election("orders", takes=5), kafka_faults.coordinator_moves("billing")], list[FaultHandle])
    assert_type(kafka_faults.not_enough_replicas("orders"), FaultHandle)
    assert_type([kafka_faults.disk_slow(1, 100), kafka_faults.torn_write("orders")], list[FaultHandle])
    assert_type(kafka_faults.all()[0].fault, int)


def time_and_state(cluster: Cluster) -> None:
    assert_type(cluster.clock, Clock)
    assert_type(cluster.clock.state().now, datetime)
    cluster.clock.freeze()
    cluster.clock.advance("10m")
    cluster.clock.advance(timedelta(minutes=10))
    cluster.clock.advance(hours=1, minutes=1.5)
    cluster.clock.set(datetime(2030, 1, 1, tzinfo=UTC))
    assert_type(cluster.clock.run(60).speed, float)
    assert_type(cluster.schemas, Schemas)
    assert_type(cluster.schemas.register("orders-value", '"string"').id, int)
    assert_type(cluster.schemas.subjects(deleted=True), list[str])
    assert_type(cluster.schemas.get("orders-value", 1).schema, str)
    assert_type(cluster.schemas.check("orders-value", {"type": "string"}, schema_type="AVRO").messages, list[str])
    assert_type(cluster.schemas.delete("orders-value", permanent=True), list[int])
    cluster.schemas.set_compatibility("FULL", "orders-value")
    kept = cluster.snapshot()
    cluster.restore(kept)
    assert_type(cluster.snapshots()[0].id, int)
    cluster.close_snapshot(kept.id)
    cluster.reset()
    assert_type(cluster.save(Path("state")), int)
    assert_type(cluster.export_log_dirs(Path("kafka-data"))[0].command, str)


def wire(cluster: Cluster, kafka_wire: KafkaWire) -> None:
    mark = cluster.wire.mark()
    assert_type(cluster.wire, Wire)
    (produce,) = cluster.requests(api=["Produce"], topic="o*", group="b", client_id="c", error="*", node=1, connection=1, since=mark)
    assert_type(produce, Exchange)
    assert_type((produce.api, produce.version, produce.errors), tuple[str, int, tuple[str, ...]])
    assert_type(produce.client_id, str | None)
    for entry in cluster.wire.since(mark):
        if isinstance(entry, Event):
            assert_type(entry.kind, str)
        else:
            assert_type(entry.topics, tuple[str, ...])
    assert_type(cluster.wire.entries(mark, "api=Produce", verbose=True), list[dict[str, Any]])
    assert_type(cluster.wire.diagram("html", mark, "error"), str)
    assert_type(cluster.wire.story(mark, "error"), str)
    cluster.start_capture("orders.pcapng", addresses="real", max_bytes=100_000)
    assert_type(cluster.stop_capture().written_bytes, int)
    assert_type((kafka_wire.start, kafka_wire.mark()), tuple[int, int])
    assert_type(kafka_wire.requests(api="Produce", since=mark), list[Exchange])
    assert_type(kafka_wire.since(mark), list[Exchange | Event])
    assert_type(kafka_wire.entries("error", since=mark, verbose=True), list[dict[str, Any]])
    assert_type(kafka_wire.diagram("svg", filter="error", since=mark), str)
    with kafka_wire.capture(Path("orders.pcapng")):
        pass


def errors(cluster: Cluster) -> None:
    try:
        cluster.stop_node(7)
    except InvalidControl as error:
        assert_type(error.parameter, str)
    except ControlRefused as error:
        assert_type(error.code, str)
    except (ControlTimeout, ControlError):
        pass


async def asynchronous(given: AsyncCluster) -> None:
    async with AsyncCluster(nodes=1, topics={"orders": 1}) as cluster, Cluster() as other:
        assert_type(cluster, AsyncCluster)
        assert_type(other, AsyncCluster)
    assert_type(AsyncCluster.load("state"), AsyncCluster)
    assert_type(await given.start(), AsyncCluster)
    assert_type(await given.start_schema_registry(), str)
    assert_type(given.schema_registry_url, str)
    assert_type(given.is_running, bool)
    assert_type((given.bootstrap_servers, given.control, given.tls.ca_file), tuple[str, str | None, str])
    assert_type(given.client_config("spark"), dict[str, Any])
    await given.create_topic("orders", 2)
    assert_type((await given.produce("orders", ["value"]))[0].partition, int)
    assert_type((await given.records("orders"))[0].key, bytes | None)
    assert_type((await given.decoded_records("orders"))[0].key, bytes | None)
    await given.wait_for_records("orders", 1)
    assert_type((await given.topics())[0].name, str)
    await given.delete_topic("orders")
    orders = given.topic("orders", value=formats.json)
    assert_type(orders, AsyncTopic)
    assert_type((await orders.produce({}, key="key")).offset, int)
    await orders.produce_all([{}])
    assert_type([*await orders.records(), *await orders.wait_for(1)], list[TopicRecord])
    billing = given.group("billing")
    assert_type(billing, AsyncGroup)
    assert_type([(await billing).lag, (await billing.info()).lag, (await billing.wait_until_stable(1)).lag], list[int | None])
    assert_committed(await billing.wait_for(lag=0), "orders", 3)
    assert_type((await given.groups())[0].state, str)
    await given.show_group("billing")
    await given.wait_for_group("billing", members=1)
    assert_type((await given.wait_until(given.connections))[0].port, int)


async def asynchronous_controls(given: AsyncCluster) -> None:
    await given.stop_node(1)
    await given.start_node(1)
    await given.pause_node(1)
    await given.resume_node(1)
    await given.isolate(1)
    await given.rejoin(1)
    assert_type(await given.add_node(), int)
    await given.remove_node(3)
    await given.move_leader("orders", 0, 2)
    await given.elect("preferred")
    await given.move_coordinator(1, transactional_id="shop")
    await given.set_replicas("orders", 0, [1])
    await given.hold_reassignments()
    await given.release_reassignments()
    await given.lag("orders", 0, 2)
    await given.catch_up("orders", 0, 2)
    await given.transactions()
    await given.connections()
    assert_type((await given.waiting_requests())[0].left_ms, int | None)
    await given.client_metrics()
    await given.acls()
    await given.users()
    await given.status()
    await given.nodes()
    await given.doctor()
    assert_type(given.schemas, AsyncSchemas)
    assert_type((await given.schemas.register("orders-value", '"string"')).version, int)
    assert_type((await given.schemas.check("orders-value", '"string"', version=1)).is_compatible, bool)
    assert_type(await given.schemas.subjects(), list[str])
    assert_type((await given.schemas.get("orders-value")).type, str)
    assert_type(await given.schemas.delete("orders-value", 1), list[int])
    await given.schemas.set_compatibility("NONE")
    assert_type(given.clock, AsyncClock)
    await given.clock.freeze()
    await given.clock.advance(minutes=1)
    await given.clock.set(datetime.now(UTC))
    await given.clock.run()
    assert_type((await given.clock.state()).speed, float)
    kept = await given.snapshot()
    await given.restore(kept)
    await given.snapshots()
    await given.close_snapshot(kept)
    await given.reset()
    await given.save("state")
    await given.export_log_dirs("kafka-data")
    await given.stop()


async def asynchronous_faults(given: AsyncCluster, kafka_faults: AsyncKafkaFaults) -> None:
    fault = await given.fault(api="Produce", error="NOT_ENOUGH_REPLICAS")
    assert_type(fault, AsyncFaultHandle)
    await fault.wait()
    await fault.remove()
    async with given.lost_acks("orders") as lost:
        assert_type(lost.hits, int)
    for adding in (given.flaky(1), given.firewall(1), given.slow_network(1), given.disk_full(1), given.not_enough_replicas("orders")):
        assert_type(await adding, AsyncFaultHandle)
    assert_type(await given.leader_election("orders", takes=timedelta(seconds=1)), AsyncFaultHandle)
    assert_type(await given.coordinator_moves("billing"), AsyncFaultHandle)
    for adding in (given.disk_slow(1, 100), given.torn_write("orders"), kafka_faults.disk_slow(1, 100), kafka_faults.torn_write("orders")):
        assert_type(await adding, AsyncFaultHandle)
    assert_type(await given.damage("orders-0#2:gone"), AsyncFaultHandle)
    assert_type(await given.fault_at("OffsetCommit#1@billing:lost-response"), AsyncFaultHandle)
    await given.rolling_restart(1)
    await given.outage(1)
    assert_type((await given.crash_client("billing-1")).groups, list[str])
    assert_type(given.faults, list[AsyncFaultHandle])
    assert_type((await given.list_faults())[0].fault, int)
    await given.wait_for_fault(1)
    await given.remove_fault(1)
    await given.remove_faults()
    assert_type(await kafka_faults.add(api="Fetch", hang=True), AsyncFaultHandle)
    for adding in (kafka_faults.flaky(1), kafka_faults.firewall(1), kafka_faults.slow_network(1), kafka_faults.disk_full(1)):
        assert_type(await adding, AsyncFaultHandle)
    for adding in (kafka_faults.lost_acks("orders"), kafka_faults.not_enough_replicas("orders"), kafka_faults.coordinator_moves("billing")):
        assert_type(await adding, AsyncFaultHandle)
    await kafka_faults.leader_election("orders", takes=1)
    assert_type((await kafka_faults.all())[0].hits, int)


async def named_clusters(kafka_clusters: KafkaClusters, async_kafka_clusters: AsyncKafkaClusters) -> None:
    with pytest.warns(KafkaClusterStoppedWarning):
        assert_type(kafka_clusters["mirror"], Cluster)
        assert_type(async_kafka_clusters["mirror"], AsyncCluster)


async def asynchronous_wire(given: AsyncCluster, kafka_wire: AsyncKafkaWire) -> None:
    assert_type(given.wire, AsyncWire)
    mark = await given.wire.mark()
    assert_type(await given.requests(api="Produce"), list[Exchange])
    assert_type(await given.wire.since(mark), list[Exchange | Event])
    await given.wire.entries(mark)
    assert_type(await given.wire.diagram("mermaid"), str)
    assert_type(await given.wire.story(), str)
    await given.start_capture("orders.pcapng")
    assert_type((await given.stop_capture()).error, str | None)
    assert_type(await kafka_wire.requests(api="Produce", since=kafka_wire.start), list[Exchange])
    await kafka_wire.since(await kafka_wire.mark())
    await kafka_wire.entries("error")
    assert_type(await kafka_wire.diagram(), str)
    async with kafka_wire.capture("orders.pcapng"):
        pass


@pytest.mark.kafka(nodes=3, topics={"orders": 4}, settings={"min.insync.replicas": 2}, as_version="3.9", users={"a": "b"}, freeze=True)
@pytest.mark.filterwarnings("ignore::odradek.plugin.KafkaClientLeftOpenWarning")
def test_with_fixtures(
    kafka_cluster: Cluster, kafka_bootstrap_servers: str, kafka_topic: str, kafka_clock: Clock, make_kafka_cluster: MakeKafkaCluster
) -> None:
    with pytest.warns(KafkaClientLeftOpenWarning):
        assert_type(make_kafka_cluster(nodes=1, topics={kafka_topic: 1}), Cluster)
    kafka_clock.advance(seconds=1)


async def test_with_asynchronous_fixtures(async_kafka_cluster: AsyncCluster, async_kafka_clock: AsyncClock) -> None:
    await async_kafka_clock.freeze()
    await async_kafka_cluster.topics()


def simulations() -> None:
    async def main(sim: Simulation) -> int:
        cluster = await sim.cluster(nodes=2, topics={"orders": 4}, settings={"min.insync.replicas": 2})
        assert_type(cluster, AsyncCluster)
        assert_type(sim.clusters, tuple[AsyncCluster, ...])
        sim.network(latency=(0.001, 0.4), splits=0.1, resets=0.01, half_open=0.001)
        sim.crash(node=1, after=5, for_s=10)
        sim.stop(1)
        sim.pause(2, after=sim.random.random())
        sim.isolate(2, for_s=1)
        sim.move_leader("orders", 0, to=2, after=1)
        sim.move_coordinator("billing", to=2)

        async def work() -> None:
            pass

        worker = sim.start(work, "billing")
        sim.restart(worker, after=1, for_s=2, graceful=True)
        sim.partition(worker, 1, after=1, for_s=2)
        sim.always(lambda: sim.now_s < 3600)
        sim.groups_settle(within_s=60)
        rules = [sim.history.no_record_lost, sim.history.each_once, sim.history.order_within_key, sim.history.committed_offsets_never_back]
        assert all(rules)
        assert [str(fault) for fault in sim.faults.happened] == []
        return sim.seed

    try:
        with simulate(seed=7) as run:
            assert_type(run(main(run), limit_s=60), int)
            assert_type((run.trace, run.events), tuple[str, int])
    except SimulationError:
        pass


@simulation(seeds=1000, seeds_s=60)
async def test_simulated(sim: Simulation, kafka_topic: str) -> None:
    await sim.cluster(topics={kafka_topic: 1})


class OrdersTest(KafkaTestMixin, TestCase):
    kafka_options: ClassVar[Mapping[str, Any]] = {"nodes": 1, "topics": {"orders": 4}}

    def test_order_is_stored(self) -> None:
        assert_type(self.kafka_cluster, Cluster)
        assert_type((self.kafka_bootstrap_servers, self.kafka_topic), tuple[str, str])
