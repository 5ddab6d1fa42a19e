"""The address and the token of a control listener, as they are configured."""

from __future__ import annotations

import re
from typing import NamedTuple

from ...settings.endpoints import bracketed, is_loopback
from ...settings.properties import InvalidConfig


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

    def bound(self, port: int) -> str:
        """Returns the address as `host:port`, with the port to which it is bound."""
        return f"{bracketed(self.host)}:{port}"
