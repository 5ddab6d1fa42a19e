"""Dynamic settings of brokers: which of them can be altered, for one broker or all, and with the prefix of a listener."""

from __future__ import annotations

from collections.abc import Iterator

from odradek.protocol.messages.alter_configs import ALTER_CONFIGS
from odradek.protocol.messages.incremental_alter_configs import INCREMENTAL_ALTER_CONFIGS

from ..case import Case, Send
from ..requests import request_of
from .configs import BROKER, DELETE, SET, describe

LISTENER = "listener.name.external."
CONFIGS: dict[str, dict[str, str]] = {
    "read-only": {"node.id": "7"},
    "read-only.two": {"node.id": "7", "num.partitions": "3"},
    "read-only.bad": {"num.partitions": "x"},
    "read-only.and-good": {"num.partitions": "3", "log.cleaner.threads": "2"},
    "unknown": {"no.such": "5"},
    "unknown.and-read-only": {"no.such": "5", "num.partitions": "3"},
    "cluster": {"log.cleaner.threads": "2"},
    "cluster.bad": {"log.cleaner.threads": "x"},
    "cluster.range": {"log.cleaner.threads": "-1"},
    "cluster.empty": {"log.cleaner.threads": ""},
    "bad.two": {"log.cleaner.threads": "x", "background.threads": "y"},
    "security": {"ssl.keystore.type": "JKS"},
    "security.password": {"ssl.key.password": "secret"},
    "security.two": {"ssl.keystore.type": "JKS", "ssl.protocol": "TLSv1.3"},
    "security.bad": {"ssl.client.auth": "x"},
    "security.and-read-only": {"ssl.keystore.type": "JKS", "num.partitions": "3"},
    "security.and-bad": {"ssl.keystore.type": "JKS", "log.cleaner.threads": "x"},
    "security.and-good": {"ssl.keystore.type": "JKS", "log.cleaner.threads": "2"},
    "client-auth": {"ssl.client.auth": "none"},
    "sasl": {"sasl.mechanism.inter.broker.protocol": "PLAIN"},
    "jaas": {"sasl.jaas.config": "x"},
    "sasl.enabled": {"sasl.enabled.mechanisms": "PLAIN"},
    "principal": {"principal.builder.class": "x.Y"},
    "reauth": {"connections.max.reauth.ms": "1000"},
    "listener.jaas": {f"{LISTENER}plain.sasl.jaas.config": "x"},
    "listener.reauth": {f"{LISTENER}plain.connections.max.reauth.ms": "1000"},
    "listener.security": {f"{LISTENER}ssl.keystore.type": "JKS"},
    "listener.security.password": {f"{LISTENER}ssl.key.password": "secret"},
    "listener.security.other": {"listener.name.none.ssl.keystore.type": "JKS"},
    "listener.security.capitals": {"listener.name.EXTERNAL.ssl.keystore.type": "JKS"},
    "listener.security.bad": {f"{LISTENER}ssl.client.auth": "x"},
    "listener.max": {f"{LISTENER}max.connections": "100"},
    "listener.max.bad": {f"{LISTENER}max.connections": "x"},
    "listener.max.range": {f"{LISTENER}max.connections": "-1"},
    "listener.rate": {f"{LISTENER}max.connection.creation.rate": "100"},
    "listener.threads": {f"{LISTENER}num.network.threads": "4"},
    "listener.threads.other": {"listener.name.none.num.network.threads": "4"},
    "listener.per-ip": {f"{LISTENER}max.connections.per.ip": "100"},
    "listener.read-only": {f"{LISTENER}num.partitions": "3"},
    "listener.cluster": {f"{LISTENER}log.cleaner.threads": "2"},
    "listener.unknown": {f"{LISTENER}no.such": "5"},
    "listener.nothing": {"listener.name.external": "5"},
    "listener.nothing.dot": {LISTENER: "5"},
    "max": {"max.connections": "100"},
    "max.bad": {"max.connections": "x"},
    "max.range": {"max.connections": "-1"},
    "max.per-ip": {"max.connections.per.ip": "100"},
    "max.per-ip.overrides": {"max.connections.per.ip.overrides": "127.0.0.9:5"},
    "threads": {"num.network.threads": "4"},
    "threads.zero": {"num.network.threads": "0"},
    "threads.many": {"num.network.threads": "1000"},
    "threads.few": {"num.io.threads": "1"},
    "listeners": {"listeners": "EXTERNAL://127.0.0.1:1"},
    "listeners.advertised": {"advertised.listeners": "EXTERNAL://127.0.0.1:1"},
    "listeners.map": {"listener.security.protocol.map": "EXTERNAL:PLAINTEXT"},
    "retention.hours": {"log.retention.hours": "5"},
    "reporters": {"metric.reporters": ""},
    "throttle": {"leader.replication.throttled.rate": "1000"},
    "throttle.bad": {"leader.replication.throttled.rate": "-1"},
    "throttle.follower": {"follower.replication.throttled.rate": "1000"},
    "throttle.dirs": {"replica.alter.log.dirs.io.max.bytes.per.second": "1000"},
    "group": {"group.consumer.session.timeout.ms": "45000"},
    "providers": {"config.providers": ""},
    "isr": {"min.insync.replicas": "1"},
    "isr.zero": {"min.insync.replicas": "0"},
    "election": {"unclean.leader.election.enable": "true"},
    "cordoned": {"cordoned.log.dirs": ""},
}


def cases() -> Iterator[Case]:
    for word, configs in CONFIGS.items():
        for where, resource in (("one", "1"), ("all", "")):
            # The listeners of the two clusters have nothing in common.
            shown = describe(BROKER, resource, ["num.partitions"] if word.startswith("listeners") else list(configs), include_synonyms=True)
            undone = _changed(resource, dict.fromkeys(configs), False)
            for validate_only in (True, False):
                name = f"dynamic.{where}.{word}" + ".validated" * validate_only
                yield Case(f"{name}.change", (), (_changed(resource, configs, validate_only), shown, undone))
            yield Case(f"dynamic.{where}.{word}.replace.validated", (), (_replaced(resource, configs),))
            yield Case(f"dynamic.{where}.{word}.delete", (), (undone, shown))


def _changed(resource: str, configs: dict[str, str] | dict[str, None], validate_only: bool) -> Send:
    """Returns a request that sets configs, and deletes configs whose value is None."""
    made = [{"name": name, "value": value, "config_operation": DELETE if value is None else SET} for name, value in configs.items()]
    fields = {"resources": [{"resource_type": BROKER, "resource_name": resource, "configs": made}], "validate_only": validate_only}
    return Send(INCREMENTAL_ALTER_CONFIGS, 1, request_of(INCREMENTAL_ALTER_CONFIGS, fields), settles=not validate_only)


def _replaced(resource: str, configs: dict[str, str]) -> Send:
    made = [{"name": name, "value": value} for name, value in configs.items()]
    fields = {"resources": [{"resource_type": BROKER, "resource_name": resource, "configs": made}], "validate_only": True}
    return Send(ALTER_CONFIGS, 2, request_of(ALTER_CONFIGS, fields))
