"""Parsing of listener addresses, `NAME://host:port`, from a broker's settings.

The health check imports this module too and must start quickly, so this module avoids heavy imports.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import NamedTuple

from .properties import InvalidConfig

DEFAULT_PORT = 9092
LOOPBACK, EVERYWHERE = "127.0.0.1", "0.0.0.0"
WILDCARDS = ("", EVERYWHERE, "::")
ENDPOINT = re.compile(r"\s*([^:/\s]+)://(\[[0-9a-fA-F:.%]+\]|[^\s:/\[\]]*):([0-9]{1,5})\s*")
NEW_NAMES = ("listeners", "advertised.listeners")
OLD_NAMES = ("host.name", "port", "advertised.host.name", "advertised.port")


class ListenerEndpoint(NamedTuple):
    """A listener's name and address; its text is NAME://host:port."""

    name: str
    host: str
    port: int

    def __str__(self) -> str:
        return f"{self.name}://{bracket(self.host)}:{self.port}"


def listening_endpoints(properties: Mapping[str, str], shift: int = 0) -> list[ListenerEndpoint]:
    """Returns the addresses on which a broker listens for clients, each port raised by `shift`. Raises InvalidConfig.

    If only `advertised.listeners` is set, the broker listens on those ports on all interfaces, as in Kafka's images.
    """
    advertised = [endpoint._replace(host=EVERYWHERE) for endpoint in endpoints_of(properties, "advertised.listeners", shift)]
    found = endpoints_of(properties, "listeners", shift) or advertised or [ListenerEndpoint("PLAINTEXT", LOOPBACK, DEFAULT_PORT + shift)]
    controllers = controller_names(properties)
    return [endpoint for endpoint in found if endpoint.name not in controllers]


def endpoints_of(properties: Mapping[str, str], setting: str, shift: int = 0) -> list[ListenerEndpoint]:
    """Returns the endpoints that `setting` lists, each port other than 0 raised by `shift`. Raises InvalidConfig."""
    found = []
    for text in filter(str.strip, properties.get(setting, "").split(",")):
        match = ENDPOINT.fullmatch(text)
        if match is None:
            example = f"PLAINTEXT://{LOOPBACK}:{DEFAULT_PORT}"
            raise InvalidConfig(f"invalid listener '{text.strip()}' in {setting}: use NAME://host:port, such as {example}")
        port = int(match[3]) and int(match[3]) + shift
        if port > 65535:
            raise InvalidConfig(f"invalid port {port} in {setting}: use 0 to 65535")
        found.append(ListenerEndpoint(match[1].upper(), match[2].strip("[]"), port))
    return found


def controller_names(properties: Mapping[str, str]) -> set[str]:
    """Returns the names of the listeners that belong to controllers."""
    return {name.strip().upper() for name in (properties.get("controller.listener.names") or "CONTROLLER").split(",")}


def with_listeners_of_old_names(properties: Mapping[str, str]) -> dict[str, str]:
    """Returns the settings with `listeners` and `advertised.listeners` in place of the names used before Kafka 3.0.

    `host.name` and `port` are used only if neither of the new names is set.
    """
    host, port, advertised_host, advertised_port = (properties.get(name, "").strip() for name in OLD_NAMES)
    found = {name: value for name, value in properties.items() if name not in OLD_NAMES}
    if (host or port or advertised_host or advertised_port) and found.keys().isdisjoint(NEW_NAMES):
        found["listeners"] = f"PLAINTEXT://{bracket(host)}:{port or DEFAULT_PORT}"
    if (advertised_host or advertised_port) and "advertised.listeners" not in found:
        found["advertised.listeners"] = f"PLAINTEXT://{bracket(advertised_host or host)}:{advertised_port or port or DEFAULT_PORT}"
    return found


def is_loopback(host: str) -> bool:
    """Returns whether only this machine can connect to a listener on `host`."""
    from ipaddress import ip_address

    try:
        return ip_address(host).is_loopback
    except ValueError:
        return host.lower() == "localhost"


def bracket(host: str) -> str:
    """Returns the host as written before a port: IPv6 addresses in brackets."""
    return f"[{host}]" if ":" in host else host
