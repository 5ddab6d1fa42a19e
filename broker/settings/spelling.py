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


def at_broker_level(given: Mapping[str, str]) -> dict[str, str]:
    """Returns settings with the broker's name for each topic or group setting, such as log.flush.interval.messages for flush.messages.

    It is called for settings from options and from Python programs, because their authors expect an effect. In environment variables and
    files such names are accepted without effect, as in Kafka. Raises InvalidConfig if a setting is given by both names.
    """
    settings: dict[str, str] = {}
    for name, text in given.items():
        is_inherited = name not in BROKER_SETTINGS and name in INHERITING and INHERITING[name].synonyms
        broker_name = INHERITING[name].synonyms[0] if is_inherited else name
        if is_inherited and broker_name in given:
            raise InvalidConfig(f"{name} is given as {broker_name} too, which is its name at the broker level; give one of them")
        settings[broker_name] = text
    return settings


def nearest(name: str, known: Collection[str]) -> str | None:
    """Returns the known name closest to `name`, ignoring case and separators, or None if none is close."""
    from difflib import get_close_matches

    squeezed = {_squeeze(each): each for each in known}
    near = get_close_matches(_squeeze(name), squeezed, n=1, cutoff=SIMILARITY)
    return squeezed[near[0]] if near else None


def _squeeze(name: str) -> str:
    return "".join(filter(str.isalnum, name)).lower()
