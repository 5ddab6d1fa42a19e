"""One emulated node: its listeners and settings, and the state that belongs to a single broker."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from ..security.sasl_listener import SaslListeners
from ..settings.cluster_config import NodeConfig
from ..settings.listener_prefix import base_name
from ..settings.listeners import Listener
from ..settings.values import BrokerConfig
from ..topics.names import CONSUMER_OFFSETS
from .client_metrics import ClientMetrics
from .fetch_sessions import FetchSessions
from .limits import ConnectionQuotas, RequestMemory, parse_overrides

if TYPE_CHECKING:
    from ..groups.coordinator import Groups
    from ..transactions.coordinator import Transactions
    from .state import ClusterState

RACK_AWARE_SELECTOR = "org.apache.kafka.common.replica.RackAwareReplicaSelector"


class Broker:
    """One node of the cluster. `settings` contains the node's own values of broker settings."""

    def __init__(self, cluster: ClusterState, config: NodeConfig, settings: BrokerConfig) -> None:
        self.cluster = cluster
        self.node_id = config.node_id
        self.rack = config.rack
        self.listeners: dict[str, Listener] = {listener.name: listener for listener in config.listeners}
        self.config = settings
        self.sasl = SaslListeners(settings, self.listeners, cluster.accounts)
        self.running = True
        self.registered = True
        """Whether metadata contains the node: False from UnregisterBroker until the node is started again."""
        self.request_max_bytes: int = settings.integers["socket.request.max.bytes"]
        self.max_idle_ms = settings.integers["connections.max.idle.ms"]
        self.request_memory = RequestMemory(settings.integers["queued.max.request.bytes"])
        self.connections = ConnectionQuotas(
            settings.integers["max.connections"],
            settings.integers["max.connections.per.ip"],
            parse_overrides(settings.texts["max.connections.per.ip.overrides"]),
        )
        self.rack_aware = settings.texts.get("replica.selector.class") == RACK_AWARE_SELECTOR
        self.client_metrics = ClientMetrics(settings.integers["telemetry.max.bytes"])
        self.fetch_sessions = FetchSessions(settings.integers["max.incremental.fetch.session.cache.slots"], cluster.random)

    def __repr__(self) -> str:
        return f"Broker({self.node_id})"

    def check_security(self, overrides: Mapping[str, str], *, cluster_wide: bool) -> None:
        """Raises InvalidConfig if the listeners could not work with new dynamic settings of this node or, cluster-wide, of all nodes."""
        if any(base_name(name).startswith(("ssl.", "sasl.")) for name in overrides):
            own, all_nodes = (self.config.own, overrides) if cluster_wide else (overrides, self.config.cluster_wide)
            changed = self.config.altered(own=own, cluster_wide=all_nodes)
            self.sasl.check(changed)
            self.cluster.check_tls(self, changed)

    @property
    def groups(self) -> Groups:
        """All groups of the cluster. Nodes share them, so that a group keeps its state when its coordinator moves."""
        return self.cluster.groups

    @property
    def transactions(self) -> Transactions:
        """All transactional ids of the cluster. Nodes share them for the same reason as the groups."""
        return self.cluster.transactions

    def is_coordinator(self, key: str, topic_name: str = CONSUMER_OFFSETS) -> bool:
        """Whether this node coordinates the group `key` or, with `topic_name=TRANSACTION_STATE`, the transactional id `key`."""
        partition = self.cluster.coordinator(key, topic_name)
        return partition is not None and partition.leader == self.node_id
