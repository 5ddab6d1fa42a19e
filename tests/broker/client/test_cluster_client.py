"""The client of a cluster: which errors it survives, and what it says about the others."""

from __future__ import annotations

import pytest

from odradek import Cluster
from odradek.broker.client.cluster_client import ClientError, ClusterClient, NoAnswer
from odradek.broker.client.topics import list_topics
from odradek.broker.commands.options import addresses
from odradek.protocol.client.connection import TopicPartition
from odradek.protocol.client.line import Line
from odradek.protocol.client.settings import ClientSecurity
from odradek.protocol.errors import ErrorCode, KafkaError
from odradek.protocol.messages.list_groups import LIST_GROUPS, ListGroupsRequest
from odradek.protocol.messages.metadata import METADATA, MetadataRequest


def test_topic_without_a_leader_is_awaited(cluster: Cluster, client: ClusterClient) -> None:
    missing = {"topics": {"partitions": {"leader_id": -1}}}
    fault = cluster.fault(api="Metadata", topic="orders", respond=missing, times=2)
    leaders = client.leaders(client.topics(["orders"]))
    assert fault.hits == 2
    assert leaders == {TopicPartition("orders", each.partition): each.leader for each in cluster.topics()[0].partitions}


def test_passing_error_is_retried_until_the_time_is_over(client: ClusterClient, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("odradek.broker.client.cluster_client.RETRY_S", 0)
    calls: list[int] = []

    def fail() -> None:
        calls.append(1)
        raise KafkaError(ErrorCode.LEADER_NOT_AVAILABLE, "no leader")

    with pytest.raises(KafkaError, match="no leader"):
        client.retry(fail)
    assert len(calls) == 1


def test_other_error_is_not_retried(client: ClusterClient) -> None:
    calls: list[int] = []

    def fail() -> None:
        calls.append(1)
        raise KafkaError(ErrorCode.TOPIC_AUTHORIZATION_FAILED)

    with pytest.raises(KafkaError):
        client.retry(fail)
    assert len(calls) == 1


def test_request_goes_to_another_broker_if_one_is_gone(cluster: Cluster, client: ClusterClient) -> None:
    assert [topic.name for topic in list_topics(client)] == ["orders"]
    cluster.stop_node(1)
    assert [topic.name for topic in list_topics(client)] == ["orders"]


def test_node_that_closes_the_connection_is_named(cluster: Cluster, client: ClusterClient) -> None:
    client.metadata([])
    with (
        cluster.fault(api="ListGroups", node=2, drop=True, close="rst"),
        pytest.raises(NoAnswer, match=r"broker 2 at 127\.0\.0\.1:\d+ does"),
    ):
        client.all_at_once(LIST_GROUPS, {node: ListGroupsRequest() for node in (1, 2)})
    assert set(client.all_at_once(LIST_GROUPS, {node: ListGroupsRequest() for node in (1, 2)})) == {1, 2}


def test_unknown_node_is_an_error(client: ClusterClient) -> None:
    with pytest.raises(KafkaError, match="broker 7 is not available"):
        client.send_to(7, LIST_GROUPS, ListGroupsRequest())


def test_response_after_an_interruption_belongs_to_its_request(client: ClusterClient, monkeypatch: pytest.MonkeyPatch) -> None:
    client.metadata([])

    def interrupted(*_: object, **__: object) -> bytes:
        raise KeyboardInterrupt

    with monkeypatch.context() as patched, pytest.raises(KeyboardInterrupt):
        patched.setattr(Line, "receive", interrupted)
        client.send_to(1, METADATA, MetadataRequest(topics=[]))
    assert client.send_to(1, LIST_GROUPS, ListGroupsRequest()).groups == []


def test_refused_credentials_are_not_retried() -> None:
    with Cluster(nodes=1, users={"alice": "secret"}) as secured:
        security = ClientSecurity("SASL_PLAINTEXT", "PLAIN", "alice", "wrong")
        with (
            ClusterClient(addresses(secured.bootstrap_servers), security) as client,
            pytest.raises(ClientError, match="authentication failed"),
        ):
            client.topics(["orders"])
