"""The client's settings out of the options `kafka.*` and those that Spark's own source has beside them."""

from __future__ import annotations

from .client import READ_COMMITTED, READ_UNCOMMITTED, ClientConfig
from .connection import Address
from .given import Given

BOOTSTRAP_SERVERS = "kafka.bootstrap.servers"
ISOLATION_LEVELS = {"read_uncommitted": READ_UNCOMMITTED, "read_committed": READ_COMMITTED}


def client_config(given: Given) -> ClientConfig:
    """Raises ValueError."""
    default = ClientConfig(())
    protocol = given.text("kafka.security.protocol", "PLAINTEXT")
    if protocol.upper() != "PLAINTEXT":
        raise ValueError(f"Kafka option 'security.protocol' is not supported yet with the value {protocol}")
    retries = given.integer("fetchOffset.numRetries", 3)
    return ClientConfig(
        bootstrap_servers=_bootstrap_servers(given),
        client_id=given.text("kafka.client.id", default.client_id),
        isolation_level=given.choice("kafka.isolation.level", "read_uncommitted", ISOLATION_LEVELS),
        check_crcs=given.boolean("kafka.check.crcs", default.check_crcs),
        request_timeout_ms=given.integer("kafka.request.timeout.ms", default.request_timeout_ms, 1),
        poll_timeout_ms=given.integer("kafkaConsumer.pollTimeoutMs", default.poll_timeout_ms),
        unknown_topic_timeout_ms=max(retries - 1, 0) * given.integer("fetchOffset.retryIntervalMs", 1000),
        fetch_max_wait_ms=given.integer("kafka.fetch.max.wait.ms", default.fetch_max_wait_ms),
        fetch_max_bytes=given.integer("kafka.fetch.max.bytes", default.fetch_max_bytes),
        max_partition_fetch_bytes=given.integer("kafka.max.partition.fetch.bytes", default.max_partition_fetch_bytes),
    )


def _bootstrap_servers(given: Given) -> tuple[Address, ...]:
    if BOOTSTRAP_SERVERS not in given:
        raise ValueError(f"Option '{BOOTSTRAP_SERVERS}' must be specified for configuring Kafka consumer")
    servers = [server.strip() for server in given.text(BOOTSTRAP_SERVERS, "").split(",")]
    if not any(servers):
        raise ValueError("No resolvable bootstrap urls given in bootstrap.servers")
    return tuple(_address(server) for server in servers if server)


def _address(server: str) -> Address:
    host, colon, port = server.rpartition(":")
    if not colon or not host or not port.isdecimal():
        raise ValueError(f"Invalid url in bootstrap.servers: {server}")
    return host.removeprefix("[").removesuffix("]"), int(port)
