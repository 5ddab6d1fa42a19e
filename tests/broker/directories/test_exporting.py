from __future__ import annotations

import stat
from pathlib import Path
from typing import Any

import pytest
from confluent_kafka import Consumer, Producer, TopicPartition

from odradek import Cluster
from odradek.storage.directories.log_directory import LogDirectory
from odradek.storage.directories.metadata_image import BROKER_CONFIG, MetadataImage
from odradek.storage.directories.metadata_log import read_records
from odradek.storage.directories.names import PartitionName
from odradek.storage.directories.text_files import read_topic_id
from tests import apache_kafka
from tests.broker.directories.exported_kafka import exported_kafka, properties_of
from tests.storage.directories import recording
from tests.storage.directories.recorded_directories import records_in

SETTINGS: dict[str, Any] = {
    "offsets.topic.num.partitions": 1,
    "transaction.state.log.num.partitions": 1,
    "group.initial.rebalance.delay.ms": 0,
    "authorizer.class.name": "org.apache.kafka.metadata.authorizer.StandardAuthorizer",
    "super.users": "User:ANONYMOUS",
    "log.retention.ms": -1,  # because the records are years old
}
TOPICS: Any = {
    "orders": {"partitions": 2, "configs": {"segment.bytes": "1048576"}},
    "payments": {"partitions": 2, "configs": {"cleanup.policy": "compact"}},
}
NAMES = [*TOPICS, "transfers"]


def filled(cluster: Cluster) -> dict[str, Any]:
    """Fills a cluster as the recorded ones, and returns what clients see of it."""
    servers = cluster.bootstrap_servers
    for topic in TOPICS:
        recording.fill(servers, topic)
    recording.run_transactions(servers)
    recording.commit_offsets(servers)
    return recording.describe(servers, NAMES)


def data_of(export: Path, node: int) -> Path:
    return export / f"node-{node}" / "data"


def test_exported_directory_has_the_records_that_clients_saw(tmp_path: Path) -> None:
    with Cluster(nodes=1, settings=SETTINGS, topics=TOPICS) as cluster:
        seen = filled(cluster)
        (exported,) = cluster.export_log_dirs(tmp_path / "export")

    directory = LogDirectory(data_of(tmp_path / "export", 1))
    for topic in NAMES:
        assert records_in(directory, topic) == seen["topics"][topic]["all"], topic
    assert exported.log_bytes == sum(path.stat().st_size for path in directory.path.rglob("*.log"))
    assert properties_of(exported.command) == tmp_path / "export" / "node-1" / "server.properties"
    assert directory.was_stopped_in_order
    assert stat.S_IMODE(directory.path.stat().st_mode) == 0o700


def test_metadata_names_topics_accounts_and_settings(tmp_path: Path) -> None:
    acl = "User:alice:allow:read:topic:orders"
    with Cluster(nodes=2, settings=SETTINGS, topics=TOPICS, users={"alice": "secret"}, acls=[acl], seed=3) as cluster:
        cluster.export_log_dirs(tmp_path)

    image = MetadataImage(record.message for record in read_records(data_of(tmp_path, 1) / "bootstrap.checkpoint") if record.message)
    topics = {topic.name: topic for topic in image.topics.values()}
    assert len(topics["orders"].partitions) == 2
    assert [(each.resource_name, each.principal) for each in image.acls.values()] == [("orders", "User:alice")]
    assert sorted(image.credentials) == [("alice", 1), ("alice", 2)]
    assert image.configs_of(BROKER_CONFIG, "")["min.insync.replicas"] == "1"
    first, second = (LogDirectory(data_of(tmp_path, node)) for node in (1, 2))
    assert first.meta is not None
    assert second.meta is not None
    directory_ids = {1: first.meta.directory_id, 2: second.meta.directory_id}
    partition = topics["orders"].partitions[0]
    assert partition.directories == [directory_ids[node] for node in partition.replicas]
    for folder in (*first.partitions.values(), *second.partitions.values()):
        name = PartitionName.parse(folder.name)
        assert name is not None
        assert read_topic_id(folder / "partition.metadata") == topics[name.topic].topic_id


def test_lagging_replica_ends_where_it_stopped(tmp_path: Path) -> None:
    with Cluster(nodes=2, topics={"orders": {"partitions": 1, "replication_factor": 2}}) as cluster:
        producer = Producer({"bootstrap.servers": cluster.bootstrap_servers, "acks": "1", "enable.idempotence": False})
        producer.produce("orders", b"one")
        producer.flush()
        (partition,) = cluster._server.cluster.topics["orders"].partitions
        leader, follower = partition.leader, 3 - partition.leader
        cluster.lag("orders", 0, follower)
        producer.produce("orders", b"two")
        producer.flush()
        cluster.export_log_dirs(tmp_path)

    name = PartitionName("orders", 0)
    ends = {node: LogDirectory(data_of(tmp_path, node)).read_log(name).end_offset for node in (1, 2)}
    assert ends == {leader: 2, follower: 1}
    assert LogDirectory(data_of(tmp_path, leader)).high_watermarks[name] == 1


def test_folder_that_is_not_empty_is_refused(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with Cluster(nodes=1) as cluster, pytest.raises(ValueError, match="the directory is not empty"):
        cluster.export_log_dirs(tmp_path)


@pytest.mark.apache_kafka
@pytest.mark.slow
def test_apache_kafka_starts_on_an_export(tmp_path: Path) -> None:
    if missing := apache_kafka.missing():
        pytest.skip(f"{missing} is missing")
    with Cluster(nodes=2, settings=SETTINGS, topics=TOPICS, acls=["User:alice:allow:read:topic:orders"]) as cluster:
        expected = filled(cluster)
        open_transaction = Producer({"bootstrap.servers": cluster.bootstrap_servers, "transactional.id": "unfinished", "log_level": 0})
        open_transaction.init_transactions()
        open_transaction.begin_transaction()
        open_transaction.produce("transfers", b"open", partition=0)
        open_transaction.flush()
        commands = [node.command for node in cluster.export_log_dirs(tmp_path)]

    with exported_kafka(commands) as servers:
        found = recording.describe(servers, NAMES)
        again = Producer({"bootstrap.servers": servers, "transactional.id": "unfinished"})
        again.init_transactions()  # which aborts the open transaction
        new = Producer({"bootstrap.servers": servers, "enable.idempotence": True})
        new.produce("orders", b"new", partition=0)
        assert new.flush(20) == 0
        consumer = Consumer({"bootstrap.servers": servers, "group.id": "x", "isolation.level": "read_committed"})
        assert consumer.get_watermark_offsets(TopicPartition("transfers", 0)) == (0, 14)
        consumer.close()

    assert found["offsets"] == expected["offsets"]
    for topic in ("orders", "payments"):
        assert found["topics"][topic] == expected["topics"][topic]
    assert found["topics"]["transfers"]["committed"][:-1] == expected["topics"]["transfers"]["committed"][:-1]
    log = "".join((properties_of(each).parent / "server.log").read_text() for each in commands)
    assert "Found invalid" not in log
    assert "Recovering unflushed segment" not in log
