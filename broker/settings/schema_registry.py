"""The settings of the schema registry, by the names of Confluent's SchemaRegistryConfig.

They stand among those of the brokers: in `--set`, in the argument `settings` of `Cluster`, and in the variables `SCHEMA_REGISTRY_*` of the
image cp-schema-registry, so that one service of a compose file can stand for both images.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import NamedTuple

from .properties import InvalidConfig

LEVEL, FORMER_LEVEL = "schema.compatibility.level", "avro.compatibility.level"
TOPIC, MUTABILITY, LISTENERS = "kafkastore.topic", "mode.mutability", "listeners"
NAMES = (LEVEL, FORMER_LEVEL, TOPIC, MUTABILITY)
"""The settings that act. The other ones say how Confluent's registry reaches its cluster, which this one needs not know."""
LEVELS = ("NONE", "BACKWARD", "BACKWARD_TRANSITIVE", "FORWARD", "FORWARD_TRANSITIVE", "FULL", "FULL_TRANSITIVE")
PREFIX = "SCHEMA_REGISTRY_"
_LISTENER = re.compile(r"https?://(.*:[0-9]+)/?", re.IGNORECASE)


class RegistrySettings(NamedTuple):
    """The settings of a registry. `compatibility_level` is one of LEVELS, `topic` the name of the topic that keeps the schemas."""

    compatibility_level: str = "BACKWARD"
    topic: str = "_schemas"
    mode_mutability: bool = True

    @classmethod
    def of(cls, settings: Mapping[str, str]) -> RegistrySettings:
        """Returns the settings with these names and values. Raises InvalidConfig; other names are ignored."""
        name = LEVEL if LEVEL in settings else FORMER_LEVEL
        level = settings.get(name, "BACKWARD").upper()
        if level not in LEVELS:
            raise InvalidConfig(f"invalid value {settings[name]!r} for {name}: use one of {', '.join(LEVELS).lower()}")
        topic = settings.get(TOPIC, "_schemas")
        if not re.fullmatch(r"[a-zA-Z0-9._-]{1,249}", topic) or topic in (".", ".."):
            raise InvalidConfig(f"invalid value {topic!r} for {TOPIC}: use the name of a topic, such as _schemas")
        mutable = settings.get(MUTABILITY, "true").lower()
        if mutable not in ("true", "false"):
            raise InvalidConfig(f"invalid value {settings[MUTABILITY]!r} for {MUTABILITY}: use true or false")
        return cls(level, topic, mutable == "true")


DEFAULT_SETTINGS = RegistrySettings()


def split_settings(given: Iterable[tuple[str, str]]) -> tuple[dict[str, str], list[tuple[str, str]]]:
    """Returns the settings of the registry, and the other ones, which are those of brokers."""
    pairs = list(given)
    return {name: value for name, value in pairs if name in NAMES}, [pair for pair in pairs if pair[0] not in NAMES]


def registry_settings_of(environ: Mapping[str, str]) -> dict[str, str]:
    """Returns the settings in `SCHEMA_REGISTRY_*` variables, in whose names `_` stands for a dot."""
    variables = ((PREFIX + name.replace(".", "_").upper(), name) for name in (*NAMES, LISTENERS))
    return {name: environ[variable] for variable, name in variables if environ.get(variable)}


def address_in(listeners: str) -> str:
    """Returns the `host:port` of the first of the listeners of SCHEMA_REGISTRY_LISTENERS. Raises InvalidConfig."""
    match = _LISTENER.fullmatch(listeners.split(",")[0].strip())
    if match is None:
        raise InvalidConfig(f"invalid SCHEMA_REGISTRY_LISTENERS {listeners!r}: use a URL such as http://0.0.0.0:8081")
    return match[1]
