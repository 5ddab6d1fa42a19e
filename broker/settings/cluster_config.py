"""The configuration that a cluster is started with: its nodes, each with settings and listeners, and the topics to create."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import field, replace
from itertools import combinations
from types import MappingProxyType
from typing import TYPE_CHECKING, NamedTuple

from ..frozen_data import FrozenData
from ..plurals import counted
from .endpoints import WILDCARDS
from .listeners import Listener, listener_settings, listeners_of
from .properties import InvalidConfig
from .record_limits import DEFAULT_LIMITS, RecordLimits
from .rows import PRESENT
from .spelling import check_spelling
from .types import SettingRows
from .values import BrokerConfig, broker_row

if TYPE_CHECKING:
    from ..releases.release import Release

DEFAULT_NODES = 2
TOPIC_SPEC = re.compile(r"([^:]+):([1-9][0-9]{0,5})(?::([1-9][0-9]{0,3}))?")


class NodeConfig(FrozenData):
    """One node. `properties` are its settings, including `listeners` and `advertised.listeners`.

    `security_protocol` is that of the listener for clients if TLS or users were asked for, otherwise "".
    """

    node_id: int
    rack: str | None
    listeners: tuple[Listener, ...]
    properties: Mapping[str, str] = field(repr=False)  # contains passwords

    security_protocol: str = ""

    @property
    def client_listener(self) -> Listener:
        """The listener that is advertised as bootstrap.servers: the first one of `security_protocol` or, without one, the first one."""
        return next((each for each in self.listeners if each.security_protocol == self.security_protocol), self.listeners[0])

    def with_listeners(self, listeners: Sequence[Listener]) -> NodeConfig:
        """Returns the node with listeners that are bound to ports, and with their settings, which DescribeConfigs shows."""
        return replace(self, listeners=tuple(listeners), properties={**self.properties, **listener_settings(listeners)})

    def sibling(self, node_id: int, rack: str | None) -> NodeConfig:
        """Returns another node with the same settings, except for its id and rack, that listens on free ports."""
        listeners = [replace(each, node_id=node_id, port=0, advertised_port=0) for each in self.listeners]
        properties = {name: value for name, value in self.properties.items() if name != "broker.rack"}
        properties |= {"node.id": str(node_id), "broker.id": str(node_id)} | ({"broker.rack": rack} if rack else {})
        return NodeConfig(node_id, rack or None, tuple(listeners), properties).with_listeners(listeners)


class ClusterConfig(FrozenData):
    """All nodes. An empty cluster id is replaced by a random one; `ignored` names the given settings that have no effect.

    `unknown` names the given settings that Kafka does not know, if these are to be ignored with a warning; `ignored` lacks them then.

    `features` are levels to which features are finalized at start; all others begin at the highest level of the release.
    `max_memory_bytes` limits the memory of all logs together, unless it is None. `users` maps names to passwords; `acls` are access
    control entries as `security/acl_texts.py` describes them. With `tls`, certificates are generated for listeners without a key store.
    `release` is the emulated release of Kafka, None for 4.3. With `keeps_data`, a data directory follows the state, and records beyond
    `memory_limit_bytes` are served from its files, unless that is None.
    """

    cluster_id: str
    nodes: tuple[NodeConfig, ...]
    ignored: tuple[str, ...] = ()
    unknown: tuple[str, ...] = ()
    features: Mapping[str, int] = field(default_factory=dict)
    max_memory_bytes: int | None = None
    users: Mapping[str, str] = field(default_factory=dict, repr=False)
    acls: tuple[str, ...] = ()
    tls: bool = False
    record: RecordLimits = DEFAULT_LIMITS
    release: Release | None = None
    keeps_data: bool = False
    memory_limit_bytes: int | None = None

    @property
    def setting_rows(self) -> SettingRows:
        """The settings of the emulated release."""
        return rows_for(self.release)


def find_release(name: str | None) -> Release | None:
    """Returns the release of Kafka to emulate, None for the present one, which needs no table. Raises InvalidConfig for an unknown name."""
    if name is None:
        return None
    from ..releases.release import release_of

    try:
        return release_of(name)
    except ValueError as error:
        raise InvalidConfig(str(error)) from None


def rows_for(release: Release | None) -> SettingRows:
    """Returns the settings of a release, None for Kafka 4.3."""
    if release is None:
        return PRESENT
    from .older_rows import rows_of

    return rows_of(release)


class TopicSpec(NamedTuple):
    """A topic to create at startup. A number of partitions or replicas of -1 selects the broker's default."""

    name: str
    partitions: int
    replication_factor: int = -1
    configs: Mapping[str, str] = MappingProxyType({})

    @classmethod
    def parse(cls, text: str) -> TopicSpec:
        """Parses name:partitions[:replicas]. Raises InvalidConfig."""
        match = TOPIC_SPEC.fullmatch(text)
        if match is None:
            raise InvalidConfig(f"invalid topic '{text}': use name:partitions or name:partitions:replicas, such as orders:4:2")
        return cls(match[1], int(match[2]), int(match[3] or -1))


def cluster_of(
    brokers: Sequence[Mapping[str, str]],
    *,
    nodes: int | None = None,
    identities: Sequence[Mapping[str, str]] = (),
    cluster_id: str = "",
    as_version: str | None = None,
    ignore_unknown_settings: bool = False,
) -> ClusterConfig:
    """Returns a cluster of brokers with the given settings, one mapping per broker. Raises InvalidConfig.

    A single mapping describes all nodes: node n gets each port plus n - 1, and the id plus n - 1. `nodes` then defaults to one node
    if the mapping has a node id, and otherwise to `DEFAULT_NODES`. With `identities`, these are the
    ids and racks of the nodes instead. `as_version` is the release to emulate, None for Kafka 4.3.
    With `ignore_unknown_settings` a misspelt setting is listed in `unknown` instead of raising InvalidConfig.
    """
    if nodes is not None and nodes < 1:
        raise InvalidConfig(f"nodes must be at least 1, not {nodes}")
    names = set[str]().union(*brokers)
    if not ignore_unknown_settings:
        check_spelling(names)
    if identities and len(brokers) == 1:
        given = [{**brokers[0], **identity} for identity in identities]
        configs = [_node(_node_id(properties) or 0, properties, shift) for shift, properties in enumerate(given)]
    elif len(brokers) == 1:
        node_id = _node_id(brokers[0])
        count = nodes or (DEFAULT_NODES if node_id is None else 1)
        first = 1 if node_id is None else node_id
        configs = [_node(first + shift, brokers[0], shift) for shift in range(count)]
    elif nodes not in (None, len(brokers)):
        raise InvalidConfig(
            f"got {counted(len(brokers), 'configuration')} for {counted(nodes, 'node')}: give one configuration, or one per node"
        )
    else:
        ids = [_node_id(properties) for properties in brokers]
        configs = [_node(position if id_ is None else id_, brokers[position - 1], 0) for position, id_ in enumerate(ids, 1)]
    _check_conflicts(configs)
    release = find_release(as_version)
    rows = rows_for(release)
    ignored = names & {name for node in configs for name in BrokerConfig(node.properties, nodes=len(configs), rows=rows).ignored_settings()}
    unknown = {name for name in ignored if broker_row(name, rows) is None} if ignore_unknown_settings else set[str]()
    return ClusterConfig(cluster_id, tuple(configs), tuple(sorted(ignored - unknown)), tuple(sorted(unknown)), release=release)


def _node_id(properties: Mapping[str, str]) -> int | None:
    """Returns the configured id; None if there is none, which Kafka also expresses by -1."""
    for name in ("node.id", "broker.id"):
        text = properties.get(name, "-1").strip()
        if not re.fullmatch(r"-1|[0-9]{1,9}", text):
            raise InvalidConfig(f"Invalid value {text} for configuration {name}: use a number from 0 to 999999999")
        if text != "-1":
            return int(text)
    return None


def _node(node_id: int, properties: Mapping[str, str], shift: int) -> NodeConfig:
    listeners = listeners_of(node_id, properties, shift)
    identity = {"node.id": str(node_id), "broker.id": str(node_id)}
    return NodeConfig(node_id, properties.get("broker.rack") or None, listeners, {**properties, **identity}).with_listeners(listeners)


def _check_conflicts(nodes: Sequence[NodeConfig]) -> None:
    """Raises InvalidConfig if two nodes have the same id or would listen on the same address."""
    for one, other in combinations(nodes, 2):
        if one.node_id == other.node_id:
            raise InvalidConfig(f"two nodes have the id {one.node_id}; give each configuration a different node.id")
    for first, second in combinations([listener for node in nodes for listener in node.listeners], 2):
        same_host = first.host == second.host or first.host in WILDCARDS or second.host in WILDCARDS
        if first.port and first.port == second.port and same_host:
            raise InvalidConfig(
                f"port {first.port} is used by listener {first.name} of node {first.node_id} and {second.name} of node {second.node_id};"
                " the ports of two listeners must differ by at least the number of nodes"
            )
