"""The address and the token of a control listener, and which requests it serves: those with the token, from programs of this machine or
from its own pages.

A browser sends requests of any web page to 127.0.0.1, and headers tell them apart. `Origin` is that of the page, which must be the listener
itself; where browsers omit it, they send `Sec-Fetch-Site`. `Host` is the name that the browser has resolved: a page can make a name of its
own resolve to 127.0.0.1 (DNS rebinding), so that its origin equals the Host. Therefore only those names and addresses are accepted that
belong to the listener.
"""

from __future__ import annotations

import hmac
import re
from collections.abc import Mapping
from http import HTTPStatus
from ipaddress import ip_address
from typing import NamedTuple

from ...settings.endpoints import WILDCARDS, is_loopback
from ...settings.properties import InvalidConfig
from .responses import Problem

_HOST = re.compile(r"(\[[0-9A-Fa-f:.]+\]|[^\s:/\[\]@]+)(?::[0-9]{1,5})?")


class ControlAddress(NamedTuple):
    """An address to listen on, and the token that clients need."""

    host: str
    port: int
    token: str | None

    @classmethod
    def parse(cls, text: str, token: str | None) -> ControlAddress:
        """Returns the address for `host:port`. Raises InvalidConfig, also for an address that others can reach without a token."""
        match = re.fullmatch(r"(\[[0-9A-Fa-f:.]+\]|[^\s:/\[\]]+):([0-9]{1,5})", text)
        if match is None or int(match[2]) > 65535:
            raise InvalidConfig(f"invalid address {text!r} for control: use HOST:PORT, such as 127.0.0.1:9099")
        if token is not None and not re.fullmatch(r"[\x21-\x7e]+", token):
            raise InvalidConfig("invalid token for control: use printable ASCII characters without spaces")
        host = match[1].strip("[]")
        if token is None and not is_loopback(host):
            raise InvalidConfig(
                f"control cannot listen on {host} without a token: set a token, or, outside a container, listen on 127.0.0.1"
            )
        return cls(host, int(match[2]), token)


class AccessRules:
    """The checks of one listener, which is bound to `host`. Without a token, every program of this machine has access."""

    def __init__(self, host: str, token: str | None) -> None:
        self._host = host
        self._token = token

    def check(self, headers: Mapping[str, str], *, public: bool) -> None:
        """Raises Problem for a foreign Host and, unless the resource is public, for a foreign Origin and without the token."""
        host = headers.get("host", "")
        if not self._is_own(host):
            raise Problem(HTTPStatus.FORBIDDEN, f"the Host {host!r} is not this listener; use the address of --control")
        if public:
            return
        origin = headers.get("origin")
        if origin is not None and origin.lower() != f"http://{host.lower()}":
            raise Problem(HTTPStatus.FORBIDDEN, f"pages of the origin {origin!r} have no access")
        if headers.get("sec-fetch-site", "none") not in ("same-origin", "none"):
            raise Problem(HTTPStatus.FORBIDDEN, "pages of other sites have no access")
        if self._token is not None and not _same(headers.get("authorization", ""), self._token):
            detail = "this listener needs the header Authorization: Bearer with the token of --control-token"
            raise Problem(HTTPStatus.UNAUTHORIZED, detail, {"WWW-Authenticate": 'Bearer realm="odradek"'})

    def _is_own(self, host: str) -> bool:
        """Returns whether a Host header names the listener. On all interfaces that is any address, because pages do not choose those."""
        match = _HOST.fullmatch(host)
        if match is None:
            return False
        name = match[1].strip("[]").lower()
        if name in ("localhost", self._host.lower()):
            return True
        try:
            return ip_address(name).is_loopback or self._host in WILDCARDS
        except ValueError:
            return False


def _same(authorization: str, token: str) -> bool:
    """Compares in constant time, so that durations do not reveal how much of a guess is right."""
    scheme, _, given = authorization.partition(" ")
    return scheme.lower() == "bearer" and hmac.compare_digest(given.strip().encode("latin-1"), token.encode())
