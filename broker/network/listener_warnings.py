"""Warnings about listeners that are open to every host, or that no client can use."""

from __future__ import annotations

import logging
from collections.abc import Iterable

from ..cluster.broker import Broker
from ..settings.cluster_config import ClusterConfig
from ..settings.endpoints import WILDCARDS

log = logging.getLogger("kafka.server.KafkaServer")


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
