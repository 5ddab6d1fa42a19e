"""Parses the client's settings: the options `kafka.*`, and the options of Spark's own source for retries and timeouts."""

from __future__ import annotations

import warnings
from collections.abc import Iterable

from ..protocol.client.line import Address
from ..protocol.client.settings import ClientSecurity
from .client import READ_COMMITTED, READ_UNCOMMITTED, ClientConfig
from .user_options import UserOptions

BOOTSTRAP_SERVERS = "kafka.bootstrap.servers"
ISOLATION_LEVELS = {"read_uncommitted": READ_UNCOMMITTED, "read_committed": READ_COMMITTED}


def names(text: str) -> frozenset[str]:
    """Splits names separated by blanks."""
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
"""Settings of Kafka's consumer that are accepted without a warning, because they do not change the records that are read."""


def warn_of_unknown(options: UserOptions, known: Iterable[str] = ACTING | WITHOUT_EFFECT) -> None:
    """Warns of Kafka settings that are not in `known`, because they are most likely misspelt."""
    for name in options.kafka_settings():
        if name not in known and not name.startswith(("sasl.", "ssl.")):
            warnings.warn(f"Kafka option 'kafka.{name}' is not known here and has no effect", stacklevel=2)


def client_config(options: UserOptions, *, reads_directories: bool = False) -> ClientConfig:
    """Parses the settings. Raises ValueError, also without servers unless log directories are read."""
    default = ClientConfig(())
    retries = options.integer("fetchOffset.numRetries", 3)
    return ClientConfig(
        bootstrap_servers=() if reads_directories else _bootstrap_servers(options),
        client_id=options.text("kafka.client.id", default.client_id),
        client_rack=options.text("kafka.client.rack", default.client_rack),
        isolation_level=options.choice("kafka.isolation.level", "read_uncommitted", ISOLATION_LEVELS),
        check_crcs=options.boolean("kafka.check.crcs", default.check_crcs),
        request_timeout_ms=options.integer("kafka.request.timeout.ms", default.request_timeout_ms, 1),
        api_timeout_ms=options.integer("kafka.default.api.timeout.ms", default.api_timeout_ms, 1),
        poll_timeout_ms=options.integer("kafkaConsumer.pollTimeoutMs", default.poll_timeout_ms),
        settling_ms=max(retries - 1, 0) * options.integer("fetchOffset.retryIntervalMs", 1000),
        fetch_max_wait_ms=options.integer("kafka.fetch.max.wait.ms", default.fetch_max_wait_ms),
        fetch_min_bytes=options.integer("kafka.fetch.min.bytes", default.fetch_min_bytes),
        fetch_max_bytes=options.integer("kafka.fetch.max.bytes", default.fetch_max_bytes),
        max_partition_fetch_bytes=options.integer("kafka.max.partition.fetch.bytes", default.max_partition_fetch_bytes),
        security=_security(options),
    )


def _security(options: UserOptions) -> ClientSecurity:
    settings = {
        name: options.text(f"kafka.{name}", "") for name in options.kafka_settings() if name.startswith(("security.", "sasl.", "ssl."))
    }
    try:
        return ClientSecurity.of(settings)
    except ValueError as error:
        raise ValueError(f"Kafka options 'kafka.security.*', 'kafka.sasl.*' and 'kafka.ssl.*': {error}") from None


def _bootstrap_servers(options: UserOptions) -> tuple[Address, ...]:
    if BOOTSTRAP_SERVERS not in options:
        raise ValueError(f"Option '{BOOTSTRAP_SERVERS}' must be specified for configuring Kafka consumer")
    servers = [server.strip() for server in options.text(BOOTSTRAP_SERVERS, "").split(",")]
    if not any(servers):
        raise ValueError(f"No resolvable bootstrap urls given in {BOOTSTRAP_SERVERS}: write host:port, with commas between several")
    return tuple(_address(server) for server in servers if server)


def _address(server: str) -> Address:
    host, colon, port = server.rpartition(":")
    if not colon or not host or not port.isdecimal():
        raise ValueError(f"Invalid url in {BOOTSTRAP_SERVERS}: {server}. Write host:port, with commas between several")
    return host.removeprefix("[").removesuffix("]"), int(port)
