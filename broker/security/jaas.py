"""The login module in a listener's `sasl.jaas.config`, which `protocol/client/jaas.py` parses."""

from __future__ import annotations

from collections.abc import Mapping

from ...protocol.client.jaas import SETTING, InvalidJaas, parse_jaas
from ..settings.properties import InvalidConfig
from ..settings.values import ListenerSettings


def login_options(settings: ListenerSettings, mechanism: str, expected: str) -> Mapping[str, str]:
    """Returns the options of the login module of a mechanism, none without the setting.

    Raises InvalidConfig for an invalid setting, and for another module than `expected`.
    """
    text = settings.of_mechanism(mechanism, SETTING)
    if text is None:
        return {}
    try:
        module = parse_jaas(text)
    except InvalidJaas as error:
        raise InvalidConfig(str(error)) from None
    if module.name != expected:
        raise InvalidConfig(f"{SETTING} of {mechanism} on listener {settings.listener_name} names {module.name}; use {expected}")
    return module.options
