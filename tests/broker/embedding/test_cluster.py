"""`Cluster` and `AsyncCluster`: their arguments, and errors while they are not running."""

from __future__ import annotations

import asyncio
import re
import socket
from collections.abc import Callable
from typing import Any

import pytest

from odradek import AsyncCluster, Cluster
from odradek.broker.cluster.startup_topics import TopicOptions
from odradek.protocol.messages.describe_configs import DESCRIBE_CONFIGS, DescribeConfigsRequest, DescribeConfigsResource
from odradek.protocol.messages.metadata import METADATA, MetadataRequest
from tests.broker.network.client import ask, connect

NOT_RUNNING = "the cluster is not running; use it inside its `with` block"


@pytest.mark.parametrize("kind", [Cluster, AsyncCluster])
@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        ({"nodes": -1}, ValueError, "nodes must be at least 1, not -1"),
        ({"nodes": 0}, ValueError, "nodes must be at least 1, not 0"),
        ({"nodes": "2"}, TypeError, "nodes must be an int, not '2'"),
        ({"nodes": True}, TypeError, "nodes must be an int, not True"),
        ({"transaction_version": 3}, ValueError, "transaction_version must be 0, 1 or 2, not 3"),
        ({"features": {"group.versio": 1}}, ValueError, "unknown feature group.versio: did you mean group.version?"),
        ({"features": {"nothing": 1}}, ValueError, "unknown feature nothing: use one of eligible.leader.replicas.version, group.version"),
        ({"features": {"group.version": 2}}, ValueError, "the level of group.version must be from 0 to 1, not 2"),
        ({"topics": ["orders"]}, TypeError, "topics must be a mapping such as {\"orders\": 4}, not ['orders']"),
        ({"topics": "orders"}, TypeError, 'topics must be a mapping such as {"orders": 4}, not \'orders\''),
        ({"topics": []}, TypeError, 'topics must be a mapping such as {"orders": 4}, not []'),
        ({"topics": {1: 4}}, TypeError, "a topic's name must be a str, not 1"),
        ({"topics": {"orders": "4"}}, TypeError, "topic orders: partitions must be an int, not '4'"),
        ({"topics": {"orders": 0}}, ValueError, "topic orders: partitions must be at least 1, not 0"),
        ({"topics": {"orders": -1}}, ValueError, "topic orders: partitions must be at least 1, not -1"),
        ({"topics": {"orders": {"partition": 1}}}, ValueError, "topic orders: unknown option 'partition'; the options are partitions,"),
        ({"topics": {"t": {"configs": []}}}, TypeError, 'topic t: configs must be a mapping such as {"cleanup.policy": "compact"}'),
        (
            {"topics": {"orders": {"configs": {"cleanup.polcy": "compact"}}}},
            ValueError,
            "topic orders: unknown config cleanup.polcy; did you mean cleanup.policy?",
        ),
        ({"topics": {"t": {"configs": {"retention.ms": "x"}}}}, ValueError, "topic t: Invalid value x for configuration retention.ms"),
        ({"topics": {"orders": {"configs": {"retention.ms": None}}}}, TypeError, "setting retention.ms must be a str, int, float or bool"),
        ({"topics": {"or ders": 1}}, ValueError, "invalid topic name: 'or ders' contains one or more characters other than ASCII"),
        ({"topics": {"": 1}}, ValueError, "invalid topic name: the empty string is not allowed"),
        ({"topics": {"a.b": 1, "a_b": 1}}, ValueError, "topics a.b and a_b differ only in '.' and '_'"),
        ({"topics": {"orders": {"replication_factor": 3}}}, ValueError, "topic orders: replication factor 3 exceeds the number of nodes"),
        ({"settings": ["a"]}, TypeError, 'settings must be a mapping such as {"num.partitions": 3}'),
        ({"settings": {"num.partitions": None}}, TypeError, "setting num.partitions must be a str, int, float or bool, not None"),
        ({"settings": {"num.partitions": "many"}}, ValueError, "Invalid value many for configuration num.partitions"),
        ({"settings": {"num.partition": 3}}, ValueError, "unknown setting num.partition; did you mean num.partitions?"),
        ({"settings": {"retention.ms": 3, "log.retention.ms": 3}}, ValueError, "retention.ms is given as log.retention.ms too"),
        ({"settings": {"listeners": "PLAINTEXT:9092"}}, ValueError, "invalid listener 'PLAINTEXT:9092' in listeners"),
        ({"tls": "auto"}, TypeError, "tls must be True or False, not str"),
        ({"users": ["alice"]}, TypeError, 'users must map names to passwords, such as {"alice": "secret"}'),
        ({"users": {"alice": ""}}, ValueError, "invalid user 'alice': name and password must not be empty"),
        ({"acls": "User:alice:allow:read:topic:orders"}, TypeError, "acls must be a list of texts such as"),
        ({"as_version": "1.1"}, ValueError, "there is no version '1.1' of Kafka to emulate; use one of 2.1, 2.2,"),
        ({"as_version": "2.8", "topics": {"t": {"configs": {"local.retention.ms": 1}}}}, ValueError, "Unknown topic config name: local"),
        ({"acls": ["alice:read"]}, ValueError, "invalid ACL 'alice:read': use PRINCIPAL:allow|deny:OPERATIONS:RESOURCE:NAME"),
    ],
)  # fmt: skip
def test_invalid_argument_raises_one_clear_error(
    kind: Callable[..., object], arguments: dict[str, object], error: type[Exception], message: str
) -> None:
    with pytest.raises(error, match=re.escape(message)) as raised:
        kind(**arguments)
    assert "\n" not in str(raised.value)


@pytest.mark.parametrize("name", ["zookeeper.connect", "controller.quorum.voters", "log.message.format.version", "some.plugin.level"])
def test_unknown_setting_is_accepted(name: str) -> None:
    assert repr(Cluster(nodes=1, settings={name: "3"})) == "<Cluster: 1 node, not running>"


def test_unknown_settings_are_ignored_on_request(caplog: pytest.LogCaptureFixture) -> None:
    Cluster(nodes=1, settings={"num.partition": 3, "retention.ms": 5, "num.io.threads": 2}, ignore_unknown_settings=True)
    assert caplog.messages == ["ignored unknown settings: num.partition, retention.ms"]


@pytest.mark.parametrize(
    "use",
    [
        lambda cluster: cluster.bootstrap_servers,
        lambda cluster: cluster.stop_node(1),
        lambda cluster: cluster.start_node(1),
    ],
)
def test_cluster_outside_its_with_raises(use: Callable[[Cluster], Any]) -> None:
    cluster = Cluster(nodes=1)
    with pytest.raises(ValueError, match=NOT_RUNNING):
        use(cluster)
    with cluster:
        use(cluster)
    with pytest.raises(ValueError, match=NOT_RUNNING):
        use(cluster)


def test_async_cluster_outside_its_with_raises() -> None:
    async def scenario() -> None:
        cluster = AsyncCluster(nodes=1)
        for _ in range(2):
            for use in (cluster.stop_node, cluster.start_node):
                with pytest.raises(ValueError, match=NOT_RUNNING):
                    await use(1)
            with pytest.raises(ValueError, match=NOT_RUNNING):
                _ = cluster.bootstrap_servers
            async with cluster as same:
                assert same is cluster
                await cluster.stop_node(1)

    asyncio.run(scenario())


def test_start_and_stop_work_like_with() -> None:
    cluster = Cluster(nodes=2)
    assert cluster.start() is cluster
    addresses = cluster.bootstrap_servers.split(",")
    with pytest.raises(ValueError, match=f"the cluster is running already, at {cluster.bootstrap_servers}; stop it before"):
        cluster.start()
    for address in addresses:
        connect(address).close()
    cluster.stop()
    for address in addresses:
        with pytest.raises(ConnectionRefusedError):
            connect(address)
    cluster.stop()  # has no effect
    with cluster:
        cluster.stop()


def test_async_start_and_stop_work_like_with() -> None:
    async def scenario() -> None:
        cluster = await AsyncCluster(nodes=1).start()
        address = cluster.bootstrap_servers
        with pytest.raises(ValueError, match="the cluster is running already"):
            await cluster.start()
        await asyncio.to_thread(lambda: connect(address).close())
        await cluster.stop()
        await cluster.stop()
        with pytest.raises(ConnectionRefusedError):
            await asyncio.to_thread(connect, address)

    asyncio.run(scenario())


def test_start_succeeds_after_a_port_was_in_use() -> None:
    with socket.create_server(("127.0.0.1", 0)) as other:
        port = other.getsockname()[1]
        cluster = Cluster(nodes=1, settings={"listeners": f"PLAINTEXT://127.0.0.1:{port}"})
        with pytest.raises(OSError, match="Address already in use"):
            cluster.start()
        assert repr(cluster) == "<Cluster: 1 node, not running>"
    with cluster:
        assert cluster.bootstrap_servers == f"127.0.0.1:{port}"


def test_repr_has_nodes_and_addresses() -> None:
    with Cluster(nodes=2) as cluster:
        first, second = cluster.bootstrap_servers.split(",")
        assert repr(cluster) == f"<Cluster: node 1 at {first}, node 2 at {second}>"
        cluster.stop_node(2)
        assert repr(cluster) == f"<Cluster: node 1 at {first}, node 2 at {second} (stopped)>"
    assert repr(cluster) == "<Cluster: 2 nodes, not running>"
    assert repr(AsyncCluster(nodes=3)) == "<AsyncCluster: 3 nodes, not running>"


def test_topic_options_take_effect() -> None:
    configured: TopicOptions = {"partitions": 2, "replication_factor": 1, "configs": {"cleanup.policy": "compact", "retention.ms": 5}}
    wanted: dict[str, int | TopicOptions] = {"a": 3, "b": configured, "c": {}}
    with (
        Cluster(nodes=2, topics=wanted, settings={"num.partitions": 4}) as cluster,
        connect(cluster.bootstrap_servers.split(",")[0]) as client,
    ):
        found = {topic.name: topic for topic in ask(client, METADATA, 9, MetadataRequest(topics=None)).topics}
        described = DescribeConfigsResource(resource_type=2, resource_name="b", configuration_keys=["cleanup.policy", "retention.ms"])
        (configs,) = ask(client, DESCRIBE_CONFIGS, 4, DescribeConfigsRequest(resources=[described])).results
    sizes = {name: (len(topic.partitions), len(topic.partitions[0].replica_nodes)) for name, topic in found.items()}
    assert sizes == {"a": (3, 2), "b": (2, 1), "c": (4, 2)}
    assert {entry.name: entry.value for entry in configs.configs} == {"cleanup.policy": "compact", "retention.ms": "5"}


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"settings": {3: 4}}, "the name of a setting must be a str, not 3"),
        ({"data": 3}, "data must be str or PathLike, not 3"),
        ({"data": ["a", 3]}, "data must be str or PathLike, not 3"),
        ({"seed": "a"}, "seed must be int, not 'a'"),
        ({"seed": True}, "seed must be int, not True"),
        ({"features": [1]}, r"features must be Mapping, not \[1\]"),
        ({"features": {"share.version": "0"}}, "features: the level of share.version must be int, not '0'"),
        ({"control": 9099}, "control must be str, not 9099"),
        ({"control": "127.0.0.1:0", "control_token": 3}, "control_token must be str, not 3"),
        ({"capture": 3}, "capture must be str or PathLike, not 3"),
        ({"capturee": "a"}, r"Cluster\(\) got an unexpected keyword argument 'capturee'; did you mean 'capture'\?"),
    ],
)
def test_argument_of_a_wrong_type_is_named(arguments: dict[str, Any], message: str) -> None:
    with pytest.raises(TypeError, match=message):
        Cluster(**arguments)
