"""The security of a cluster's listeners: TLS contexts, key sets for tokens, and warnings about listeners that are open or of no use."""

from __future__ import annotations

import logging
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from ..cluster.state import ClusterState
from ..settings.cluster_config import ClusterConfig
from ..settings.endpoints import WILDCARDS
from ..settings.listeners import SASL_PROTOCOLS, TLS_PROTOCOLS

if TYPE_CHECKING:
    from collections.abc import Iterable

    from ..cluster.broker import Broker
    from ..tls.contexts import TlsContexts
    from ..tls.generated import GeneratedTls
    from .key_sets import KeySets

log = logging.getLogger("kafka.server.KafkaServer")


class ListenerSecurity:
    """The TLS contexts and key sets of the listeners."""

    def __init__(self) -> None:
        self.generated_tls: GeneratedTls | None = None
        self.tls: TlsContexts | None = None
        self._key_sets: KeySets | None = None

    async def prepare(self, config: ClusterConfig, cluster: ClusterState) -> None:
        """Builds the TLS contexts of all listeners and reads the key sets for tokens. Raises InvalidConfig."""
        protocols = {listener.security_protocol for node in config.nodes for listener in node.listeners}
        if protocols.intersection(TLS_PROTOCOLS):
            from ..tls.contexts import TlsContexts
            from ..tls.generated import GeneratedTls

            if config.tls:
                self.generated_tls = GeneratedTls(config, datetime.now(UTC))
            self.tls = TlsContexts(self.generated_tls)
            for broker in cluster.brokers.values():
                for listener in broker.listeners.values():
                    self.tls.get(broker, listener)
        if protocols.intersection(SASL_PROTOCOLS):
            from .key_sets import KeySets

            self._key_sets = KeySets(cluster)
            await self._key_sets.start()
        self.attach(cluster)

    def attach(self, cluster: ClusterState) -> None:
        """Lets a cluster use the contexts and the key sets."""
        if self.tls is not None:
            cluster.check_tls = self.tls.check
        if self._key_sets is not None:
            cluster.accounts.key_sets = self._key_sets.found

    async def stop(self) -> None:
        """Removes the generated files, and ends reading key sets."""
        if self.generated_tls is not None:
            self.generated_tls.close()
        if self._key_sets is not None:
            await self._key_sets.stop()


def warn_of_listeners(config: ClusterConfig, brokers: Iterable[Broker]) -> None:
    """Logs a warning if a listener on all addresses needs no password, and one for each listener that enables PLAIN without users."""
    listeners = [listener for node in config.nodes for listener in node.listeners]
    if any(listener.host in WILDCARDS and listener.security_protocol == "PLAINTEXT" for listener in listeners):
        log.warning(
            "listening on all addresses without encryption and authentication: every host that reaches this machine can read and "
            "change all data; to serve this machine only, listen on 127.0.0.1 or, in a container, publish the port there: "
            "-p 127.0.0.1:9092:9092"
        )
    for broker in brokers:
        for name in broker.listeners:
            sasl = broker.sasl_listener(name)
            if sasl is not None and "PLAIN" in sasl.enabled and not sasl.plain_users:
                text = "[KafkaServer id=%d] listener %s enables PLAIN but has no users; set listener.name.%s.plain.sasl.jaas.config"
                log.warning(text, broker.node_id, name, name.lower())
