"""MirrorMaker 2 copies topics, their settings and the offsets of groups from one cluster to another, and continues after a restart."""

from __future__ import annotations

from pathlib import Path

import pytest

from odradek import Cluster
from odradek.broker.cluster.startup_topics import TopicOptions
from tests import apache_kafka
from tests.cache import Unavailable
from tests.programs.connect import libraries, properties
from tests.programs.program import PATIENCE_S, Program
from tests.programs.progress import consume

pytestmark = [pytest.mark.clients, pytest.mark.slow, pytest.mark.timeout(600)]

GROUP = "billing"
ORDERS, MIRRORED = "orders", "primary.orders"
FLOW = {
    "clusters": "primary, backup",
    "primary->backup.enabled": "true",
    "primary->backup.topics": "orders.*",
    "primary->backup.groups": GROUP,
    "primary->backup.sync.group.offsets.enabled": "true",
    "backup->primary.emit.heartbeats.enabled": "false",
    "replication.factor": 1,
    "offset-syncs.topic.replication.factor": 1,
    "checkpoints.topic.replication.factor": 1,
    "heartbeats.topic.replication.factor": 1,
    "config.storage.replication.factor": 1,
    "offset.storage.replication.factor": 1,
    "status.storage.replication.factor": 1,
    # The remaining settings make it notice and copy everything soon.
    "primary->backup.offset.lag.max": 0,
    "primary->backup.refresh.topics.interval.seconds": 1,
    "primary->backup.refresh.groups.interval.seconds": 1,
    "primary->backup.emit.checkpoints.interval.seconds": 1,
    "primary->backup.sync.group.offsets.interval.seconds": 1,
    "backup.offset.flush.interval.ms": 200,
    "offset.storage.partitions": 1,
    "status.storage.partitions": 1,
    "backup.scheduled.rebalance.max.delay.ms": 0,
    "backup.plugin.discovery": "service_load",
}


def mirror_maker(primary: Cluster, backup: Cluster, directory: Path) -> Program:
    """Starts MirrorMaker 2 in its dedicated mode. Skips the test without its jars."""
    servers = {"primary.bootstrap.servers": primary.bootstrap_servers, "backup.bootstrap.servers": backup.bootstrap_servers}
    file = properties(directory / "mirror-maker.properties", FLOW | servers)
    try:
        command = apache_kafka.command("org.apache.kafka.connect.mirror.MirrorMaker", file, libraries=libraries())
    except Unavailable as reason:
        pytest.skip(str(reason))
    return Program(command, directory)


def produce(cluster: Cluster, first: int, last: int) -> None:
    cluster.produce(
        ORDERS,
        [
            {"key": f"key {n}", "value": f"value {n}", "headers": {"number": str(n)}, "timestamp": 1_700_000_000_000 + n}
            for n in range(first, last)
        ],
    )


def committed(cluster: Cluster, topic: str) -> dict[int, int]:
    """Returns the committed offsets of the group in a topic by partition; none while the group does not exist."""
    offsets = [each for group in cluster.groups() if group.group_id == GROUP for each in group.offsets]
    return {each.partition: each.committed for each in offsets if each.topic == topic and each.committed is not None}


def test_mirror_maker_copies_and_continues(tmp_path: Path) -> None:
    topics: dict[str, int | TopicOptions] = {ORDERS: {"partitions": 2, "configs": {"max.message.bytes": 2_000_000}}}
    settings = {"log.retention.ms": -1}
    with Cluster(nodes=2, topics=topics, settings=settings) as primary, Cluster(nodes=1, settings=settings) as backup:
        produce(primary, 0, 100)
        consume(primary, GROUP, ORDERS, 100)
        with mirror_maker(primary, backup, tmp_path) as program:
            backup.wait_for_records(MIRRORED, 100, timeout_s=PATIENCE_S)
            assert backup.topic(MIRRORED).records() == primary.topic(ORDERS).records()
            backup.wait_until(lambda: committed(backup, MIRRORED) == committed(primary, ORDERS), timeout_s=PATIENCE_S)
            primary.create_topic("orders-late", partitions=1)
            primary.produce("orders-late", ["late"])
            assert [each.value for each in backup.wait_for_records("primary.orders-late", 1, timeout_s=PATIENCE_S)] == [b"late"]
            assert program.terminate() == 143, program.output()  # Java's code for SIGTERM
        produce(primary, 100, 150)
        with mirror_maker(primary, backup, tmp_path):
            backup.wait_for_records(MIRRORED, 150, timeout_s=PATIENCE_S)
            consume(primary, GROUP, ORDERS, 50)
            backup.wait_until(lambda: committed(backup, MIRRORED) == committed(primary, ORDERS), timeout_s=PATIENCE_S)
        assert backup.topic(MIRRORED).records() == primary.topic(ORDERS).records()
        assert {topic.name: topic.configs.get("max.message.bytes") for topic in backup.topics()}[MIRRORED] == "2000000"
