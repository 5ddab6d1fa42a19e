"""The record as a user of a cluster sees it: requests, marks, and events, over sockets."""

from __future__ import annotations

import socket
from collections.abc import Iterator

import pytest

from odradek import AsyncCluster, Cluster
from odradek.broker.control_errors import ControlRefused, InvalidControl
from odradek.broker.wire.exchange import Event, Exchange
from odradek.protocol.frame import encode_request
from odradek.protocol.messages.fetch import FETCH
from odradek.protocol.messages.find_coordinator import FIND_COORDINATOR, FindCoordinatorRequest
from odradek.protocol.messages.heartbeat import HEARTBEAT, HeartbeatRequest
from odradek.protocol.messages.join_group import JOIN_GROUP
from odradek.protocol.messages.metadata import METADATA, MetadataRequest
from odradek.protocol.messages.produce import PRODUCE, ProduceRequest
from tests.broker.handlers.group_scene import join_request
from tests.broker.harness import a_batch, fetch_request, produce_request
from tests.broker.network.client import ask, connect


@pytest.fixture
def cluster() -> Iterator[Cluster]:
    settings = {"group.initial.rebalance.delay.ms": 3000, "auto.create.topics.enable": False}
    with Cluster(nodes=1, topics={"orders": 1, "payments": 1}, settings=settings) as cluster:
        yield cluster


@pytest.fixture
def client(cluster: Cluster) -> Iterator[socket.socket]:
    with connect(cluster.bootstrap_servers) as client:
        yield client


def kinds(cluster: Cluster, mark: int) -> list[str]:
    return [entry.kind for entry in cluster.wire.since(mark) if isinstance(entry, Event)]


def texts(cluster: Cluster, kind: str) -> list[str]:
    return [entry.text for entry in cluster.wire.since() if isinstance(entry, Event) and entry.kind == kind]


def test_requests_are_typed_and_selected(cluster: Cluster, client: socket.socket) -> None:
    ask(client, METADATA, 9, MetadataRequest(topics=None))
    for topic in ("orders", "payments", "nowhere"):
        ask(client, PRODUCE, 9, produce_request(topic, a_batch(b"x")))
    ask(client, FIND_COORDINATOR, 0, FindCoordinatorRequest(key="billing"))
    ask(client, HEARTBEAT, 4, HeartbeatRequest(group_id="billing", generation_id=1, member_id="m"))
    (found,) = cluster.requests(api="Produce", topic="orders")
    assert isinstance(found, Exchange)
    assert isinstance(found.request, ProduceRequest)
    assert found.written is not None
    assert [each.topics for each in cluster.requests(api=["Produce", "Fetch"])] == [("orders",), ("payments",), ("nowhere",)]
    assert [each.topics for each in cluster.requests(topic="*r*")] == [("orders",), ("nowhere",)]
    assert [each.api for each in cluster.requests(group="bill*")] == ["FindCoordinator", "Heartbeat"]
    assert [each.errors for each in cluster.requests(error="UNKNOWN_*")] == [("UNKNOWN_TOPIC_OR_PARTITION",), ("UNKNOWN_MEMBER_ID",)]
    assert len(cluster.requests(node=1, connection=1)) == 6
    assert cluster.requests(node=2) == cluster.requests(client_id="other") == []


def test_mark_separates_what_a_step_has_caused(cluster: Cluster, client: socket.socket) -> None:
    ask(client, METADATA, 9, MetadataRequest(topics=None))
    mark = cluster.wire.mark()
    assert cluster.wire.since(mark) == []
    ask(client, PRODUCE, 9, produce_request("orders", a_batch(b"x")))
    (entry,) = cluster.wire.since(mark)
    assert isinstance(entry, Exchange)
    assert (entry.api, entry.sequence) == ("Produce", mark)
    assert [each.api for each in cluster.requests()] == ["Metadata", "Produce"]
    assert [each.api for each in cluster.requests(since=mark)] == ["Produce"]
    assert cluster.wire.entries(since=mark)[0]["api"] == "Produce"
    assert cluster.wire.entries(filter="api=Metadata", verbose=True)[0]["request"]["topics"] is None
    with pytest.raises(InvalidControl, match="did you mean 'error'"):
        cluster.wire.entries(filter="eror")


def test_story_contains_controls_faults_and_leaders(cluster: Cluster, client: socket.socket) -> None:
    mark = cluster.wire.mark()
    cluster.add_node()
    cluster.create_topic("new", partitions=1)
    fault = cluster.fault(api="Produce", delay_ms=20)
    ask(client, PRODUCE, 9, produce_request("orders", a_batch(b"x")))
    fault.remove()
    cluster.clock.freeze()
    cluster.clock.advance(minutes=10)
    cluster.clock.run()
    (produced,) = cluster.requests(api="Produce")
    assert produced.faults == ("fault 1: api=Produce delay_ms=20",)
    assert produced.waits == ("a delay of 20 ms (fault 1)",)
    assert "adding node 2" in texts(cluster, "control")
    assert "creating topic new" in texts(cluster, "control")
    added, removed = texts(cluster, "fault")
    assert (added, removed) == (f"added {produced.faults[0]}", f"removed {produced.faults[0]} after 1 hit")
    assert texts(cluster, "clock") == ["the time stands still", "the time moves forward by 10 min", "the time passes at its usual speed"]
    assert kinds(cluster, mark)[0] == "control"


def test_leader_changes_are_one_event_for_a_node() -> None:
    with Cluster(nodes=2, topics={"orders": {"partitions": 9, "replication_factor": 2}}) as cluster:
        cluster.stop_node(1)
        (found,) = [entry for entry in cluster.wire.since() if isinstance(entry, Event) and entry.kind == "leader"]
        assert found.fields["leader"] == 2
        assert int(found.fields["partitions"]) >= 4
        assert found.text.startswith("node 2 leads orders-")
        assert found.text.endswith(f"and {int(found.fields['partitions']) - 1} others")


def test_group_events_name_reason_and_generation(cluster: Cluster, client: socket.socket) -> None:
    ask(client, FIND_COORDINATOR, 0, FindCoordinatorRequest(key="billing"))  # creates the topic in which groups are stored
    cluster.clock.freeze()
    join = join_request("billing")
    client.sendall(b"".join(encode_request(JOIN_GROUP, 3, 1, "test", join)))
    cluster.wait_until(lambda: cluster.requests(api="JoinGroup"), timeout_s=30)
    (waiting,) = cluster.requests(api="JoinGroup")
    assert (waiting.answered, waiting.waits) == (None, ("a rebalance of billing",))
    cluster.clock.advance(seconds=3)
    (joined,) = cluster.requests(api="JoinGroup")
    assert joined.answered is not None
    assert joined.answered.cluster_ms - joined.received.cluster_ms == 3000
    cluster.clock.advance(seconds=30)
    told = [(entry.text, entry.fields) for entry in cluster.wire.since() if isinstance(entry, Event) and entry.kind == "group"]
    assert [fields["generation"] for _, fields in told][:3] == [0, 0, 1]
    assert all(fields["group"] == "billing" for _, fields in told)
    reasons = [text.partition(": ")[2] for text, _ in told if "prepares to rebalance" in text]
    assert "joins, client reason" in reasons[0]
    assert any("is removed" in text for text, _ in told)


def test_end_of_a_connection_is_attributed(cluster: Cluster) -> None:
    mark = cluster.wire.mark()
    with connect(cluster.bootstrap_servers) as client:
        client.sendall(b"".join(encode_request(FETCH, 11, 1, "test", fetch_request("orders", max_wait_ms=60_000))))
        cluster.wait_until(lambda: cluster.requests(api="Fetch"), timeout_s=30)
    cluster.wait_until(lambda: "connection closed" in kinds(cluster, mark), timeout_s=30)
    (fetched,) = cluster.requests(api="Fetch")
    assert (fetched.answered, fetched.ended) == (None, "FIN by the client")
    with connect(cluster.bootstrap_servers) as client:
        client.sendall(b"".join(encode_request(PRODUCE, 9, 1, "test", produce_request("orders", a_batch(bytes(2_000_000)), acks=0))))
        assert client.recv(1) == b""
    (produced,) = cluster.requests(api="Produce")
    assert produced.response_frame is None
    assert produced.ended.startswith("FIN by the broker: ")


def test_reset_by_the_client_is_told_from_a_close(cluster: Cluster) -> None:
    client = connect(cluster.bootstrap_servers)
    ask(client, METADATA, 9, MetadataRequest(topics=None))
    client.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\1\0\0\0\0\0\0\0")
    client.close()
    (closed,) = cluster.wait_until(lambda: texts(cluster, "connection closed"), timeout_s=30)
    assert closed == "RST by the client"


def test_record_survives_reset(cluster: Cluster, client: socket.socket) -> None:
    ask(client, PRODUCE, 9, produce_request("orders", a_batch(b"x")))
    cluster.reset()
    with connect(cluster.bootstrap_servers) as other:
        ask(other, METADATA, 9, MetadataRequest(topics=None))
    assert [(each.api, each.connection) for each in cluster.requests()] == [("Produce", 1), ("Metadata", 2)]
    assert "restoring a state" in texts(cluster, "control")
    assert "RST by the broker: the state of the cluster was replaced" in texts(cluster, "connection closed")


def test_record_is_switched_off_by_an_option() -> None:
    with Cluster(nodes=1, record_exchanges=0) as cluster, connect(cluster.bootstrap_servers) as client:
        ask(client, METADATA, 9, MetadataRequest(topics=None))
        with pytest.raises(ControlRefused, match="record_exchanges above 0"):
            cluster.requests()
    for options in ({"record_exchanges": -1}, {"record_bytes": "16m"}, {"record_bytes": True}):
        with pytest.raises(ValueError, match=next(iter(options))):
            Cluster(**options)


async def _requests() -> list[str]:
    async with AsyncCluster(nodes=1, record_exchanges=100) as cluster:
        mark = await cluster.wire.mark()
        assert await cluster.wire.since(mark) == []
        return [each.api for each in await cluster.requests()]


def test_requests_of_an_asynchronous_cluster() -> None:
    import asyncio

    assert asyncio.run(_requests()) == []
