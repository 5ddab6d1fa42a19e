"""What a cluster is started with: nodes, the listeners of each, first topics. SocketServerConfigs and KafkaConfig give the rules."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from types import MappingProxyType
from typing import NamedTuple

from .endpoints import EVERYWHERE, LOOPBACK, WILDCARDS, Endpoint, bracketed, controller_names, endpoints_of, listening_endpoints
from .spelling import check_spelling
from .values import BrokerConfig, InvalidConfig

DEFAULT_NODES = 2
TOPIC = re.compile(r"([^:]+):([1-9][0-9]{0,5})(?::([1-9][0-9]{0,3}))?")


@dataclass(frozen=True, slots=True)
class Listener:
    """Where one node listens, and where it tells clients to connect to. Port 0 is any free one, known once it is bound."""

    node_id: int
    name: str
    host: str
    port: int
    advertised_host: str
    advertised_port: int
    security_protocol: str = "PLAINTEXT"

    def bound(self, port: int) -> Listener:
        """The same with the port that the system gave."""
        return replace(self, port=port, advertised_port=self.advertised_port or port)

    @property
    def advertised(self) -> str:
        """`host:port`, as bootstrap.servers has it."""
        return f"{bracketed(self.advertised_host)}:{self.advertised_port}"


@dataclass(frozen=True, slots=True)
class NodeConfig:
    """One node. `properties` are its settings, with the listeners in it."""

    node_id: int
    rack: str | None
    listeners: tuple[Listener, ...]
    properties: Mapping[str, str]

    def bound(self, listeners: Sequence[Listener]) -> NodeConfig:
        """The same with listeners that are bound, which DescribeConfigs shows."""
        return replace(self, listeners=tuple(listeners), properties={**self.properties, **_listener_properties(listeners)})


@dataclass(frozen=True, slots=True)
class ClusterConfig:
    """All nodes. An empty cluster id means a random one; `ignored` names the given settings that change nothing here.

    `transaction_version` is the level at which the feature transaction.version is finalized: 0, 1, or 2 for transactions v2 (KIP-890).
    `max_memory_bytes` limits the memory of all logs together; None is no limit.
    """

    cluster_id: str
    nodes: tuple[NodeConfig, ...]
    ignored: tuple[str, ...] = ()
    transaction_version: int = 2
    max_memory_bytes: int | None = None


class TopicSpec(NamedTuple):
    """A topic to begin with. -1 partitions or replicas are as many as the broker's settings say."""

    name: str
    partitions: int
    replication_factor: int = -1
    configs: Mapping[str, str] = MappingProxyType({})

    @classmethod
    def parse(cls, text: str) -> TopicSpec:
        """name:partitions[:replicas]; InvalidConfig for anything else."""
        match = TOPIC.fullmatch(text)
        if match is None:
            raise InvalidConfig(f"invalid topic '{text}': write name:partitions or name:partitions:replicas, such as orders:4:2")
        return cls(match[1], int(match[2]), int(match[3] or -1))


def cluster_of(brokers: Sequence[Mapping[str, str]], *, nodes: int | None = None, cluster_id: str = "") -> ClusterConfig:
    """A cluster of the settings of each broker, or of one set of them that describes them all. Raises InvalidConfig.

    From one set, node n of `nodes` gets each port plus n - 1 and the next id. Without `nodes` that is one node if the settings say
    which, else two.
    """
    if nodes is not None and nodes < 1:
        raise InvalidConfig(f"nodes must be at least 1, not {nodes}")
    given = set[str]().union(*brokers)
    check_spelling(given)
    if len(brokers) == 1:
        given_id = _node_id(brokers[0])
        count = nodes or (DEFAULT_NODES if given_id is None else 1)
        first = 1 if given_id is None else given_id
        configs = [_node(first + shift, brokers[0], shift) for shift in range(count)]
    elif nodes not in (None, len(brokers)):
        raise InvalidConfig(f"{nodes} nodes do not go with {len(brokers)} configurations, each of which is one node")
    else:
        ids = [_node_id(properties) for properties in brokers]
        configs = [_node(position if id_ is None else id_, brokers[position - 1], 0) for position, id_ in enumerate(ids, 1)]
    _check_apart(configs)
    ignored = {name for node in configs for name in BrokerConfig(node.properties, nodes=len(configs)).ignored()}
    return ClusterConfig(cluster_id, tuple(configs), tuple(sorted(ignored & given)))


def _node_id(properties: Mapping[str, str]) -> int | None:
    """The id that is given, if any; -1 is Kafka's way to say that there is none."""
    for name in ("node.id", "broker.id"):
        text = properties.get(name, "-1").strip()
        if not re.fullmatch(r"-1|[0-9]{1,9}", text):
            raise InvalidConfig(f"Invalid value {text} for configuration {name}: an id is a number from 0 on")
        if text != "-1":
            return int(text)
    return None


def _node(node_id: int, properties: Mapping[str, str], shift: int) -> NodeConfig:
    listeners = _listeners(node_id, properties, shift)
    identity = {"node.id": str(node_id), "broker.id": str(node_id)}
    return NodeConfig(node_id, properties.get("broker.rack") or None, listeners, {**properties, **identity}).bound(listeners)


def _listeners(node_id: int, properties: Mapping[str, str], shift: int) -> tuple[Listener, ...]:
    for setting in ("listeners", "advertised.listeners"):
        _check_different(setting, endpoints_of(properties, setting, shift), properties)
    advertised = {endpoint.name: endpoint for endpoint in endpoints_of(properties, "advertised.listeners", shift)}
    listening = listening_endpoints(properties, shift)
    names = [endpoint.name for endpoint in listening]
    controllers = controller_names(properties)
    _check_names(node_id, names, [name for name in advertised if name not in controllers], properties)
    protocols = _protocols(names, properties)
    return tuple(_listener(node_id, endpoint, advertised.get(endpoint.name), protocols[endpoint.name]) for endpoint in listening)


def _listener(node_id: int, listening: Endpoint, advertised: Endpoint | None, protocol: str) -> Listener:
    if advertised and advertised.host in WILDCARDS[1:]:
        raise InvalidConfig("advertised.listeners cannot use the nonroutable meta-address 0.0.0.0. Use a routable IP address.")
    told = advertised or listening
    # Nobody can connect to a wildcard; who listens on all interfaces is reached on this machine at least.
    told_host = LOOPBACK if told.host in WILDCARDS else told.host
    return Listener(node_id, listening.name, listening.host or EVERYWHERE, listening.port, told_host, told.port, protocol)


def _check_different(setting: str, endpoints: Sequence[Endpoint], properties: Mapping[str, str]) -> None:
    """Raises InvalidConfig for listeners of one name, and for ports that would be bound twice."""
    if len({endpoint.name for endpoint in endpoints}) < len(endpoints):
        raise InvalidConfig(f"Each listener must have a different name, {setting}: {properties[setting]}")
    ports = [endpoint.port for endpoint in endpoints if endpoint.port]
    if setting == "listeners" and len(set(ports)) < len(ports):
        raise InvalidConfig(f"Each listener must have a different port, {setting}: {properties[setting]}")


def _check_names(node_id: int, names: Sequence[str], advertised: Sequence[str], properties: Mapping[str, str]) -> None:
    known = ", ".join(names)
    if not names:
        raise InvalidConfig(f"Node {node_id} has no listener for clients; add one to listeners, such as PLAINTEXT://127.0.0.1:9092")
    if unknown := [name for name in advertised if name not in names]:
        raise InvalidConfig(f"advertised.listeners names {unknown[0]}, which listeners does not; it has {known}")
    inter_broker = properties.get("inter.broker.listener.name", "").strip().upper()
    if inter_broker and inter_broker not in names:
        raise InvalidConfig(f"inter.broker.listener.name is {inter_broker}, which listeners does not have; it has {known}")


def _protocols(names: Sequence[str], properties: Mapping[str, str]) -> dict[str, str]:
    """The security protocol of each listener; without a map, a listener that has no protocol's name speaks plain text."""
    pairs = [pair.strip() for pair in properties.get("listener.security.protocol.map", "").split(",") if pair.strip()]
    given: dict[str, str] = {}
    for pair in pairs:
        name, separator, protocol = pair.rpartition(":")
        if not separator or protocol.strip().upper() not in ("PLAINTEXT", "SSL", "SASL_PLAINTEXT", "SASL_SSL"):
            raise InvalidConfig(f"invalid pair '{pair}' in listener.security.protocol.map: write NAME:PROTOCOL, such as EXTERNAL:PLAINTEXT")
        given[name.strip().upper()] = protocol.strip().upper()
    for name in names:
        if given and name not in given:
            raise InvalidConfig(f"No security protocol defined for listener {name}; add {name}:PLAINTEXT to listener.security.protocol.map")
    protocols = {name: given.get(name) or (name if name in ("SSL", "SASL_PLAINTEXT", "SASL_SSL") else "PLAINTEXT") for name in names}
    for name, protocol in protocols.items():
        if protocol != "PLAINTEXT":
            raise InvalidConfig(f"Listener {name} asks for {protocol}, which is not supported yet; use PLAINTEXT")
    return protocols


def _check_apart(nodes: Sequence[NodeConfig]) -> None:
    """Nodes have ids of their own and do not want one another's ports."""
    for one, other in combinations(nodes, 2):
        if one.node_id == other.node_id:
            raise InvalidConfig(f"Two nodes have the id {one.node_id}; give each configuration a node.id of its own")
    for first, second in combinations([listener for node in nodes for listener in node.listeners], 2):
        same_host = first.host == second.host or first.host in WILDCARDS or second.host in WILDCARDS
        if first.port and first.port == second.port and same_host:
            raise InvalidConfig(
                f"Port {first.port} is wanted by listener {first.name} of node {first.node_id} and {second.name} of node {second.node_id};"
                " leave as many ports between listeners as there are nodes"
            )


def _listener_properties(listeners: Sequence[Listener]) -> dict[str, str]:
    return {
        "listeners": ",".join(str(Endpoint(each.name, each.host, each.port)) for each in listeners),
        "advertised.listeners": ",".join(str(Endpoint(each.name, each.advertised_host, each.advertised_port)) for each in listeners),
    }
