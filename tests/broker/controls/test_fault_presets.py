"""Ready-made faults, without sockets where that suffices."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from pathlib import Path
from typing import Any

import pytest
from confluent_kafka import Consumer, Producer

from odradek import AsyncCluster, Cluster
from odradek.broker.control_errors import InvalidControl

pytestmark = [pytest.mark.sockets, pytest.mark.clients]


def producer(cluster: Cluster, **config: Any) -> Producer:
    return Producer({"bootstrap.servers": cluster.bootstrap_servers, "retry.backoff.ms": 10, "log_level": 0} | config)


def send(client: Producer, topic: str = "orders", partition: int = 0) -> str | None:
    """Sends a record and returns the name of its error, or None."""
    results: list[Any] = []
    client.produce(topic, b"x", partition=partition, on_delivery=lambda error, _: results.append(error))
    assert client.flush(60) == 0
    return None if results[0] is None else str(results[0].name())


@pytest.mark.parametrize(("idempotent", "stored"), [(True, 1), (False, 2)])
def test_lost_acks_repeat_records_without_idempotence(idempotent: bool, stored: int) -> None:
    with Cluster(nodes=1, topics={"orders": 1}) as cluster, cluster.lost_acks("orders") as fault:
        assert send(producer(cluster, **{"enable.idempotence": idempotent})) is None
        fault.wait(1)
        assert len(cluster.records("orders")) == stored


def test_flaky_requests_are_sent_again() -> None:
    with Cluster(nodes=1, topics={"orders": 1}, seed=1) as cluster, cluster.flaky(30) as fault:
        client = producer(cluster, **{"reconnect.backoff.ms": 1, "reconnect.backoff.max.ms": 5, "enable.idempotence": True})
        assert [send(client) for _ in range(20)] == [None] * 20
        assert fault.hits
        assert len(cluster.records("orders")) == 20


def test_firewall_holds_requests_until_its_end() -> None:
    with Cluster(nodes=1, topics={"orders": 1}) as cluster:
        client = producer(cluster)
        assert send(client) is None
        with cluster.firewall(1) as fault:
            client.produce("orders", b"x")
            fault.wait(1, timeout_s=30)
            assert len(cluster.records("orders")) == 1
        assert client.flush(60) == 0
        assert len(cluster.records("orders")) == 2


def test_slow_network_delays_every_response() -> None:
    with Cluster(nodes=1, topics={"orders": 1}) as cluster, cluster.slow_network(5) as fault:
        assert send(producer(cluster)) is None
        assert {exchange.api for exchange in fault.exchanges} >= {"ApiVersions", "Metadata", "Produce"}


def test_disk_full_moves_nothing_and_stores_nothing() -> None:
    with Cluster(nodes=1, topics={"orders": 1}) as cluster, cluster.disk_full(1) as fault:
        assert send(producer(cluster, **{"message.timeout.ms": 500})) in ("_MSG_TIMED_OUT", "KAFKA_STORAGE_ERROR")
        assert fault.hits
        assert cluster.records("orders") == []


def test_disk_slow_delays_writes_and_no_reads() -> None:
    with Cluster(nodes=1, topics={"orders": 1}) as cluster, cluster.disk_slow(1, 50) as fault:
        assert send(producer(cluster)) is None
        assert {exchange.api for exchange in fault.exchanges} == {"Produce"}
        (written,) = [each for each in cluster.requests() if each.api == "Produce"]
        assert written.written is not None
        assert written.written.cluster_ms - written.received.cluster_ms >= 50


def test_torn_write_crashes_and_recovers_all_nodes(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    with Cluster(nodes=2, topics={"orders": 1}, data_dir=tmp_path / "data") as cluster:
        client = producer(cluster, **{"reconnect.backoff.ms": 1, "reconnect.backoff.max.ms": 5, "enable.idempotence": True})
        assert send(client) is None
        for _ in range(3):
            with cluster.torn_write("orders") as fault:
                assert send(client) is None
                assert fault.hits == 1
        assert len(cluster.records("orders")) == 4
        assert caplog.text.count("Found invalid messages in log segment") == 3
    with Cluster(nodes=2, data_dir=tmp_path / "data") as cluster:
        assert len(cluster.records("orders")) == 4


def test_torn_write_needs_a_data_directory() -> None:
    with Cluster(nodes=1) as cluster, pytest.raises(InvalidControl, match="torn_write needs a data directory"):
        cluster.torn_write("orders")


def test_not_enough_replicas_spares_other_acks() -> None:
    with Cluster(nodes=1, topics={"orders": 1}) as cluster, cluster.not_enough_replicas("orders") as fault:
        assert send(producer(cluster, acks=1)) is None
        assert fault.hits == 0
        assert send(producer(cluster, acks="all", retries=0)) == "NOT_ENOUGH_REPLICAS"
        assert fault.hits == 1


def test_leader_election_takes_its_time() -> None:
    topics = {"orders": {"partitions": 2, "replication_factor": 2}}
    with Cluster(nodes=2, topics=topics) as cluster:  # type: ignore[arg-type]
        partitions = cluster._cluster._server.cluster.topics["orders"].partitions
        before = [(partition.leader, partition.leader_epoch) for partition in partitions]
        client = producer(cluster, **{"topic.metadata.refresh.fast.interval.ms": 10})
        assert send(client) is None
        cluster.clock.freeze()
        with cluster.leader_election("orders", takes="1m") as fault:
            client.produce("orders", b"x", partition=0)
            fault.wait(3, timeout_s=30)
            cluster.clock.advance(minutes=1)
            assert client.flush(60) == 0
        after = [(partition.leader, partition.leader_epoch) for partition in partitions]
        assert after == [(3 - leader, epoch + 1) for leader, epoch in before]
        with pytest.raises(InvalidControl, match="did you mean 'orders'"):
            cluster.leader_election("order", takes=1)


@pytest.mark.parametrize("replicas", [1, 2])
def test_coordinator_moves_to_another_node(replicas: int) -> None:
    settings = {"group.initial.rebalance.delay.ms": 0, "offsets.topic.replication.factor": replicas}
    with Cluster(nodes=2, topics={"orders": 1}, settings=settings) as cluster:
        config = {"bootstrap.servers": cluster.bootstrap_servers, "group.id": "g", "auto.offset.reset": "earliest", "log_level": 0}
        consumer = Consumer(config | {"heartbeat.interval.ms": 100})
        consumer.subscribe(["orders"])
        cluster.produce("orders", [b"one"])
        assert consumer.consume(1, timeout=30)[0].value() == b"one"
        before = cluster.group("g").coordinator
        with cluster.coordinator_moves("g") as fault:
            fault.wait(1, timeout_s=30)
            cluster.produce("orders", [b"two"])
            assert consumer.consume(1, timeout=30)[0].value() == b"two"
            assert cluster.group("g").coordinator == 3 - before
        consumer.close()


def test_rolling_restart_restarts_every_node() -> None:
    async def scenario() -> list[tuple[int, ...]]:
        seen: list[tuple[int, ...]] = []
        async with AsyncCluster(nodes=3) as cluster:
            await cluster.clock.freeze()
            restart = asyncio.ensure_future(cluster.rolling_restart(10))
            while not restart.done():
                running = tuple(cluster._server.cluster.brokers.running)
                if not seen or seen[-1] != running:
                    seen.append(running)
                await asyncio.sleep(0)
                if cluster._server.core.timers.next_deadline() is not None:
                    await cluster.clock.advance(seconds=5)
            seen.append(tuple(cluster._server.cluster.brokers.running))
        return seen

    assert asyncio.run(scenario()) == [(1, 2, 3), (2, 3), (1, 2, 3), (1, 3), (1, 2, 3), (1, 2), (1, 2, 3)]


def states(cluster: AsyncCluster) -> dict[int, str]:
    brokers = cluster._server.cluster.brokers.values()
    return {each.node_id: each.silence.value if each.silence else "running" if each.running else "stopped" for each in brokers}


def test_outage_takes_all_nodes_away_and_back() -> None:
    async def scenario() -> None:
        async with AsyncCluster(nodes=4, topics={"orders": {"partitions": 3, "replication_factor": 3}}) as cluster:
            await cluster.produce("orders", [{"value": "before", "partition": index} for index in range(3)])
            await cluster.pause_node(3)
            await cluster.stop_node(4)
            await cluster.clock.freeze()
            outage = asyncio.ensure_future(cluster.outage(5))
            while states(cluster) != {1: "stopped", 2: "stopped", 3: "paused", 4: "stopped"}:
                await cluster._server.driver.next_change()
            await cluster.clock.advance(seconds=4)
            assert not outage.done()
            await cluster.clock.advance(seconds=1)
            await outage
            assert states(cluster) == {1: "running", 2: "running", 3: "paused", 4: "stopped"}
            await cluster.resume_node(3)
            await cluster.produce("orders", [{"value": "after", "partition": index} for index in range(3)])
            assert [each.value for each in await cluster.records("orders")] == [b"before", b"after"] * 3

    asyncio.run(scenario())


def test_reset_ends_an_outage() -> None:
    async def scenario() -> None:
        async with AsyncCluster(nodes=2) as cluster:
            await cluster.clock.freeze()
            outage = asyncio.ensure_future(cluster.outage(5))
            while states(cluster) != {1: "stopped", 2: "stopped"}:
                await cluster._server.driver.next_change()
            await cluster.reset()
            await outage
            assert states(cluster) == {1: "running", 2: "running"}

    asyncio.run(scenario())


def test_stop_ends_an_outage() -> None:
    async def scenario() -> None:
        async with AsyncCluster(nodes=2) as cluster:
            outage = asyncio.ensure_future(cluster.outage(1000))
            while states(cluster) != {1: "stopped", 2: "stopped"}:
                await cluster._server.driver.next_change()
            server = cluster._server
        with pytest.raises(ValueError, match="the cluster is not running"):
            await outage
        assert not any(broker.running for broker in server.cluster.brokers.values())

    asyncio.run(scenario())


@pytest.mark.parametrize("protocol", ["classic", "consumer"])
def test_crashed_client_leaves_its_partitions_to_others(protocol: str) -> None:
    def consumer(cluster: Cluster, name: str) -> Consumer:
        config = {"bootstrap.servers": cluster.bootstrap_servers, "group.id": "billing", "client.id": name, "group.protocol": protocol}
        created = Consumer(config | {"auto.offset.reset": "earliest", "reconnect.backoff.max.ms": 100})
        created.subscribe(["orders"])
        return created

    heartbeats = {"group.consumer.heartbeat.interval.ms": 500, "group.consumer.min.heartbeat.interval.ms": 500}
    with Cluster(nodes=1, topics={"orders": 2}, settings={"group.initial.rebalance.delay.ms": 0, **heartbeats}) as cluster:
        both = [consumer(cluster, "billing-1"), consumer(cluster, "billing-2")]

        def shared() -> bool:
            for each in both:
                each.poll(0)
            return sorted(len(member.assignment.get("orders", ())) for member in cluster.group("billing").members) == [1, 1]

        cluster.wait_until(lambda: bool(cluster.groups()), timeout_s=30)
        cluster.wait_until(shared, timeout_s=60)
        with cluster.fault(client_id="billing-1", drop=True, close="rst"):
            crashed = cluster.crash_client("billing-1")
            assert crashed.connections >= 1 and crashed.groups == ["billing"]
            assert [member.client_id for member in cluster.group("billing").members] == ["billing-2"]

            def taken_over() -> bool:
                both[1].poll(0)
                return [member.assignment for member in cluster.group("billing").members] == [{"orders": [0, 1]}]

            cluster.wait_until(taken_over, timeout_s=60)
        for each in both:
            each.close()


def test_unknown_client_cannot_crash() -> None:
    with Cluster(nodes=1, topics={"orders": 1}) as cluster:
        client = producer(cluster, **{"client.id": "shop"})
        assert send(client) is None
        with pytest.raises(InvalidControl, match=r"client_id: there is no client 'shp'; did you mean 'shop'\?"):
            cluster.crash_client("shp")
        found = cluster.crash_client("shop")
        assert found.connections >= 1 and found.groups == []


Call = Callable[[AsyncCluster], Coroutine[Any, Any, Any]]


@pytest.mark.parametrize(
    ("call", "parameter"),
    [
        (lambda cluster: cluster.flaky(0).coroutine, "percent"),
        (lambda cluster: cluster.flaky(101).coroutine, "percent"),
        (lambda cluster: cluster.firewall(9).coroutine, "node"),
        (lambda cluster: cluster.slow_network(-1).coroutine, "delay_ms"),
        (lambda cluster: cluster.disk_full(9).coroutine, "node"),
        (lambda cluster: cluster.lost_acks("t", times=0).coroutine, "times"),
        (lambda cluster: cluster.rolling_restart(-1), "pause_s"),
        (lambda cluster: cluster.outage(-1), "seconds"),
        (lambda cluster: cluster.outage(float("inf")), "seconds"),
    ],
)
def test_preset_with_a_mistake_names_the_parameter(call: Call, parameter: str) -> None:
    async def scenario() -> None:
        async with AsyncCluster(nodes=1) as cluster:
            with pytest.raises(InvalidControl) as raised:
                await call(cluster)
            assert raised.value.parameter == parameter

    asyncio.run(scenario())
