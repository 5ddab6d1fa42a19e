"""Captured sessions that are played again, to clusters with other ids, and to one that behaves differently."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from odradek import Cluster
from odradek.broker.cli import main
from odradek.broker.client.replaying import Replay
from odradek.broker.wire.exchange import Entry
from odradek.broker.wire.reading.capture import CaptureReader
from odradek.protocol.frame import encode_request
from odradek.protocol.messages.api_versions import API_VERSIONS, ApiVersionsRequest
from odradek.protocol.messages.create_topics import CREATE_TOPICS, CreatableTopic, CreateTopicsRequest
from odradek.protocol.messages.fetch import FETCH, FetchPartition, FetchRequest, FetchTopic
from odradek.protocol.messages.find_coordinator import FIND_COORDINATOR, FindCoordinatorRequest
from odradek.protocol.messages.init_producer_id import INIT_PRODUCER_ID, InitProducerIdRequest
from odradek.protocol.messages.join_group import JOIN_GROUP
from odradek.protocol.messages.leave_group import LEAVE_GROUP, LeaveGroupRequest, MemberIdentity
from odradek.protocol.messages.metadata import METADATA, MetadataRequest
from odradek.protocol.messages.produce import PRODUCE
from tests.broker.handlers.group_scene import join_request
from tests.broker.harness import a_batch, produce_request
from tests.broker.network.client import ask, connect

QUICK = {"group.initial.rebalance.delay.ms": 0}
ALL = MetadataRequest(topics=None)


def entries(path: Path) -> list[Entry]:
    with path.open("rb") as stream:
        return list(CaptureReader(stream).entries())


@contextmanager
def replay(cluster: Cluster) -> Iterator[Replay]:
    host, _, port = cluster.bootstrap_servers.partition(",")[0].partition(":")
    with Replay((host, int(port)), timeout_s=20) as playing:
        yield playing


def session(cluster: Cluster) -> None:
    """Creates a topic, produces idempotently by its id, fetches with a session, and joins and leaves a group."""
    with connect(cluster.bootstrap_servers.partition(",")[0]) as client:
        ask(client, API_VERSIONS, 3, ApiVersionsRequest(client_software_name="test", client_software_version="1"))
        topic = CreatableTopic(name="orders", num_partitions=1, replication_factor=1, assignments=[], configs=[])
        ask(client, CREATE_TOPICS, 7, CreateTopicsRequest(topics=[topic]))
        metadata = ask(client, METADATA, 12, ALL)
        producer = ask(client, INIT_PRODUCER_ID, 4, InitProducerIdRequest(transactional_id=None, transaction_timeout_ms=1000))
        leader = {broker.node_id: f"{broker.host}:{broker.port}" for broker in metadata.brokers}[metadata.topics[0].partitions[0].leader_id]
        with connect(leader) as at_leader:
            batch = a_batch(b"value", producer_id=producer.producer_id, producer_epoch=0, base_sequence=0)
            topic_id = metadata.topics[0].topic_id
            ask(at_leader, PRODUCE, 13, produce_request("", batch, topic_id=topic_id))
            wanted = FetchPartition(partition=0, fetch_offset=0, partition_max_bytes=1000)
            topics = [FetchTopic(topic_id=topic_id, partitions=[wanted])]
            fetched = ask(at_leader, FETCH, 13, FetchRequest(max_wait_ms=0, min_bytes=0, topics=topics, session_id=0, session_epoch=0))
            again = FetchRequest(max_wait_ms=0, min_bytes=0, topics=[], session_id=fetched.session_id, session_epoch=1)
            ask(at_leader, FETCH, 13, again)
        join_and_leave(cluster)


def join_and_leave(cluster: Cluster) -> None:
    with connect(cluster.bootstrap_servers.partition(",")[0]) as client:
        found = ask(client, FIND_COORDINATOR, 4, FindCoordinatorRequest(key_type=0, coordinator_keys=["g"])).coordinators[0]
    with connect(f"{found.host}:{found.port}") as client:
        request = join_request("g")
        request.member_id = ask(client, JOIN_GROUP, 5, request).member_id
        joined = ask(client, JOIN_GROUP, 5, request)
        ask(client, LEAVE_GROUP, 4, LeaveGroupRequest(group_id="g", members=[MemberIdentity(member_id=joined.member_id)]))


@pytest.fixture(scope="module")
def recorded(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("replay") / "session.pcapng"
    with Cluster(nodes=2, settings=QUICK, capture=path) as cluster:
        session(cluster)
    return path


@pytest.mark.parametrize("nodes", [1, 2, 3])
def test_replay_to_another_cluster_is_equal(recorded: Path, nodes: int) -> None:
    with Cluster(nodes=nodes, settings=QUICK) as cluster:
        with connect(cluster.bootstrap_servers.partition(",")[0]) as client:  # so that its ids differ from those of the capture
            ask(client, INIT_PRODUCER_ID, 4, InitProducerIdRequest(transactional_id=None, transaction_timeout_ms=1000))
        with replay(cluster) as playing:
            assert list(playing.run(entries(recorded))) == []
        assert playing.outcome.sent == playing.outcome.equal == 11
        assert [each.value for each in cluster.records("orders")] == [b"value"]


def test_replay_shows_what_differs(recorded: Path) -> None:
    with Cluster(nodes=1, settings=QUICK) as cluster:
        cluster.fault(api="Produce", error="NOT_ENOUGH_REPLICAS")
        with replay(cluster) as playing:
            found = [(exchange.api, differences) for exchange, differences in playing.run(entries(recorded))]
    assert [api for api, _ in found] == ["Produce", "Fetch", "Fetch"]
    assert found[0][1][0] == "responses[0].partition_responses[0].error_code: NONE was recorded, now NOT_ENOUGH_REPLICAS"


def test_replay_sends_again_while_an_error_passes(recorded: Path) -> None:
    with Cluster(nodes=1, settings=QUICK) as cluster:
        fault = cluster.fault(api="JoinGroup", error="COORDINATOR_LOAD_IN_PROGRESS", times=1)
        with replay(cluster) as playing:
            assert list(playing.run(entries(recorded))) == []
        assert fault.hits == 1


def test_replay_shows_a_missing_response(recorded: Path) -> None:
    with Cluster(nodes=1, settings=QUICK) as cluster:
        cluster.fault(api="CreateTopics", drop=True, close="fin")
        with replay(cluster) as playing:
            found = {exchange.api: differences for exchange, differences in playing.run(entries(recorded))}
    assert found["CreateTopics"] == ["a response was recorded, now there is none: the broker has closed the connection"]


def test_replay_of_several_waiting_members_does_not_hang(tmp_path: Path) -> None:
    path = tmp_path / "a.pcapng"
    frames = [b"".join(encode_request(METADATA, 9, number, "c", ALL)) for number in range(3)]
    with Cluster(nodes=1, capture=path) as cluster, connect(cluster.bootstrap_servers) as client:
        client.sendall(b"".join(frames))
        while len(entries(path)) < 4:
            pass
    with Cluster(nodes=1) as cluster, replay(cluster) as playing:
        assert list(playing.run(entries(path))) == []
    assert playing.outcome.equal == 3


def test_replay_command_prints_differences_and_exits(recorded: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with Cluster(nodes=2, settings=QUICK) as cluster:
        server = cluster.bootstrap_servers.partition(",")[0]
        assert main(["replay", str(recorded), "--bootstrap-server", server]) == 0
        assert capsys.readouterr().out == "11 requests sent, 11 responses equal, 0 different\n"
        assert main(["replay", str(recorded), "--bootstrap-server", server]) == 1
        output = capsys.readouterr().out
        assert output.startswith("CreateTopics v7 (1) of connection 1 differs:\n")
        assert "  topics[0].error_code: NONE was recorded, now TOPIC_ALREADY_EXISTS\n" in output
    assert main(["replay", str(recorded), "--bootstrap-server", server]) == 2
    assert "Connection refused" in capsys.readouterr().err
    (tmp_path / "text").write_text("no capture")
    assert main(["replay", str(tmp_path / "text"), "--bootstrap-server", server]) == 2
    assert "is not a capture" in capsys.readouterr().err
    assert main(["replay", str(tmp_path / "none"), "--bootstrap-server", server]) == 2
