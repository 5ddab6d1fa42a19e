"""Kafka Connect in distributed mode copies a file into a topic and from there into another file, also across restarts and crashes."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from odradek import Cluster, formats
from tests.cache import Unavailable
from tests.programs.connect import CLUSTER_SETTINGS, GROUP, SINK_GROUP, TOPIC, Files, Worker, libraries, lines
from tests.programs.program import PATIENCE_S

pytestmark = [pytest.mark.clients, pytest.mark.slow, pytest.mark.timeout(600)]


@pytest.fixture
def cluster() -> Iterator[Cluster]:
    try:
        libraries()
    except Unavailable as reason:
        pytest.skip(str(reason))
    with Cluster(nodes=2, topics={TOPIC: 1}, settings=CLUSTER_SETTINGS) as cluster:
        yield cluster


def wait_until_copied(cluster: Cluster, count: int) -> None:
    """Waits until the topic has the lines, and the sink has committed the last of them, which it does after it has written them."""
    records = cluster.wait_for_records(TOPIC, count, timeout_s=PATIENCE_S)
    cluster.wait_for_group(SINK_GROUP, members=1, state="Stable", timeout_s=PATIENCE_S)
    end = {(TOPIC, 0): records[-1].offset + 1}
    cluster.wait_until(lambda: cluster.group(SINK_GROUP).committed == end, timeout_s=PATIENCE_S)


def values(cluster: Cluster, transaction: str) -> list[str]:
    records = cluster.topic(TOPIC, value=formats.text).records()
    return [each.value for each in records if each.transaction == transaction]


def test_connect_restarted_worker_continues(cluster: Cluster, tmp_path: Path) -> None:
    files = Files(tmp_path)
    files.append(0, 500)
    with Worker(cluster.bootstrap_servers, tmp_path) as worker:
        files.start_copying(worker)
        wait_until_copied(cluster, 500)
        worker.terminate()
    files.append(500, 700)
    with Worker(cluster.bootstrap_servers, tmp_path) as worker:
        wait_until_copied(cluster, 700)
        assert [worker.task(connector)["state"] for connector in ("source", "sink")] == ["RUNNING", "RUNNING"]
    assert values(cluster, "committed") == lines(0, 700)
    assert files.sink.read_text().splitlines() == lines(0, 700)


def test_connect_killed_worker_is_replaced(cluster: Cluster, tmp_path: Path) -> None:
    """The worker is killed before its transaction ends. The worker that takes the task over aborts it, and reads the lines again."""
    files = Files(tmp_path)
    files.append(0, 500)
    folders = [tmp_path / "first", tmp_path / "second"]
    for folder in folders:
        folder.mkdir()
    with Worker(cluster.bootstrap_servers, folders[0]) as first, Worker(cluster.bootstrap_servers, folders[1]) as second:
        workers = {worker.address: worker for worker in (first, second)}
        cluster.wait_for_group(GROUP, members=2, state="Stable", timeout_s=PATIENCE_S)
        files.start_copying(first)
        wait_until_copied(cluster, 500)
        victim = workers.pop(first.task("source")["worker_id"])
        (survivor,) = workers.values()
        with cluster.fault(api="EndTxn", transactional_id=f"{GROUP}-source-0", hang=True) as fault:
            files.append(500, 700)
            fault.wait(1, timeout_s=PATIENCE_S)
            victim.kill()
        wait_until_copied(cluster, 700)
        tasks = [survivor.task(connector) for connector in ("source", "sink")]
    assert [(task["state"], task["worker_id"]) for task in tasks] == [("RUNNING", survivor.address)] * 2
    assert values(cluster, "aborted") == lines(500, 700)
    assert values(cluster, "committed") == lines(0, 700)
    assert files.sink.read_text().splitlines() == lines(0, 700)
