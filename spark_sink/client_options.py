"""The client's settings out of the options `kafka.*` and those that Spark's own source has beside them."""

from __future__ import annotations

import warnings
from collections.abc import Iterable

from .client import READ_COMMITTED, READ_UNCOMMITTED, ClientConfig
from .connection import Address
from .user_options import UserOptions

BOOTSTRAP_SERVERS = "kafka.bootstrap.servers"
ISOLATION_LEVELS = {"read_uncommitted": READ_UNCOMMITTED, "read_committed": READ_COMMITTED}


def names(text: str) -> frozenset[str]:
    """Of settings, with blanks between them."""
    return frozenset(text.split())


ACTING = names(
    "bootstrap.servers check.crcs client.id client.rack default.api.timeout.ms fetch.max.bytes fetch.max.wait.ms fetch.min.bytes "
    "isolation.level max.partition.fetch.bytes request.timeout.ms security.protocol"
)
WITHOUT_EFFECT = names(
    "allow.auto.create.topics auto.commit.interval.ms auto.include.jmx.reporter client.dns.lookup config.providers "
    "connections.max.idle.ms enable.metrics.push exclude.internal.topics group.id group.instance.id group.protocol "
    "group.remote.assignor heartbeat.interval.ms max.poll.interval.ms max.poll.records metadata.max.age.ms "
    "metadata.recovery.rebootstrap.trigger.ms metadata.recovery.strategy metric.reporters metrics.num.samples "
    "metrics.recording.level metrics.sample.window.ms partition.assignment.strategy receive.buffer.bytes "
    "reconnect.backoff.max.ms reconnect.backoff.ms retry.backoff.max.ms retry.backoff.ms security.providers send.buffer.bytes "
    "session.timeout.ms socket.connection.setup.timeout.max.ms socket.connection.setup.timeout.ms"
)
"""Of Kafka's consumer: they would change nothing in what is read here."""


def warn_of_unknown(given: UserOptions, known: Iterable[str] = ACTING | WITHOUT_EFFECT) -> None:
    """Settings that mean nothing to Kafka's consumer either are most likely misspelt."""
    for name in given.kafka_settings():
        if name not in known and not name.startswith(("sasl.", "ssl.")):
            warnings.warn(f"Kafka option 'kafka.{name}' is not known here and has no effect", stacklevel=2)


def client_config(given: UserOptions) -> ClientConfig:
    """Raises ValueError."""
    default = ClientConfig(())
    protocol = given.text("kafka.security.protocol", "PLAINTEXT")
    if protocol.upper() != "PLAINTEXT":
        raise ValueError(f"Kafka option 'kafka.security.protocol' is not supported yet with the value {protocol}")
    retries = given.integer("fetchOffset.numRetries", 3)
    return ClientConfig(
        bootstrap_servers=_bootstrap_servers(given),
        client_id=given.text("kafka.client.id", default.client_id),
        client_rack=given.text("kafka.client.rack", default.client_rack),
        isolation_level=given.choice("kafka.isolation.level", "read_uncommitted", ISOLATION_LEVELS),
        check_crcs=given.boolean("kafka.check.crcs", default.check_crcs),
        request_timeout_ms=given.integer("kafka.request.timeout.ms", default.request_timeout_ms, 1),
        api_timeout_ms=given.integer("kafka.default.api.timeout.ms", default.api_timeout_ms, 1),
        poll_timeout_ms=given.integer("kafkaConsumer.pollTimeoutMs", default.poll_timeout_ms),
        settling_ms=max(retries - 1, 0) * given.integer("fetchOffset.retryIntervalMs", 1000),
        fetch_max_wait_ms=given.integer("kafka.fetch.max.wait.ms", default.fetch_max_wait_ms),
        fetch_min_bytes=given.integer("kafka.fetch.min.bytes", default.fetch_min_bytes),
        fetch_max_bytes=given.integer("kafka.fetch.max.bytes", default.fetch_max_bytes),
        max_partition_fetch_bytes=given.integer("kafka.max.partition.fetch.bytes", default.max_partition_fetch_bytes),
    )


def _bootstrap_servers(given: UserOptions) -> tuple[Address, ...]:
    if BOOTSTRAP_SERVERS not in given:
        raise ValueError(f"Option '{BOOTSTRAP_SERVERS}' must be specified for configuring Kafka consumer")
    servers = [server.strip() for server in given.text(BOOTSTRAP_SERVERS, "").split(",")]
    if not any(servers):
        raise ValueError(f"No resolvable bootstrap urls given in {BOOTSTRAP_SERVERS}: write host:port, with commas between several")
    return tuple(_address(server) for server in servers if server)


def _address(server: str) -> Address:
    host, colon, port = server.rpartition(":")
    if not colon or not host or not port.isdecimal():
        raise ValueError(f"Invalid url in {BOOTSTRAP_SERVERS}: {server}. Write host:port, with commas between several")
    return host.removeprefix("[").removesuffix("]"), int(port)
