"""The login module in a listener's `sasl.jaas.config`, which `protocol/client/jaas.py` parses."""

from __future__ import annotations

from ...protocol.client.jaas import InvalidJaas, LoginModule, parse_jaas
from ..settings.properties import InvalidConfig


def login_module(text: str) -> LoginModule:
    """Returns the only login module in `text`. Raises InvalidConfig."""
    try:
        return parse_jaas(text)
    except InvalidJaas as error:
        raise InvalidConfig(str(error)) from None
