"""Figures of this project's own comparisons with Apache Kafka and its own tests with clients, counted from their data."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from tests.clients.client import CLIENTS
from tests.clients.older_clients import OLDER_CLIENTS
from tests.differential.comparison import known_differences, read_recording
from tests.differential.families import FAMILIES

VERSIONED = re.compile(r"(.+?)-((?:as-)?[\d.]+)")
NEWEST = "current"


class Comparison(NamedTuple):
    """The size of the differential suite."""

    families: int
    cases: int
    answers: int
    known_differences: int


def comparison() -> Comparison:
    recordings = [read_recording(family) for family in FAMILIES]
    cases, answers = sum(map(len, recordings)), sum(len(each) for recording in recordings for each in recording.values())
    return Comparison(len(recordings), cases, answers, len(known_differences()))


def clients() -> Iterator[tuple[str, str]]:
    """Yields the clients with which the scenarios of tests/clients run, each with its versions."""
    versions: dict[str, dict[str, None]] = {}
    for each in (*CLIENTS, *OLDER_CLIENTS):
        name, version = found.groups() if (found := VERSIONED.fullmatch(each)) else (each, NEWEST)
        versions.setdefault(name, {})[version.replace("as-", "for brokers of ")] = None
    for name, names in versions.items():
        yield name, ", ".join(names)
