"""Listeners of a node: the addresses on which it listens, and those that it advertises to clients.

The rules are those of Kafka's SocketServerConfigs and KafkaConfig. Addresses are parsed in `endpoints.py`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from ..frozen_data import FrozenData
from .endpoints import EVERYWHERE, LOOPBACK, WILDCARDS, ListenerEndpoint, bracket, controller_names, endpoints_of, listening_endpoints
from .properties import InvalidConfig

SECURITY_PROTOCOLS = ("PLAINTEXT", "SSL", "SASL_PLAINTEXT", "SASL_SSL")
SASL_PROTOCOLS, TLS_PROTOCOLS = ("SASL_PLAINTEXT", "SASL_SSL"), ("SSL", "SASL_SSL")


class Listener(FrozenData):
    """An address on which one node listens, and the address that it advertises. Port 0 is replaced by a free port when it is bound."""

    node_id: int
    name: str
    host: str
    port: int
    advertised_host: str
    advertised_port: int
    security_protocol: str = "PLAINTEXT"

    def with_port(self, port: int) -> Listener:
        """Returns the listener with the port to which it is bound."""
        return replace(self, port=port, advertised_port=self.advertised_port or port)

    @property
    def advertised(self) -> str:
        """The advertised address as `host:port`, the format of bootstrap.servers."""
        return f"{bracket(self.advertised_host)}:{self.advertised_port}"


def listeners_of(node_id: int, properties: Mapping[str, str], shift: int) -> tuple[Listener, ...]:
    """Returns the listeners for clients that a node's settings describe, each port raised by `shift`. Raises InvalidConfig."""
    for setting in ("listeners", "advertised.listeners"):
        _check_unique(setting, endpoints_of(properties, setting, shift), properties)
    advertised = {endpoint.name: endpoint for endpoint in endpoints_of(properties, "advertised.listeners", shift)}
    listening = listening_endpoints(properties, shift)
    names = [endpoint.name for endpoint in listening]
    controllers = controller_names(properties)
    _check_names(node_id, names, [name for name in advertised if name not in controllers], properties)
    protocols = protocols_of(names, properties)
    return tuple(_listener(node_id, endpoint, advertised.get(endpoint.name), protocols[endpoint.name]) for endpoint in listening)


def listener_settings(listeners: Sequence[Listener]) -> dict[str, str]:
    """Returns the settings `listeners` and `advertised.listeners` that describe the listeners."""
    return {
        "listeners": ",".join(str(ListenerEndpoint(each.name, each.host, each.port)) for each in listeners),
        "advertised.listeners": ",".join(
            str(ListenerEndpoint(each.name, each.advertised_host, each.advertised_port)) for each in listeners
        ),
    }


def _listener(node_id: int, listening: ListenerEndpoint, advertised: ListenerEndpoint | None, protocol: str) -> Listener:
    if advertised and advertised.host in WILDCARDS[1:]:
        raise InvalidConfig("advertised.listeners cannot use the nonroutable meta-address 0.0.0.0. Use a routable IP address.")
    public = advertised or listening
    # Clients cannot connect to a wildcard address. The loopback address reaches the node at least from this machine.
    public_host = LOOPBACK if public.host in WILDCARDS else public.host
    return Listener(node_id, listening.name, listening.host or EVERYWHERE, listening.port, public_host, public.port, protocol)


def _check_unique(setting: str, endpoints: Sequence[ListenerEndpoint], properties: Mapping[str, str]) -> None:
    """Raises InvalidConfig if two listeners have the same name, or would be bound to the same port."""
    if len({endpoint.name for endpoint in endpoints}) < len(endpoints):
        raise InvalidConfig(f"Each listener must have a different name, {setting}: {properties[setting]}")
    ports = [endpoint.port for endpoint in endpoints if endpoint.port]
    if setting == "listeners" and len(set(ports)) < len(ports):
        raise InvalidConfig(f"Each listener must have a different port, {setting}: {properties[setting]}")


def _check_names(node_id: int, names: Sequence[str], advertised: Sequence[str], properties: Mapping[str, str]) -> None:
    known = ", ".join(names)
    if not names:
        raise InvalidConfig(f"node {node_id} has no listener for clients; add one to listeners, such as PLAINTEXT://127.0.0.1:9092")
    if unknown := [name for name in advertised if name not in names]:
        raise InvalidConfig(f"advertised.listeners contains {unknown[0]}, which is not in listeners ({known})")
    inter_broker = properties.get("inter.broker.listener.name", "").strip().upper()
    if inter_broker and inter_broker not in names:
        raise InvalidConfig(f"inter.broker.listener.name is {inter_broker}, which is not in listeners ({known})")


def protocols_of(names: Sequence[str], properties: Mapping[str, str]) -> dict[str, str]:
    """Returns the security protocol of each listener. Raises InvalidConfig.

    Without a map, a listener that is named after a protocol uses it, and all others use PLAINTEXT.
    """
    pairs = [pair.strip() for pair in properties.get("listener.security.protocol.map", "").split(",") if pair.strip()]
    mapped: dict[str, str] = {}
    for pair in pairs:
        name, separator, protocol = pair.rpartition(":")
        if not separator or protocol.strip().upper() not in SECURITY_PROTOCOLS:
            raise InvalidConfig(f"invalid pair '{pair}' in listener.security.protocol.map: use NAME:PROTOCOL, such as EXTERNAL:PLAINTEXT")
        mapped[name.strip().upper()] = protocol.strip().upper()
    for name in names:
        if mapped and name not in mapped:
            raise InvalidConfig(f"No security protocol defined for listener {name}; add {name}:PLAINTEXT to listener.security.protocol.map")
    return {name: mapped.get(name) or (name if name in SECURITY_PROTOCOLS else "PLAINTEXT") for name in names}
