"""Describing groups and waiting for them, with members of both protocols."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import closing
from typing import Any

import pytest
from confluent_kafka import Consumer, TopicPartition

from odradek import Cluster
from odradek.broker.control_errors import ControlTimeout, InvalidControl
from tests.differential.case import Case
from tests.differential.clusters import ServedCluster
from tests.differential.replay import Replay
from tests.differential.share_group_requests import ShareMember, alter_share

pytestmark = [pytest.mark.sockets, pytest.mark.clients]


@pytest.fixture(params=["classic", "consumer"])
def protocol(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture(scope="module")
def cluster() -> Iterator[Cluster]:
    with Cluster(nodes=2, topics={"orders": 2}, settings={"group.initial.rebalance.delay.ms": 0}) as running:
        running.produce("orders", [{"value": str(number), "partition": number % 2} for number in range(10)])
        yield running


def consumer(cluster: Cluster, group: str, protocol: str) -> Consumer:
    config = {"bootstrap.servers": cluster.bootstrap_servers, "group.id": group, "group.protocol": protocol, "client.id": "reader"}
    found = Consumer(config | {"auto.offset.reset": "earliest", "enable.auto.commit": False})
    found.subscribe(["orders"])
    return found


def test_group_has_members_offsets_and_lag(cluster: Cluster, protocol: str) -> None:
    name = f"{protocol} group"
    with closing(consumer(cluster, name, protocol)) as reader:
        assert len(reader.consume(10, timeout=30)) == 10
        stable = cluster.wait_for_group(name, members=1, state="stable", timeout_s=30)
        [member] = stable.members
        assert (stable.type, stable.state, stable.coordinator in (1, 2)) == (protocol, "Stable", True)
        assert (member.client_id, member.client_host, member.topics) == ("reader", "127.0.0.1", ["orders"])
        assert member.assignment == {"orders": [0, 1]}
        assert [(each.committed, each.lag) for each in stable.offsets] == [(None, 5), (None, 5)]
        assert stable.lag == 10
        reader.commit(offsets=[TopicPartition("orders", 0, 5, metadata="half")], asynchronous=False)
        assert cluster.group(name).lag == 5
        first, second = cluster.group(name).offsets
        assert (first.committed, first.metadata.rstrip("\0"), first.lag) == (5, "half", 0)  # confluent-kafka appends the zero
        assert (second.committed, second.metadata, second.lag) == (None, "", 5)
        with pytest.raises(ControlTimeout, match=r"did not reach members=1, lag=0: it is Stable with 1 member .* and lag 5") as caught:
            cluster.wait_for_group(name, members=1, lag=0, timeout_s=0)
        assert "orders-0 committed 5 lag 0, orders-1 committed None lag 5" in str(caught.value)
        reader.commit(offsets=[TopicPartition("orders", 1, 5)], asynchronous=False)
        assert cluster.wait_for_group(name, members=1, lag=0).lag == 0
    assert cluster.wait_for_group(name, members=0, state="Empty", timeout_s=30).members == []


def test_session_of_a_silent_member_ends_by_advance(cluster: Cluster) -> None:
    reader = consumer(cluster, "silent", "classic")
    reader.poll(10)
    cluster.wait_for_group("silent", members=1, state="Stable", timeout_s=30)
    cluster.clock.freeze()
    cluster.clock.advance(minutes=1)
    left = cluster.group("silent")
    cluster.clock.run()
    reader.close()
    assert left.state in ("Empty", "PreparingRebalance", "Dead")


def test_committed_offsets_expire_by_advance() -> None:
    with Cluster(nodes=1, topics={"orders": 1}, settings={"offsets.retention.minutes": 60}) as cluster:
        reader = Consumer({"bootstrap.servers": cluster.bootstrap_servers, "group.id": "g"})
        reader.commit(offsets=[TopicPartition("orders", 0, 5)], asynchronous=False)
        reader.close()
        assert [each.committed for each in cluster.group("g").offsets] == [5]
        cluster.clock.advance(minutes=75)
        assert cluster.groups() == []


def test_share_group_is_shown_and_waited_for() -> None:
    m = ShareMember("shares")
    steps = (alter_share(m.group, {"orders": {0: 2, 1: 5}}), m.join("orders"), m.join("orders"))
    with Cluster(nodes=1, topics={"orders": 2, "__consumer_offsets": 1}) as cluster:
        cluster.produce("orders", [{"value": "v", "partition": number % 2} for number in range(10)])
        Replay(ServedCluster(cluster.bootstrap_servers), {}).run(Case("share", (), steps))
        stable = cluster.wait_for_group(m.group, members=1, state="stable")
        assert (stable.type, stable.protocol, stable.epoch, stable.coordinator) == ("share", "simple", 2, 1)
        [member] = stable.members
        assert (member.member_id, member.instance_id, member.topics, member.assignment) == ("m", None, ["orders"], {"orders": [0, 1]})
        assert [(each.partition, each.committed, each.lag) for each in stable.offsets] == [(0, 2, 3), (1, 5, 0)]
        assert [each.group_id for each in cluster.groups()] == [m.group]
        assert cluster.wait_for_group(m.group, lag=3).lag == 3


@pytest.mark.parametrize(
    ("call", "parameter", "message"),
    [
        (lambda cluster: cluster.group("nope").state, "group", "group: there is no group 'nope'"),
        (lambda cluster: cluster.wait_for_group("g", state="Stabel"), "state", r"no state of a group 'Stabel'; did you mean 'Stable'\?"),
        (lambda cluster: cluster.wait_for_group("g", members=-1), "members", "members: must not be negative"),
        (lambda cluster: cluster.wait_for_group("g", lag=-1), "lag", "lag: must not be negative"),
    ],
)
def test_invalid_group_control_names_the_parameter(cluster: Cluster, call: Callable[[Any], object], parameter: str, message: str) -> None:
    with pytest.raises(InvalidControl, match=message) as caught:
        call(cluster)
    assert caught.value.parameter == parameter


def test_wait_for_a_missing_group_names_it(cluster: Cluster) -> None:
    with pytest.raises(ControlTimeout, match=r"group 'nope' does not exist, wanted members=2 \(waited 0 s\)"):
        cluster.wait_for_group("nope", members=2, timeout_s=0)
