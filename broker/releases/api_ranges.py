"""The versions of each API in each release of Kafka from 2.1 on, which follow from the message definitions of its sources.

A row contains one entry for each release in which the versions changed: `4.0:3-12` means that versions 3 to 12 are served from 4.0 on.
`3.3:none` means that the API is no longer served. Releases up to 3.2 are those of a cluster with ZooKeeper, later ones those of a cluster
with KRaft, so that an API may disappear in 3.3 and return when KRaft supports it. Versions that a release declares as unstable are left
out, as are the APIs that only brokers and controllers use among themselves.
"""

from __future__ import annotations

from collections.abc import Mapping

from ...protocol.schema import Versions, versions

RANGES: Mapping[int, str] = {
    0: "2.1:0-7 2.4:0-8 2.8:0-9 3.7:0-10 3.8:0-11 4.0:3-12 4.1:3-13",
    1: "2.1:0-10 2.3:0-11 2.7:0-12 3.1:0-13 3.5:0-15 3.7:0-16 3.9:0-17 4.0:4-17 4.1:4-18",
    2: "2.1:0-4 2.2:0-5 2.8:0-6 3.0:0-7 3.5:0-8 3.9:0-9 4.0:1-10 4.2:1-11",
    3: "2.1:0-7 2.3:0-8 2.4:0-9 2.8:0-11 3.1:0-12 4.0:0-13",
    8: "2.1:0-6 2.3:0-7 2.4:0-8 3.7:0-9 4.0:2-9 4.2:2-10",
    9: "2.1:0-5 2.4:0-6 2.5:0-7 3.0:0-8 3.7:0-9 4.0:1-9 4.2:1-10",
    10: "2.1:0-2 2.4:0-3 3.0:0-4 3.8:0-5 3.9:0-6",
    11: "2.1:0-3 2.2:0-4 2.3:0-5 2.4:0-6 2.5:0-7 3.2:0-9 4.0:2-9 4.1:0-9",
    12: "2.1:0-2 2.3:0-3 2.4:0-4",
    13: "2.1:0-2 2.4:0-4 3.2:0-5",
    14: "2.1:0-2 2.3:0-3 2.4:0-4 2.5:0-5",
    15: "2.1:0-2 2.3:0-3 2.4:0-5 4.0:0-6",
    16: "2.1:0-2 2.4:0-3 2.6:0-4 3.8:0-5",
    17: "2.1:0-1",
    18: "2.1:0-2 2.4:0-3 3.9:0-4",
    19: "2.1:0-3 2.4:0-5 2.7:0-6 2.8:0-7 4.0:2-7",
    20: "2.1:0-3 2.4:0-4 2.7:0-5 2.8:0-6 4.0:1-6",
    21: "2.1:0-1 2.6:0-2",
    22: "2.1:0-1 2.4:0-2 2.5:0-3 2.7:0-4 3.8:0-5",
    23: "2.1:0-2 2.3:0-3 2.8:0-4 4.0:2-4",
    24: "2.1:0-1 2.7:0-2 2.8:0-3 3.6:0-4 3.8:0-5",
    25: "2.1:0-1 2.7:0-2 2.8:0-3 3.8:0-4",
    26: "2.1:0-1 2.7:0-2 2.8:0-3 3.8:0-4 4.0:0-5",
    27: "2.1:0-0 2.8:0-1 4.0:1-1 4.2:1-2",
    28: "2.1:0-2 2.5:0-3 3.8:0-4 4.0:0-5",
    29: "2.1:0-1 2.5:0-2 3.3:0-3 4.0:1-3",
    30: "2.1:0-1 2.5:0-2 3.3:0-3 4.0:1-3",
    31: "2.1:0-1 2.5:0-2 3.3:0-3 4.0:1-3",
    32: "2.1:0-2 2.6:0-3 2.8:0-4 4.0:1-4",
    33: "2.1:0-1 2.8:0-2",
    34: "2.1:0-1 2.8:0-2 4.0:1-2",
    35: "2.1:0-1 2.6:0-2 3.2:0-3 3.3:0-4 4.0:1-4 4.3:1-5",
    36: "2.1:0-0 2.2:0-1 2.5:0-2",
    37: "2.1:0-1 2.5:0-2 2.7:0-3",
    38: "2.1:0-1 2.4:0-2 3.3:none 3.6:0-3 4.0:1-3",
    39: "2.1:0-1 2.5:0-2 3.3:none 3.6:0-2 4.0:1-2",
    40: "2.1:0-1 2.5:0-2 3.3:none 3.6:0-2 4.0:1-2",
    41: "2.1:0-1 2.5:0-2 3.3:none 3.6:0-3 4.0:1-3",
    42: "2.1:0-1 2.4:0-2",
    43: "2.2:0-0 2.4:0-2",
    44: "2.3:0-0 2.4:0-1",
    45: "2.4:0-0 4.1:0-1",
    46: "2.4:0-0",
    47: "2.4:0-0",
    48: "2.6:0-0 2.8:0-1",
    49: "2.6:0-0 2.8:0-1",
    50: "2.7:0-0 3.3:none 3.5:0-0",
    51: "2.7:0-0 3.3:none 3.5:0-0",
    55: "3.3:0-1 3.9:0-2",
    57: "2.7:0-0 3.3:0-1 4.0:0-2",
    60: "2.8:0-0 3.7:0-1 4.0:0-2",
    61: "2.8:0-0",
    64: "3.3:0-0",
    65: "3.0:0-0",
    66: "3.0:0-0 3.8:0-1 4.1:0-2",
    68: "3.7:0-0 4.0:0-1",
    69: "3.8:0-0 4.0:0-1",
    71: "3.7:0-0",
    72: "3.7:0-0",
    74: "3.7:0-0 4.1:0-1",
    75: "3.8:0-0",
    76: "4.1:1-1",
    77: "4.1:1-1",
    78: "4.1:1-1 4.2:1-2",
    79: "4.1:1-1 4.2:1-2",
    80: "3.9:0-0 4.2:0-1",
    81: "3.9:0-0",
    83: "4.1:0-0",
    84: "4.1:0-0",
    85: "4.1:0-0 4.2:0-1",
    86: "4.1:0-0",
    87: "4.1:0-0 4.2:0-1",
    88: "4.2:0-0",
    89: "4.2:0-0",
    90: "4.1:0-0 4.2:0-1",
    91: "4.1:0-0",
    92: "4.1:0-0",
}


def versions_of(release: tuple[int, int]) -> dict[int, Versions]:
    """Returns the versions that a release serves, by API key in ascending order."""
    found = ((key, _range(row, release)) for key, row in RANGES.items())
    return {key: served for key, served in found if served is not None}


def _range(row: str, release: tuple[int, int]) -> Versions | None:
    served = None
    for entry in row.split():
        since, _, text = entry.partition(":")
        if number_of(since) > release:
            break
        first, separator, last = text.partition("-")
        served = versions(int(first), int(last)) if separator else None
    return served


def number_of(release: str) -> tuple[int, int]:
    """Returns the numbers of a release such as "2.1"."""
    major, _, minor = release.partition(".")
    return int(major), int(minor)
