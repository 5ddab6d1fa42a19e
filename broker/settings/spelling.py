"""Detection of misspelt settings.

Brokers accept settings that Kafka 4.3 does not have, such as those of ZooKeeper, older versions and plugins. A name is therefore rejected
only if it closely resembles one of Kafka's, because then it is most likely a typo.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping

from .properties import InvalidConfig
from .rows import BROKER_SETTINGS, GROUP_SETTINGS, TOPIC_SETTINGS
from .types import Setting

SIMILARITY = 0.9
"""Minimum similarity for a typo. Of 150 names from other versions, images and plugins, the one closest to a name of Kafka 4.3 has 0.894."""

INHERITING: Mapping[str, Setting] = {**TOPIC_SETTINGS, **GROUP_SETTINGS}
NEVER_REFUSED = ("confluent.", "controller.", "listener.name.", "zookeeper.")


def check_spelling(names: Collection[str]) -> None:
    """Raises InvalidConfig for a name that closely resembles a broker setting but is not a known setting."""
    known = {**BROKER_SETTINGS, **INHERITING}
    for name in names:
        if name not in known and not name.startswith(NEVER_REFUSED) and (meant := nearest(name, BROKER_SETTINGS)):
            raise InvalidConfig(f"unknown setting {name}; did you mean {meant}?")


def check_scope(names: Collection[str]) -> None:
    """Raises InvalidConfig for a topic or group setting that has another name at the broker level.

    It is called for settings from options and from Python programs, because their authors expect an effect. In environment variables and
    files such names are accepted without effect, as in Kafka.
    """
    for name in names:
        if name not in BROKER_SETTINGS and name in INHERITING and INHERITING[name].synonyms:
            scope = INHERITING[name].scope.name.lower()
            raise InvalidConfig(f"{name} is a {scope} setting; did you mean the broker setting {INHERITING[name].synonyms[0]}?")


def nearest(name: str, known: Collection[str]) -> str | None:
    """Returns the known name closest to `name`, ignoring case and separators, or None if none is close."""
    from difflib import get_close_matches

    squeezed = {_squeeze(each): each for each in known}
    near = get_close_matches(_squeeze(name), squeezed, n=1, cutoff=SIMILARITY)
    return squeezed[near[0]] if near else None


def _squeeze(name: str) -> str:
    return "".join(filter(str.isalnum, name)).lower()
