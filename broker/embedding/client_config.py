"""The settings with which a client connects to a cluster, under the names that each client gives them.

`ClientAccess` describes what a client needs; each function of `CLIENTS` writes it down for one client. A further client needs one more
function.
"""

from __future__ import annotations

import ssl
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from ..network.server import Server
from ..settings.listeners import TLS_PROTOCOLS
from ..settings.values import ListenerSettings
from ..tls.generated import STORE_PASSWORD, GeneratedTls

PREFERRED_MECHANISMS = ("SCRAM-SHA-512", "SCRAM-SHA-256", "PLAIN")
LOGIN_MODULES = {
    "PLAIN": "org.apache.kafka.common.security.plain.PlainLoginModule",
    "SCRAM-SHA-256": "org.apache.kafka.common.security.scram.ScramLoginModule",
    "SCRAM-SHA-512": "org.apache.kafka.common.security.scram.ScramLoginModule",
}


class ClientAccess(NamedTuple):
    """The access of one client. Without SASL, `mechanism` is None. `tls` is None without generated certificates.

    With `certificate`, brokers ask clients for a certificate.
    """

    bootstrap_servers: str
    protocol: str
    tls: GeneratedTls | None
    certificate: bool
    mechanism: str | None
    user: str
    password: str

    def __repr__(self) -> str:
        return f"ClientAccess({self.protocol}, {self.mechanism}, {self.user!r})"


def client_config(client: str, server: Server, *, user: str | None = None, mechanism: str | None = None) -> dict[str, Any]:
    """Returns the settings of a client, which is one of `CLIENTS`.

    `user` is one of the users of the cluster, by default the first one; `mechanism` is one of those that are enabled.
    Raises ValueError for an unknown client, user or mechanism.
    """
    if client not in CLIENTS:
        raise ValueError(f"unknown client {client!r}; use one of {', '.join(map(repr, CLIENTS))}")
    return CLIENTS[client](_access(server, user, mechanism))


def _access(server: Server, user: str | None, mechanism: str | None) -> ClientAccess:
    listener = server.config.nodes[0].client_listener
    broker = server.cluster.brokers[listener.node_id]
    protocol = listener.security_protocol
    certificate = protocol in TLS_PROTOCOLS and ListenerSettings(broker.config, listener.name).text("ssl.client.auth") != "none"
    tls = server.security.generated_tls if protocol in TLS_PROTOCOLS else None
    sasl = broker.sasl_listener(listener.name)
    if sasl is None:
        return ClientAccess(server.bootstrap_servers, protocol, tls, certificate, None, "", "")
    mechanism = mechanism or next((each for each in PREFERRED_MECHANISMS if each in sasl.enabled), "")
    if mechanism not in sasl.enabled or mechanism not in LOGIN_MODULES:
        raise ValueError(f"unknown mechanism {mechanism!r}; use one of {', '.join(each for each in sasl.enabled if each in LOGIN_MODULES)}")
    name, password = _user(server.config.users, user)
    return ClientAccess(server.bootstrap_servers, protocol, tls, certificate, mechanism, name, password)


def _user(users: Mapping[str, str], user: str | None) -> tuple[str, str]:
    name = user or next(iter(users), "")
    if name not in users:
        raise ValueError(f"unknown user {name!r}; users of the cluster are {', '.join(users) or 'none'}: give users={{name: password}}")
    return name, users[name]


def _librdkafka(access: ClientAccess) -> dict[str, Any]:
    config = {"bootstrap.servers": access.bootstrap_servers, "security.protocol": access.protocol}
    if access.tls is not None:
        config["ssl.ca.location"] = access.tls.ca_file
        if access.certificate:
            config |= {"ssl.certificate.location": access.tls.client_certificate, "ssl.key.location": access.tls.client_key}
    if access.mechanism is not None:
        config |= {"sasl.mechanisms": access.mechanism, "sasl.username": access.user, "sasl.password": access.password}
    return config


def _java(access: ClientAccess) -> dict[str, Any]:
    config = {"bootstrap.servers": access.bootstrap_servers, "security.protocol": access.protocol}
    if access.tls is not None:
        config |= _store("ssl.truststore", access.tls.trust_store)
        if access.certificate:
            config |= {**_store("ssl.keystore", access.tls.client_key_store), "ssl.key.password": STORE_PASSWORD}
    if access.mechanism is not None:
        options = f'username="{_quote(access.user)}" password="{_quote(access.password)}"'
        config["sasl.mechanism"] = access.mechanism
        config["sasl.jaas.config"] = f"{LOGIN_MODULES[access.mechanism]} required {options};"
    return config


def _store(name: str, path: str) -> dict[str, str]:
    return {f"{name}.location": path, f"{name}.type": "PKCS12", f"{name}.password": STORE_PASSWORD}


def _quote(text: str) -> str:
    return text.replace("\\", "\\\\").replace('"', '\\"')


def _kafka_python(access: ClientAccess) -> dict[str, Any]:
    config = _python(access)
    if access.tls is not None:
        config["ssl_cafile"] = access.tls.ca_file
        if access.certificate:
            config |= {"ssl_certfile": access.tls.client_certificate, "ssl_keyfile": access.tls.client_key}
    return config


def _aiokafka(access: ClientAccess) -> dict[str, Any]:
    config = _python(access)
    if access.tls is not None:
        context = ssl.create_default_context(cafile=access.tls.ca_file)
        if access.certificate:
            context.load_cert_chain(access.tls.client_certificate, access.tls.client_key)
        config["ssl_context"] = context
    return config


def _python(access: ClientAccess) -> dict[str, Any]:
    config: dict[str, Any] = {"bootstrap_servers": access.bootstrap_servers, "security_protocol": access.protocol}
    if access.mechanism is not None:
        config |= {
            "sasl_mechanism": access.mechanism,
            "sasl_plain_username": access.user,
            "sasl_plain_password": access.password,
        }
    return config


def _kafkajs(access: ClientAccess) -> dict[str, Any]:
    """Returns the object that kafkajs' constructor takes, which JSON can carry."""
    config: dict[str, Any] = {"brokers": access.bootstrap_servers.split(",")}
    if access.tls is not None:
        config["ssl"] = {"ca": [Path(access.tls.ca_file).read_text()]}
        if access.certificate:
            files = {"cert": access.tls.client_certificate, "key": access.tls.client_key}
            config["ssl"] |= {name: Path(file).read_text() for name, file in files.items()}
    if access.mechanism is not None:
        config["sasl"] = {"mechanism": access.mechanism.lower(), "username": access.user, "password": access.password}
    return config


def _franz_go(access: ClientAccess) -> dict[str, Any]:
    """Returns the settings under the names of the configuration file of franz-go's program kcl."""
    config: dict[str, Any] = {"seed_brokers": access.bootstrap_servers.split(",")}
    if access.tls is not None:
        config["tls"] = {"ca_cert_path": access.tls.ca_file}
        if access.certificate:
            config["tls"] |= {"client_cert_path": access.tls.client_certificate, "client_key_path": access.tls.client_key}
    if access.mechanism is not None:
        config["sasl"] = {"method": access.mechanism.lower(), "user": access.user, "pass": access.password}
    return config


def _spark(access: ClientAccess) -> dict[str, Any]:
    """Returns options for `spark.read.format("odradek")`, and for Spark's own Kafka connector."""
    return {f"kafka.{name}": value for name, value in _java(access).items()}


CLIENTS: Mapping[str, Callable[[ClientAccess], dict[str, Any]]] = {
    "confluent-kafka": _librdkafka,
    "librdkafka": _librdkafka,
    "kafka-python": _kafka_python,
    "aiokafka": _aiokafka,
    "java": _java,
    "kafkajs": _kafkajs,
    "franz-go": _franz_go,
    "spark": _spark,
}
