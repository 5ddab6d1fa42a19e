"""One secured cluster for all clients, ours or Apache Kafka's: its listeners, and the settings with which a client uses each of them.

Both clusters get the same settings. The listener MTLS demands client certificates. On the listener REAUTH, sessions end after two seconds.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, NamedTuple

import aiokafka.abc
import confluent_kafka.admin
from confluent_kafka.admin import AdminClient
from kafka.net.sasl.oauth import AbstractTokenProvider

from odradek.broker import Cluster
from odradek.broker.embedding.client_config import CLIENTS, ClientAccess
from odradek.broker.security.oauthbearer import LOGIN_MODULE
from odradek.broker.settings.cluster_config import cluster_of
from odradek.broker.settings.listeners import SASL_PROTOCOLS, TLS_PROTOCOLS
from odradek.broker.settings.types import STANDARD_AUTHORIZER
from odradek.broker.tls.generated import STORE_PASSWORD, GeneratedTls
from tests.apache_kafka import QUICK, ApacheKafka
from tests.broker.security.tokens_for_tests import unsecured

confluent_admin: Any = confluent_kafka.admin  # its annotations leave out the names of SCRAM
PATIENCE_S = 60
USER, PASSWORD, WRONG = "alice", "alice-secret", "wrong-secret"
LISTENERS = {"SSL": "SSL", "MTLS": "SSL", "SASL_PLAINTEXT": "SASL_PLAINTEXT", "SASL_SSL": "SASL_SSL", "REAUTH": "SASL_PLAINTEXT"}
SCRAM = {"SCRAM-SHA-256": 1, "SCRAM-SHA-512": 2}
OAUTHBEARER = "OAUTHBEARER"
MECHANISMS = ("PLAIN", *SCRAM, OAUTHBEARER)
ACCESSES = [("SSL", ""), ("MTLS", ""), *((listener, mechanism) for listener in SASL_PROTOCOLS for mechanism in MECHANISMS)]
"""Every listener with every mechanism that it supports."""
SESSION_MS = 2000  # brokers refuse to authenticate a client again within a second
MODULES = "org.apache.kafka.common.security"


class Secured(NamedTuple):
    """A running cluster: the addresses of its listeners by name. `tls` contains the files for clients."""

    name: str
    addresses: Mapping[str, str]
    tls: GeneratedTls

    def config(self, client: str, listener: str, mechanism: str, password: str = PASSWORD, lifetime_s: int = 3600) -> dict[str, Any]:
        """Returns the settings of a client. An OAuth token ends in `lifetime_s` seconds, or has ended if that is negative."""
        protocol = LISTENERS[listener]
        tls = self.tls if protocol in TLS_PROTOCOLS else None
        by_password = mechanism if mechanism not in ("", OAUTHBEARER) else None
        config = CLIENTS[client](ClientAccess(self.addresses[listener], protocol, tls, listener == "MTLS", by_password, USER, password))
        return config | TOKENS[client](lifetime_s) if mechanism == OAUTHBEARER else config


def token(lifetime_s: int) -> str:
    now_s = int(time.time())
    return unsecured(claims={"sub": USER, "iat": now_s + min(lifetime_s, 0) - 1, "exp": now_s + lifetime_s})


def _librdkafka_token(lifetime_s: int) -> dict[str, Any]:
    # The client gets to know a later end, because it does not send a token that has ended.
    return {"sasl.mechanisms": OAUTHBEARER, "oauth_cb": lambda config: (token(lifetime_s), time.time() + 3600)}


def _java_token(lifetime_s: int) -> dict[str, Any]:
    options = f'unsecuredLoginStringClaim_sub="{USER}" unsecuredLoginLifetimeSeconds="{lifetime_s}"'
    return {"sasl.mechanism": OAUTHBEARER, "sasl.jaas.config": f"{LOGIN_MODULE} required {options};"}


def _kafka_python_token(lifetime_s: int) -> dict[str, Any]:
    class Provider(AbstractTokenProvider):  # type: ignore[misc]
        def token(self) -> str:
            return token(lifetime_s)

    return {"sasl_mechanism": OAUTHBEARER, "sasl_oauth_token_provider": Provider()}


def _aiokafka_token(lifetime_s: int) -> dict[str, Any]:
    class Provider(aiokafka.abc.AbstractTokenProvider):  # type: ignore[misc]
        async def token(self) -> str:
            return token(lifetime_s)

    return {"sasl_mechanism": OAUTHBEARER, "sasl_oauth_token_provider": Provider()}


TOKENS = {"librdkafka": _librdkafka_token, "java": _java_token, "kafka-python": _kafka_python_token, "aiokafka": _aiokafka_token}


@contextmanager
def generated_tls() -> Iterator[GeneratedTls]:
    """Yields a CA, the certificate of node 1, and the files for clients."""
    tls = GeneratedTls(cluster_of([{}], nodes=1), datetime.now(UTC))
    try:
        yield tls
    finally:
        tls.close()


def settings(tls: GeneratedTls, directory: Path) -> dict[str, str]:
    """Returns the settings of the broker: key store, users of PLAIN, and mechanisms."""
    key_store = directory / "server.p12"
    key_store.write_bytes(tls.certificate(1).pkcs12(STORE_PASSWORD))
    given = {
        "authorizer.class.name": STANDARD_AUTHORIZER,
        "allow.everyone.if.no.acl.found": "true",
        "auto.create.topics.enable": "false",
        "ssl.keystore.type": "PKCS12",
        "ssl.keystore.location": str(key_store),
        "ssl.keystore.password": STORE_PASSWORD,
        "ssl.key.password": STORE_PASSWORD,
        "ssl.truststore.type": "PKCS12",
        "ssl.truststore.location": tls.trust_store,
        "ssl.truststore.password": STORE_PASSWORD,
        "listener.name.mtls.ssl.client.auth": "required",
        "listener.name.reauth.connections.max.reauth.ms": str(SESSION_MS),
    }
    jaas = {
        "plain": f'{MODULES}.plain.PlainLoginModule required user_{USER}="{PASSWORD}";',
        "oauthbearer": f'{LOGIN_MODULE} required unsecuredLoginStringClaim_sub="broker";',
        **{name.lower(): f"{MODULES}.scram.ScramLoginModule required;" for name in SCRAM},
    }
    for listener, protocol in LISTENERS.items():
        if protocol in SASL_PROTOCOLS:
            prefix = f"listener.name.{listener.lower()}"
            given[f"{prefix}.sasl.enabled.mechanisms"] = ",".join(MECHANISMS)
            given |= {f"{prefix}.{mechanism}.sasl.jaas.config": text for mechanism, text in jaas.items()}
    return given


def create_users_and_topic(bootstrap_servers: str) -> None:
    """Creates the user of SCRAM, and the topic t."""
    admin = AdminClient({"bootstrap.servers": bootstrap_servers})
    for number in SCRAM.values():  # in separate requests, because brokers refuse two changes of a user in one
        info = confluent_admin.ScramCredentialInfo(confluent_admin.ScramMechanism(number), 4096)
        upsertion = confluent_admin.UserScramCredentialUpsertion(USER, info, PASSWORD.encode())
        admin.alter_user_scram_credentials([upsertion])[USER].result(PATIENCE_S)
    admin.create_topics([confluent_admin.NewTopic("t", 2, 1)])["t"].result(PATIENCE_S)


@contextmanager
def odradek(tls: GeneratedTls, directory: Path) -> Iterator[Secured]:
    protocols = {"CLIENT": "PLAINTEXT", **LISTENERS}
    listeners = {
        "listeners": ",".join(f"{name}://127.0.0.1:0" for name in protocols),
        "listener.security.protocol.map": ",".join(f"{name}:{protocol}" for name, protocol in protocols.items()),
    }
    with Cluster(nodes=1, settings=settings(tls, directory) | listeners) as cluster:
        (node,) = cluster._cluster._server.config.nodes
        create_users_and_topic(cluster.bootstrap_servers)
        yield Secured("odradek", {listener.name: listener.advertised for listener in node.listeners}, tls)


@contextmanager
def apache_kafka(tls: GeneratedTls, directory: Path) -> Iterator[Secured]:
    given = {**QUICK, **settings(tls, directory), "super.users": "User:ANONYMOUS"}
    with ApacheKafka(settings=given, listeners=LISTENERS) as kafka:
        create_users_and_topic(kafka.bootstrap_servers)
        yield Secured("Apache Kafka", {name: kafka.addresses(name) for name in ("CLIENT", *LISTENERS)}, tls)
