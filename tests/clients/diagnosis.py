"""A cluster and clients whose mistakes the doctor finds."""

from __future__ import annotations

from typing import Any

from confluent_kafka import Consumer, Producer

from odradek import Cluster
from odradek.broker.controls.wire import FindingInfo
from tests.waiting import until

PATIENCE_S = 30.0
QUIET: dict[str, Any] = {"log_level": 0}
FAST_GROUPS = {
    "num.partitions": 2,
    "default.replication.factor": 2,
    "group.initial.rebalance.delay.ms": 0,
    "group.min.session.timeout.ms": 100,
    "group.consumer.assignment.interval.ms": 0,
    "group.consumer.heartbeat.interval.ms": 50,
    "group.consumer.min.heartbeat.interval.ms": 50,
}


def cluster_with(settings: dict[str, Any] | None = None, **options: Any) -> Cluster:
    return Cluster(nodes=2, topics={"orders": 2}, settings=FAST_GROUPS | (settings or {}), **options)


def producer(cluster: Cluster, **settings: Any) -> Producer:
    names = {name.replace("_", "."): value for name, value in settings.items()}
    return Producer({"bootstrap.servers": cluster.bootstrap_servers, **QUIET, **names})


def consumer(cluster: Cluster, **settings: Any) -> Consumer:
    names = {name.replace("_", "."): value for name, value in settings.items()}
    fixed = {"bootstrap.servers": cluster.bootstrap_servers, "group.id": "billing", "auto.offset.reset": "earliest"}
    return Consumer(fixed | QUIET | names)


def diagnosis(cluster: Cluster, name: str) -> FindingInfo:
    """Returns the finding of this name as soon as the record shows it. No other one may be there by then, except those named with it."""
    try:
        found: FindingInfo = until(lambda: next((each for each in cluster.doctor() if each.name == name), None))
    except AssertionError:
        raise AssertionError(f"no {name!r} in:\n{cluster.wire.diagram()}") from None
    assert found.exchanges and len(found.lines) == len(found.exchanges)
    assert found.advice and found.settings
    return found
