"""The address of the schema registry's listener, and which requests it serves.

A cluster with users serves those that authenticate by HTTP Basic as one of them. Without users, every program has access, as to Kafka's
listeners; but pages of other sites have none: browsers say in `Origin` which page sends a request, and on a loopback address, `Host` must
be a name of this machine, because a page may let a name of its own resolve to it (DNS rebinding).
"""

from __future__ import annotations

import hmac
import re
from base64 import b64decode
from binascii import Error as NotBase64
from collections.abc import Mapping
from http import HTTPStatus
from ipaddress import ip_address
from typing import NamedTuple

from ..controls.http.responses import Problem
from ..settings.endpoints import WILDCARDS, bracket, is_loopback
from ..settings.properties import InvalidConfig

ANY_PORT = "127.0.0.1:0"
_ADDRESS = re.compile(r"(\[[0-9A-Fa-f:.]+\]|[^\s:/\[\]]+):([0-9]{1,5})")
_HOST = re.compile(r"(\[[0-9A-Fa-f:.]+\]|[^\s:/\[\]@]+)(?::[0-9]{1,5})?")


class RegistryAddress(NamedTuple):
    """An address to listen on."""

    host: str
    port: int

    @classmethod
    def parse(cls, text: str) -> RegistryAddress:
        """Returns the address for `host:port`. Raises InvalidConfig."""
        match = _ADDRESS.fullmatch(text)
        if match is None or int(match[2]) > 65535:
            raise InvalidConfig(f"invalid address {text!r} for the schema registry: use HOST:PORT, such as 127.0.0.1:8081")
        return cls(match[1].strip("[]"), int(match[2]))

    def url(self, port: int, *, tls: bool) -> str:
        """Returns the URL for clients. An address that stands for all interfaces is reached as localhost."""
        host = "localhost" if self.host in WILDCARDS else bracket(self.host)
        return f"{'https' if tls else 'http'}://{host}:{port}"


class RegistryAccess:
    """The checks of a listener that is bound to `host`. `users` maps names to passwords."""

    def __init__(self, host: str, users: Mapping[str, str]) -> None:
        self._host = host
        self._is_loopback = is_loopback(host)
        self._users = users

    def check(self, headers: Mapping[str, str]) -> str:
        """Returns the name of the user, "" without users. Raises Problem for a request without access."""
        host, origin = headers.get("host", ""), headers.get("origin")
        if self._is_loopback and not self._names_this_machine(host):
            raise Problem(HTTPStatus.FORBIDDEN, f"the Host {host!r} is not this listener; use its address")
        if origin is not None and origin.lower() not in (f"http://{host.lower()}", f"https://{host.lower()}"):
            raise Problem(HTTPStatus.FORBIDDEN, f"pages of the origin {origin!r} have no access")
        return self._user(headers.get("authorization", "")) if self._users else ""

    def _names_this_machine(self, host: str) -> bool:
        match = _HOST.fullmatch(host)
        name = match[1].strip("[]").lower() if match else ""
        try:
            return name in ("localhost", self._host.lower()) or ip_address(name).is_loopback
        except ValueError:
            return False

    def _user(self, authorization: str) -> str:
        scheme, _, encoded = authorization.partition(" ")
        try:
            decoded = b64decode(encoded.strip(), validate=True).decode()
        except (NotBase64, UnicodeDecodeError):
            decoded = ""
        name, _, password = decoded.partition(":")
        known = self._users.get(name, "")
        is_right = hmac.compare_digest(known.encode(), password.encode()) and known != ""
        if scheme.lower() != "basic" or not is_right:
            raise Problem(HTTPStatus.UNAUTHORIZED, "Unauthorized", {"WWW-Authenticate": 'Basic realm="schema registry"'})
        return name
