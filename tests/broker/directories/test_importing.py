from __future__ import annotations

import logging
import re
import shutil
from collections.abc import Iterable, Sequence
from datetime import UTC, datetime
from pathlib import Path
from random import Random
from typing import Any

import pytest
from confluent_kafka import Consumer, Producer, TopicPartition

from odradek import Cluster
from odradek.broker.cluster.state import ClusterState
from odradek.broker.directories.importing import import_directories
from odradek.broker.directories.selection import LogDirImport, Selection
from odradek.broker.directories.source import ImportSource, source_of
from odradek.broker.scheduling.timers import Timers
from odradek.broker.scheduling.turns import Turns
from odradek.broker.settings.cluster_config import cluster_of
from odradek.broker.settings.properties import InvalidConfig
from odradek.broker.transactions.transaction import TransactionState
from tests.storage.directories import recording
from tests.storage.directories.recorded_directories import NAMES, seen_by_clients, unpack

FOREVER = {"log.retention.check.interval.ms": 10**10, "offsets.retention.check.interval.ms": 10**10}
ACLS_ACT = {"authorizer.class.name": "org.apache.kafka.metadata.authorizer.StandardAuthorizer"}


def imported(*paths: Path, selection: Selection | None = None, settings: dict[str, str] | None = None) -> ClusterState:
    """Returns a cluster without sockets that was filled from log directories."""
    source = source_of(LogDirImport(paths, selection or Selection()))
    cluster = _cluster(source, settings or {})
    import_directories(cluster, source)
    return cluster


def _cluster(source: ImportSource, settings: dict[str, str]) -> ClusterState:
    identities = [source.settings_of(node_id) for node_id in sorted(source.nodes)]
    config = cluster_of([{"listeners": "PLAINTEXT://127.0.0.1:0", **settings}], identities=identities, cluster_id=source.cluster_id)
    return ClusterState(config, Turns[Any](Timers(1_800_000_000_000), lambda: 0.0), Random(1))


def ends(cluster: ClusterState, topic: str) -> list[tuple[int, int]]:
    return [(each.log.start_offset, each.log.end_offset) for each in cluster.topics[topic].partitions]


def export_of_two(folder: Path) -> list[Path]:
    """Returns the log directories of a cluster of two nodes with a topic of two replicas, in which one follower lags."""
    with Cluster(nodes=2, topics={"orders": {"partitions": 2, "replication_factor": 2}}, settings={"broker.rack": "west"}) as cluster:
        cluster.produce("orders", ["one", "two"], partition=0)
        leader = cluster._server.cluster.topics["orders"].partitions[0].leader
        cluster.lag("orders", 0, 3 - leader)
        cluster.produce("orders", ["three"], partition=0)
        cluster.export_log_dirs(folder)
    return [folder / f"node-{leader}" / "data", folder / f"node-{3 - leader}" / "data"]


@pytest.mark.parametrize("name", NAMES)
def test_clients_see_what_they_saw_of_apache_kafka(name: str, tmp_path: Path) -> None:
    seen = seen_by_clients(name)
    with Cluster(from_log_dirs=[unpack(name, tmp_path)], settings=FOREVER) as cluster:
        found = recording.describe(cluster.bootstrap_servers, list(seen["topics"]))

    assert found["offsets"] == seen["offsets"]
    for topic, facts in seen["topics"].items():
        if name != "kafka-2.8.2":  # its settings are in ZooKeeper
            assert found["topics"][topic]["configs"] == facts["configs"]
        for kind in ("committed", "all"):
            assert _known(topic, found["topics"][topic][kind]) == _known(topic, facts[kind]), topic


def _known(topic: str, rows: Iterable[Sequence[Any]]) -> list[list[Any]]:
    """Returns rows without timestamps in format 0, which has none."""
    return [[*row[:2], *row[3:]] if topic == "format-0" and len(row) > 3 else list(row) for row in rows]


def test_transactions_and_producers_continue(tmp_path: Path) -> None:
    with Cluster(from_log_dirs=[unpack("kafka-4.3.1-killed", tmp_path)], settings=FOREVER) as cluster:
        (open_before,) = [each for each in cluster.transactions() if each.state == "Ongoing"]
        producer = Producer({"bootstrap.servers": cluster.bootstrap_servers, "transactional.id": "unfinished", "log_level": 0})
        producer.init_transactions()
        producer.begin_transaction()
        producer.produce("transfers", b"after", partition=0)
        producer.commit_transaction()
        (now,) = [each for each in cluster.transactions() if each.transactional_id == "unfinished"]
        consumer = Consumer({"bootstrap.servers": cluster.bootstrap_servers, "group.id": "g", "isolation.level": "read_committed"})
        assert consumer.get_watermark_offsets(TopicPartition("transfers", 0)) == (0, 16)
        consumer.close()

    assert open_before.transactional_id == "unfinished"
    assert now.producer_epoch > open_before.producer_epoch


def test_timeout_of_an_open_transaction_begins_again(tmp_path: Path) -> None:
    cluster = imported(unpack("kafka-4.3.1-killed", tmp_path))

    assert dict(cluster.timers.remaining())["transaction", "unfinished"] == 60_000


def test_restart_and_reset_return_to_the_directories(tmp_path: Path) -> None:
    cluster = Cluster(from_log_dirs=[unpack("kafka-4.3.1", tmp_path)], settings=FOREVER)
    for _ in range(2):
        with cluster:
            cluster.produce("orders", ["new"], partition=0)
            assert cluster._server.cluster.topics["orders"].partitions[0].log.end_offset == 21
            cluster.reset()
            assert cluster._server.cluster.topics["orders"].partitions[0].log.end_offset == 20


def test_mapped_records_count_as_no_memory(tmp_path: Path) -> None:
    cluster = imported(unpack("kafka-4.3.1", tmp_path))
    segments = [segment for partition in cluster.topics.partitions() for segment in partition.log._segments]

    assert segments
    assert all(segment.origin == segment.end for segment in segments)


@pytest.mark.parametrize(
    ("selection", "orders", "payments"),
    [
        (Selection(), (0, 20), (0, 20)),
        (Selection(topics=["ord*"]), (0, 20), None),
        (Selection(from_offset=7), (7, 20), (7, 20)),
        (Selection(from_offset=99), (20, 20), (20, 20)),
        (Selection(latest=3), (17, 20), (17, 20)),
        (Selection(latest=99), (0, 20), (0, 20)),
        (Selection(until_time_ms=1_700_000_000_000), (0, 0), (0, 0)),
        (Selection(until_time_ms=1_800_000_000_000), (0, 20), (0, 20)),
    ],
)
def test_selection_takes_a_part(selection: Selection, orders: tuple[int, int], payments: tuple[int, int] | None, tmp_path: Path) -> None:
    cluster = imported(unpack("kafka-4.3.1", tmp_path), selection=selection)

    assert ends(cluster, "orders") == [orders, orders]
    assert ("payments" in cluster.topics) is (payments is not None)
    assert ends(cluster, "__consumer_offsets")[0][1] > 0


def test_accounts_are_imported_with_an_authorizer(tmp_path: Path) -> None:
    cluster = imported(unpack("kafka-4.3.1", tmp_path), settings=ACLS_ACT)

    assert cluster.authorizer is not None
    assert [(acl.resource_name, acl.principal) for acl in cluster.authorizer] == [("orders", "User:alice")]
    assert list(cluster.accounts.scram_credentials.of("alice")) == [1]


def test_acls_without_an_authorizer_are_told(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.WARNING):
        imported(unpack("kafka-4.3.1", tmp_path))

    assert "1 ACL has no effect" in caplog.text


def test_producer_ids_are_not_generated_again(tmp_path: Path) -> None:
    cluster = imported(unpack("kafka-4.3.1", tmp_path))

    assert cluster.producer_ids.next_id >= 1000
    assert [each.state for each in cluster.transactions] == [TransactionState.COMPLETE_COMMIT]


def test_leader_epochs_grow(tmp_path: Path) -> None:
    cluster = imported(unpack("kafka-4.3.1", tmp_path))

    assert {partition.leader_epoch for partition in cluster.topics.partitions()} == {2}


def test_two_nodes_keep_their_replicas_and_racks(tmp_path: Path) -> None:
    leader, follower = export_of_two(tmp_path)

    with Cluster(from_log_dirs=[leader, follower]) as cluster:
        state = cluster._server.cluster
        assert sorted(state.brokers) == [1, 2]
        assert ends(state, "orders")[0] == (0, 3)
        assert all(sorted(each.isr) == [1, 2] for each in state.topics["orders"].partitions)


def test_one_copied_node_alone_leads_everything(tmp_path: Path) -> None:
    leader, _ = export_of_two(tmp_path)
    (leader / "bootstrap.checkpoint").unlink(missing_ok=True)

    cluster = imported(leader)

    assert len(cluster.brokers) == 1
    assert ends(cluster, "orders")[0] == (0, 3)
    assert all(each.replicas == each.isr == list(cluster.brokers) for each in cluster.topics["orders"].partitions)


@pytest.mark.parametrize(("was_stopped", "end_offset"), [(False, 10), (True, 20)])
def test_running_followers_copy_ends_at_its_high_watermark(was_stopped: bool, end_offset: int, tmp_path: Path) -> None:
    path = unpack("kafka-4.3.1-killed", tmp_path)
    text = (path / "replication-offset-checkpoint").read_text().replace("orders 0 20", "orders 0 10")
    (path / "replication-offset-checkpoint").write_text(text)
    (path / "meta.properties").write_text((path / "meta.properties").read_text().replace("node.id=1", "node.id=2"))
    if was_stopped:
        (path / ".kafka_cleanshutdown").touch()

    assert ends(imported(path), "orders")[0] == (0, end_offset)


def test_partition_without_a_folder_is_empty(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    path = unpack("kafka-4.3.1", tmp_path)
    shutil.rmtree(path / "orders-1")

    assert ends(imported(path), "orders") == [(0, 20), (0, 0)]
    assert "no directory has the partition orders-1" in caplog.text


def test_damaged_segment_is_cut_with_a_warning(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    path = unpack("kafka-4.3.1", tmp_path)
    segment = path / "orders-0" / "00000000000000000000.log"
    segment.write_bytes(segment.read_bytes()[:-3])

    assert ends(imported(path), "orders")[0][1] == 15
    assert "Found invalid messages in log segment" in caplog.text


def test_settings_that_kafka_4_does_not_know_are_left_out(tmp_path: Path) -> None:
    assert imported(unpack("kafka-2.8.2", tmp_path)).topics["format-0"].id != bytes(16)


@pytest.mark.parametrize(
    ("file", "content", "reason"),
    [
        ("meta.properties", None, "has no meta.properties"),
        ("meta.properties", b"node.id=x\ncluster.id=c\n", "cannot read the log directory"),
    ],
)
def test_other_folders_are_refused(file: str, content: bytes | None, reason: str, tmp_path: Path) -> None:
    path = unpack("kafka-4.3.1", tmp_path)
    if content is None:
        (path / file).unlink()
    else:
        (path / file).write_bytes(content)

    with pytest.raises(InvalidConfig, match=reason):
        source_of(LogDirImport([path]))


def test_directories_of_two_clusters_are_refused(tmp_path: Path) -> None:
    one, other = unpack("kafka-4.3.1", tmp_path), unpack("kafka-3.9.1", tmp_path)
    (other / "meta.properties").write_text("version=1\nnode.id=2\ncluster.id=other\n")

    with pytest.raises(InvalidConfig, match="belongs to the cluster other"):
        source_of(LogDirImport([one, other]))


def test_missing_folder_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="is no folder"):
        Cluster(from_log_dirs=[tmp_path / "missing"])


@pytest.mark.parametrize(
    ("options", "found"),
    [
        ({"topics": ["ord*"]}, (0, 20)),
        ({"from_offset": 7}, (7, 20)),
        ({"latest": 3}, (17, 20)),
        ({"until_time": 1_700_000_000_000}, (0, 0)),
        ({"until_time": datetime.fromtimestamp(1_800_000_000, UTC)}, (0, 20)),
    ],
)
def test_options_in_python_take_a_part(options: dict[str, Any], found: tuple[int, int], tmp_path: Path) -> None:
    part: Any = {"directories": [unpack("kafka-4.3.1", tmp_path)], **options}
    with Cluster(from_log_dirs=part, settings=FOREVER) as cluster:
        assert ends(cluster._server.cluster, "orders")[0] == found
        assert ("payments" in {topic.name for topic in cluster.topics()}) is ("topics" not in options)


@pytest.mark.parametrize(
    ("options", "error", "text"),
    [
        ({"latest": 3}, ValueError, "from_log_dirs: directories is missing; give log.dirs of a broker"),
        (
            {"directories": ["a"], "offset": 3},
            ValueError,
            "from_log_dirs: unknown option 'offset'; the options are directories, topics, from_offset",
        ),
        ({"directories": ["a"], "latest": -1}, ValueError, "from_log_dirs: latest must be at least 0, not -1"),
        ({"directories": ["a"], "from_offset": True}, TypeError, "from_log_dirs: from_offset must be int, not True"),
        ({"directories": ["a"], "until_time": "2026"}, TypeError, "from_log_dirs: until_time must be int or datetime, not '2026'"),
        ({"directories": ["a"], "topics": "orders"}, TypeError, "from_log_dirs: topics must be list or tuple, not 'orders'"),
        ({"directories": "a"}, TypeError, "from_log_dirs: directories must be list or tuple, not 'a'"),
        ("a", TypeError, "from_log_dirs must be list or tuple or dict, not 'a'"),
        ([1], TypeError, "from_log_dirs: directories must be str or PathLike, not 1"),
    ],
)
def test_wrong_options_in_python_are_told(options: Any, error: type[Exception], text: str) -> None:
    with pytest.raises(error, match=re.escape(text)):
        Cluster(from_log_dirs=options)
