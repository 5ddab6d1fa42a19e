"""One emulated node: its listeners and settings, and the state that belongs to a single broker."""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from typing import TYPE_CHECKING

from ..settings.cluster_config import NodeConfig
from ..settings.listeners import SASL_PROTOCOLS, Listener
from ..settings.values import BrokerConfig
from .limits import ConnectionQuotas, RequestMemory, parse_overrides
from .log_dirs import LogDirs
from .silence import Silence

if TYPE_CHECKING:
    from random import Random

    from ..scheduling.timers import Timers
    from ..security.sasl_listener import Accounts, SaslListener, SaslListeners
    from ..share_partitions.cluster_view import ClusterView
    from ..share_partitions.share_partitions import SharePartitions
    from ..topics.topics import Topics
    from .client_metrics import ClientMetrics, MetricSubscriptions
    from .fetch_sessions import FetchSessions

RACK_AWARE_SELECTOR = "org.apache.kafka.common.replica.RackAwareReplicaSelector"


class Broker:
    """One node of the cluster. `settings` contains the node's own values of broker settings.

    The other arguments are the parts of the cluster that the node uses; `share_view` is what its share partitions use.
    """

    def __init__(
        self,
        config: NodeConfig,
        settings: BrokerConfig,
        topics: Topics,
        timers: Timers,
        random: Random,
        metric_subscriptions: Callable[[], MetricSubscriptions],
        accounts: Callable[[], Accounts],
        share_view: ClusterView,
    ) -> None:
        self.node_id = config.node_id
        self.rack = config.rack
        self.listeners: dict[str, Listener] = {listener.name: listener for listener in config.listeners}
        self.config = settings
        self.running = True
        """Whether the process runs. The controller may not know yet that it has ended, see `fenced`."""
        self.silence: Silence | None = None
        self.fenced = False
        """Whether the controller considers the node dead: from a controlled shutdown or the end of its session until it returns."""
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
        self.log_dirs = LogDirs(self.node_id, settings, topics, timers)
        self._random, self._metric_subscriptions, self._accounts, self._share_view = random, metric_subscriptions, accounts, share_view

    def __repr__(self) -> str:
        return f"Broker({self.node_id})"

    @cached_property
    def client_metrics(self) -> ClientMetrics:
        """The client instances that push metrics to the node."""
        from .client_metrics import ClientMetrics

        return ClientMetrics(self.config.integers["telemetry.max.bytes"], self._metric_subscriptions())

    @cached_property
    def fetch_sessions(self) -> FetchSessions:
        """The fetch sessions of the node."""
        from .fetch_sessions import FetchSessions

        return FetchSessions(self.config.integers["max.incremental.fetch.session.cache.slots"], self._random)

    @cached_property
    def sasl(self) -> SaslListeners:
        """The SASL listeners of the node."""
        from ..security.sasl_listener import SaslListeners

        return SaslListeners(self.config, self.listeners, self._accounts())

    def sasl_listener(self, name: str) -> SaslListener | None:
        """Returns the present SASL configuration of a listener, None if it does not use SASL."""
        return self.sasl.get(name) if self.listeners[name].security_protocol in SASL_PROTOCOLS else None

    @cached_property
    def share_partitions(self) -> SharePartitions:
        """The share partitions and the share sessions of the node."""
        from ..share_partitions.share_partitions import SharePartitions

        return SharePartitions(self.node_id, self.config.integers["group.share.max.share.sessions"], self._share_view)

    @property
    def loaded_share_partitions(self) -> SharePartitions | None:
        """`share_partitions`, or None if the node has not had any since the start."""
        return self.__dict__.get("share_partitions")
