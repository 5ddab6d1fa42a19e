"""Controls of replicas: leaders, coordinators, replica lists, and followers that lag."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest

from odradek import Cluster
from odradek.broker.control_errors import InvalidControl
from odradek.broker.controls.replicas import Election
from odradek.broker.controls.topics import PartitionInfo
from odradek.broker.kafka_quirks.java_hash import abs_java_hash

pytestmark = pytest.mark.sockets


@pytest.fixture
def cluster() -> Iterator[Cluster]:
    """Three nodes. Nodes 1 and 2 have replicas of t-0; `one` has one replica."""
    with Cluster(nodes=3, topics={"t": 1, "one": 1}, settings={"auto.leader.rebalance.enable": "false"}, seed=1) as running:
        running.clock.freeze()
        running.set_replicas("t", 0, [1, 2])
        running.elect("preferred")
        running.set_replicas("one", 0, [3])
        yield running


def partition(cluster: Cluster, topic: str = "t") -> PartitionInfo:
    (found,) = (each for each in cluster.topics() if each.name == topic)
    return found.partitions[0]


def leader(cluster: Cluster, topic: str = "t") -> tuple[int, list[int]]:
    found = partition(cluster, topic)
    return found.leader, sorted(found.isr)


def offsets(cluster: Cluster) -> tuple[int, int]:
    found = partition(cluster)
    return found.high_watermark, found.end_offset


@pytest.mark.parametrize(
    ("call", "parameter", "message"),
    [
        (lambda c: c.move_leader("tt", 0, 1), "topic", "topic: there is no topic 'tt'; did you mean 't'"),
        (lambda c: c.move_leader("t", 5, 1), "partition", "partition: there is no partition 5; use one of 0"),
        (lambda c: c.move_leader("t", 0, 7), "node", "node: there is no node 7; use one of 1, 2, 3"),
        (lambda c: c.move_leader("t", 0, 3), "node", r"node: node 3 has no replica of t-0; its replicas are \[1, 2\]"),
        (lambda c: c.elect("fair"), "kind", "kind: must be one of preferred, unclean, not 'fair'"),
        (lambda c: c.elect("preferred", "x"), "topic", "topic: there is no topic 'x'"),
        (lambda c: c.elect("unclean", "t", [0, 1]), "partition", "partition: there is no partition 1"),
        (lambda c: c.elect("unclean", partitions=[0]), "partitions", "partitions: give the topic as well"),
        (lambda c: c.move_coordinator(1), "group", "group: give either group or transactional_id"),
        (lambda c: c.move_coordinator(1, group="g", transactional_id="x"), "group", "group: give either group or transactional_id"),
        (lambda c: c.move_coordinator(7, group="g"), "node", "node: there is no node 7"),
        (lambda c: c.set_replicas("t", 0, []), "replicas", r"replicas: must be a list of node ids, not \[\]"),
        (lambda c: c.set_replicas("t", 0, "12"), "replicas", "replicas: must be a list, not '12'"),
        (lambda c: c.set_replicas("t", 0, [1, 1]), "replicas", r"replicas: \[1, 1\] contains a node twice"),
        (lambda c: c.set_replicas("t", 0, [1, 7]), "replicas", "replicas: there is no node 7; use some of 1, 2, 3"),
        (lambda c: c.lag("t", 0, 1), "node", "node: node 1 leads t-0 and cannot lag; move its leader first"),
        (lambda c: c.lag("t", 0, 3), "node", "node: node 3 has no replica of t-0"),
        (lambda c: c.lag("t", 0, 2, -1), "records", "records: must not be negative, but it is -1"),
        (lambda c: c.catch_up("t", 0, 3), "node", "node: node 3 has no replica of t-0"),
    ],
)
def test_impossible_replica_control_changes_nothing(
    cluster: Cluster, call: Callable[[Cluster], object], parameter: str, message: str
) -> None:
    before = cluster.topics()
    with pytest.raises(InvalidControl, match=message) as caught:
        call(cluster)
    assert (caught.value.parameter, cluster.topics()) == (parameter, before)


def test_move_leader_elects_an_in_sync_replica(cluster: Cluster) -> None:
    cluster.move_leader("t", 0, 2)
    epoch = partition(cluster).leader_epoch
    cluster.move_leader("t", 0, 2)
    assert (leader(cluster), partition(cluster).leader_epoch) == ((2, [1, 2]), epoch)
    cluster.stop_node(1)
    with pytest.raises(InvalidControl, match="node: node 1 is not running and cannot lead t-0"):
        cluster.move_leader("t", 0, 1)


def test_move_leader_to_a_replica_out_of_sync_raises(cluster: Cluster) -> None:
    cluster.lag("t", 0, 2)
    cluster.produce("t", ["a"])
    cluster.clock.advance(seconds=30)
    with pytest.raises(InvalidControl, match=r"node: node 2 is not in sync with t-0; its in-sync replicas are \[1\]"):
        cluster.move_leader("t", 0, 2)


def test_elect_returns_the_elections_that_were_held(cluster: Cluster) -> None:
    cluster.move_leader("t", 0, 2)
    epoch = partition(cluster).leader_epoch
    assert cluster.elect("preferred", "one") == cluster.elect("unclean") == []
    assert cluster.elect("preferred", "t", [0]) == [Election("t", 0, 1, epoch + 1)]
    assert cluster.elect("preferred") == []


def test_elect_unclean_truncates_to_the_new_leader(cluster: Cluster) -> None:
    cluster.produce("t", ["a"])
    cluster.lag("t", 0, 2)
    cluster.produce("t", ["b"])
    cluster.clock.advance(seconds=30)
    cluster.stop_node(1)
    assert leader(cluster) == (-1, [])
    (election,) = cluster.elect("unclean")
    assert (election.leader, leader(cluster), offsets(cluster)) == (2, (2, [2]), (1, 1))
    cluster.start_node(1)
    assert [record.value for record in cluster.records("t")] == [b"a"]
    assert leader(cluster) == (2, [1, 2])


@pytest.mark.parametrize(("key", "topic"), [("group", "__consumer_offsets"), ("transactional_id", "__transaction_state")])
def test_move_coordinator_moves_the_internal_partition(cluster: Cluster, key: str, topic: str) -> None:
    for node in (3, 1, 2):
        cluster.move_coordinator(node, **{key: "mine"})
        internal = next(each for each in cluster.topics() if each.name == topic)
        assert internal.partitions[abs_java_hash("mine") % len(internal.partitions)].leader == node


def test_set_replicas_copies_the_records_at_once(cluster: Cluster) -> None:
    cluster.produce("t", ["a"])
    cluster.set_replicas("t", 0, [3])
    found = partition(cluster)
    assert (found.leader, found.replicas, found.isr, offsets(cluster)) == (3, [3], [3], (1, 1))


def test_set_replicas_without_a_leader_raises(cluster: Cluster) -> None:
    cluster.stop_node(3)
    with pytest.raises(InvalidControl, match="partition: one-0 has no leader from which replicas could copy; start a node first"):
        cluster.set_replicas("one", 0, [1])


def test_held_reassignments_stay_in_progress_until_released(cluster: Cluster) -> None:
    cluster.hold_reassignments()
    cluster.set_replicas("t", 0, [3])
    cluster.clock.advance(days=1)
    assert (partition(cluster).replicas, leader(cluster)) == ([3, 1, 2], (1, [1, 2]))
    cluster.release_reassignments()
    assert (partition(cluster).replicas, leader(cluster)) == ([3], (3, [3]))
    cluster.set_replicas("t", 0, [1])
    assert leader(cluster) == (1, [1])


def test_lag_holds_the_high_watermark_until_catch_up(cluster: Cluster) -> None:
    cluster.lag("t", 0, 2)
    cluster.produce("t", ["a", "b"])
    assert (offsets(cluster), leader(cluster)) == ((0, 2), (1, [1, 2]))
    cluster.clock.advance(seconds=30)
    assert (offsets(cluster), leader(cluster)) == ((2, 2), (1, [1]))
    cluster.catch_up("t", 0, 2)
    cluster.catch_up("t", 0, 2)
    assert (offsets(cluster), leader(cluster)) == ((2, 2), (1, [1, 2]))


def test_lag_by_records_follows_at_that_distance(cluster: Cluster) -> None:
    cluster.lag("t", 0, 2, 3)
    for number in range(5):
        cluster.produce("t", [f"{number}"])
    assert (offsets(cluster), leader(cluster)) == ((2, 5), (1, [1, 2]))
