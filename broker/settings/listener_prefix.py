"""Names of settings that apply to one listener only: `listener.name.<listener>.[<SASL mechanism>.]<setting>`."""

from __future__ import annotations

import re

LISTENER_PREFIX = re.compile(r"listener\.name\.[^.]*\.(.*)")
PER_MECHANISM = (
    "connections.max.reauth.ms",
    "sasl.jaas.config",
    "sasl.login.callback.handler.class",
    "sasl.login.class",
    "sasl.server.callback.handler.class",
)
"""Settings whose names may include a SASL mechanism."""


def base_name(name: str) -> str:
    """Returns the name of a setting without the listener and the SASL mechanism that it applies to, if any."""
    match = LISTENER_PREFIX.fullmatch(name)
    if match is None:
        return name
    return next((setting for setting in PER_MECHANISM if match[1].endswith(setting)), match[1])
