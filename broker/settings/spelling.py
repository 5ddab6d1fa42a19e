"""Tells a misspelt setting from one that Kafka does not know, as those of ZooKeeper, older versions and plugins are."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from difflib import get_close_matches

from .rows import BROKER_SETTINGS, GROUP_SETTINGS, TOPIC_SETTINGS, Setting
from .values import InvalidConfig

SIMILARITY = 0.9
"""Of 150 names that other versions, images and plugins use, the one most like a name of Kafka 4.3 has 0.894."""

INHERITING: Mapping[str, Setting] = {**TOPIC_SETTINGS, **GROUP_SETTINGS}
NEVER_REFUSED = ("confluent.", "controller.", "listener.name.", "zookeeper.")


def check_spelling(names: Collection[str]) -> None:
    """Raises InvalidConfig for a name that is almost a broker's setting."""
    known = {**BROKER_SETTINGS, **INHERITING}
    for name in names:
        if name not in known and not name.startswith(NEVER_REFUSED) and (meant := nearest(name, BROKER_SETTINGS)):
            raise InvalidConfig(f"unknown setting {name}; did you mean {meant}?")


def check_scope(names: Collection[str]) -> None:
    """Raises InvalidConfig for a topic's or a group's setting that brokers have under another name.

    Environments and files may hold such names, which Kafka ignores there; in a program or an option they are expected to act.
    """
    for name in names:
        if name not in BROKER_SETTINGS and name in INHERITING and INHERITING[name].synonyms:
            scope = INHERITING[name].scope.name.lower()
            raise InvalidConfig(
                f"{name} is a setting of a {scope}; did you mean {INHERITING[name].synonyms[0]}, which all of them inherit?"
            )


def nearest(name: str, known: Collection[str]) -> str | None:
    """Returns the known name that `name` is most likely meant to be, whatever the case and the separators; None if none is near."""
    squeezed = {_squeezed(each): each for each in known}
    near = get_close_matches(_squeezed(name), squeezed, n=1, cutoff=SIMILARITY)
    return squeezed[near[0]] if near else None


def _squeezed(name: str) -> str:
    return "".join(filter(str.isalnum, name)).lower()
