"""Controls of nodes: their checks, and what metadata says afterwards. Silent connections are tested in network/test_silent_nodes.py."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest

from odradek import Cluster
from odradek.broker.cluster.startup_topics import TopicOptions
from odradek.broker.control_errors import ControlRefused, InvalidControl

pytestmark = pytest.mark.sockets

ONCE: TopicOptions = {"partitions": 3, "replication_factor": 1}
TWICE: TopicOptions = {"partitions": 3, "replication_factor": 2}


@pytest.fixture
def cluster() -> Iterator[Cluster]:
    with Cluster(nodes=3, topics={"t": TWICE, "alone": ONCE}, seed=1) as running:
        running.clock.freeze()
        yield running


def leaders(cluster: Cluster, topic: str = "t") -> list[int]:
    return [partition.leader for each in cluster.topics() if each.name == topic for partition in each.partitions]


@pytest.mark.parametrize("name", ["stop_node", "start_node", "pause_node", "resume_node", "isolate", "rejoin", "remove_node"])
def test_node_control_with_an_unknown_id_raises(cluster: Cluster, name: str) -> None:
    with pytest.raises(ValueError, match="node: there is no node 7; use one of 1, 2, 3"):
        getattr(cluster, name)(7)


@pytest.mark.parametrize(
    ("before", "call", "parameter", "message"),
    [
        (["pause_node"], lambda c: c.stop_node(2), "graceful", "node 2 is paused and cannot shut down; use graceful=False"),
        (["pause_node"], lambda c: c.start_node(2), "node", "node 2 is paused, not stopped; use resume_node"),
        (["isolate"], lambda c: c.start_node(2), "node", "node 2 is isolated, not stopped; use rejoin"),
        (["isolate"], lambda c: c.pause_node(2), "node", "node 2 is isolated already; use rejoin"),
        (["isolate"], lambda c: c.resume_node(2), "node", "node 2 is not paused but isolated"),
        (["isolate"], lambda c: c.remove_node(2), "node", "node 2 is isolated; use rejoin"),
        (["stop_node"], lambda c: c.pause_node(2), "node", "node 2 is stopped; only a running node can be paused"),
        (["stop_node"], lambda c: c.rejoin(2), "node", "node 2 is not isolated but stopped"),
        (["stop_node"], lambda c: c.remove_node(2), "node", "only the stopped node 2 has the records of alone-"),
        ([], lambda c: c.resume_node(2), "node", "node 2 is not paused but running"),
        ([], lambda c: c.add_node(2), "node", "there is a node 2 already; leave the id out to get the next one"),
        ([], lambda c: c.add_node(-1), "node", "an id must be from 0 to 999999999, not -1"),
    ],
)
def test_impossible_node_control_changes_nothing(
    cluster: Cluster, before: list[str], call: Callable[[Cluster], object], parameter: str, message: str
) -> None:
    for name in before:
        getattr(cluster, name)(2)
    state, topics = repr(cluster), cluster.topics()
    with pytest.raises(InvalidControl, match=f"{parameter}: {message}") as caught:
        call(cluster)
    assert (caught.value.parameter, repr(cluster), cluster.topics()) == (parameter, state, topics)


def test_last_running_node_cannot_be_removed(cluster: Cluster) -> None:
    cluster.stop_node(1)
    cluster.pause_node(3)
    with pytest.raises(InvalidControl, match="node: node 2 is the last one that is running"):
        cluster.remove_node(2)


def test_node_controls_repeated_do_nothing(cluster: Cluster) -> None:
    for calls in (["stop_node"] * 2, ["start_node"] * 2, ["pause_node"] * 2, ["resume_node"], ["isolate"] * 2, ["rejoin"]):
        for name in calls:
            getattr(cluster, name)(2)
    cluster.clock.advance(minutes=1)
    assert all(len(partition.isr) == 2 for partition in cluster.topics()[0].partitions)


@pytest.mark.parametrize("fail", [lambda c: c.stop_node(2, graceful=False), lambda c: c.pause_node(2), lambda c: c.isolate(2)])
def test_node_that_fails_leads_until_its_session_expires(cluster: Cluster, fail: Callable[[Cluster], object]) -> None:
    assert 2 in leaders(cluster)
    fail(cluster)
    assert 2 in leaders(cluster)
    cluster.clock.advance(seconds=9)
    assert 2 not in leaders(cluster)
    assert -1 in leaders(cluster, "alone")


def test_node_state_is_shown_by_repr(cluster: Cluster) -> None:
    cluster.stop_node(1)
    cluster.pause_node(2)
    cluster.isolate(3)
    assert [part.rpartition(" (")[2].rstrip(">") for part in repr(cluster).split(", ")] == ["stopped)", "paused)", "isolated)"]


def test_coordinator_cannot_move_if_its_topic_cannot_be_created() -> None:
    with Cluster(nodes=3) as cluster:
        cluster.remove_node(3)
        with pytest.raises(ControlRefused, match="INVALID_REPLICATION_FACTOR"):
            cluster.coordinator_moves("g")
        with pytest.raises(ControlRefused, match="INVALID_REPLICATION_FACTOR"):
            cluster.move_coordinator(2, group="g")


def test_removed_node_leaves_its_records_to_others(cluster: Cluster) -> None:
    cluster.produce("alone", [f"{number}" for number in range(9)])
    before = cluster.records("alone")
    cluster.stop_node(3)
    cluster.start_node(3)
    cluster.remove_node(3)
    cluster.remove_node(1)
    assert cluster.records("alone") == before
    assert leaders(cluster, "alone") == leaders(cluster) == [2, 2, 2]
    assert [partition.replicas for partition in cluster.topics()[0].partitions] == [[2]] * 3


def test_added_node_gets_replicas_of_new_topics(cluster: Cluster) -> None:
    assert (cluster.add_node(), cluster.add_node(rack="east"), cluster.add_node(9)) == (4, 5, 9)
    created = cluster.create_topic("new", 6, replication_factor=6)
    assert {tuple(sorted(partition.isr)) for partition in created.partitions} == {(1, 2, 3, 4, 5, 9)}
    cluster.stop_node(4)
    cluster.start_node(4)
    assert all(4 in partition.isr for partition in cluster.topics()[-1].partitions)
