"""The release of Kafka that a cluster emulates, as tables: the versions of each API, and the levels of each feature.

A cluster without a release is Kafka 4.3, and then this module is not imported. Releases up to 3.2 are those of a cluster with ZooKeeper,
later ones those of a cluster with KRaft, so that an API may disappear in 3.3 and return when KRaft supports it. The versions follow from
the message definitions of Kafka's sources; those that a release declares as unstable are left out, as are the APIs that only brokers and
controllers use among themselves. Clusters with ZooKeeper have no features, and features that a release only previews are left out, such as
share groups in 4.1 (Kafka's BrokerFeatures).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from ...protocol.errors import ErrorCode
from ...protocol.schema import Api, Versions, versions
from ...protocol.served_apis import SERVED

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


Levels = tuple[int, int]

HIGHEST_METADATA_VERSION = {
    (3, 3): 7,
    (3, 4): 8,
    (3, 5): 11,
    (3, 6): 14,
    (3, 7): 19,
    (3, 8): 20,
    (3, 9): 21,
    (4, 0): 25,
    (4, 1): 27,
    (4, 2): 29,
}
"""The highest level of metadata.version that is not marked as unstable (Kafka's MetadataVersion.LATEST_PRODUCTION)."""


def features_of(release: tuple[int, int]) -> dict[str, Levels]:
    """Returns the features of a release, in Kafka's order."""
    if release not in HIGHEST_METADATA_VERSION:
        return {}
    metadata_version = (1 if release < (4, 0) else 7, HIGHEST_METADATA_VERSION[release])
    if release < (3, 9):
        return {"metadata.version": metadata_version}
    if release < (4, 0):
        return {"kraft.version": (0, 1), "metadata.version": metadata_version}
    features = {
        "group.version": (0, 1),
        "kraft.version": (0, 1),
        "metadata.version": metadata_version,
        "transaction.version": (0, 2),
        "eligible.leader.replicas.version": (0, 1),
    }
    return features if release < (4, 2) else features | {"share.version": (0, 1), "streams.version": (0, 1)}


LATEST = "4.3"
WIRESHARK = "wireshark-4.0"
NAMES = (*(f"2.{minor}" for minor in range(1, 9)), *(f"3.{minor}" for minor in range(10)), "4.0", "4.1", "4.2", LATEST, WIRESHARK)
KRAFT_SINCE = (3, 3)
TOPIC_IDS_OF_COMMITS_SINCE = (4, 1)
INVALID_RECORD_SINCE = (2, 4)
_NOT_SERVED = Versions(0, -1)


@dataclass(frozen=True, slots=True)
class Release:
    """A release before 4.3. `number` consists of its major and its minor number.

    `versions` are the served ones by API key, `features` the lowest and the highest level of each feature.
    """

    name: str
    number: tuple[int, int]
    versions: Mapping[int, Versions]
    features: Mapping[str, Levels]

    @property
    def has_zookeeper(self) -> bool:
        """Whether the cluster has ZooKeeper instead of KRaft, which Kafka supports in production from 3.3 on (KIP-833)."""
        return self.number < KRAFT_SINCE

    @property
    def offset_commit_version(self) -> int:
        """The version of the values of commits in `__consumer_offsets`: since 4.1 they contain the topic id."""
        return 4 if self.number >= TOPIC_IDS_OF_COMMITS_SINCE else 3

    def error_code(self, code: ErrorCode) -> ErrorCode:
        """Returns the code that stands for an error in this release: INVALID_RECORD was CORRUPT_MESSAGE before 2.4."""
        return ErrorCode.CORRUPT_MESSAGE if code is ErrorCode.INVALID_RECORD and self.number < INVALID_RECORD_SINCE else code

    def serves(self, api: Api) -> Versions:
        """Returns the versions of an API that are served, an empty range if there are none."""
        return self.versions.get(api.key, _NOT_SERVED)


def release_of(name: str) -> Release | None:
    """Returns the release with this name, None for LATEST. Raises ValueError for a name that is not in NAMES.

    The Kafka dissector of Wireshark 4.0 knows exactly the versions of Kafka 2.5.
    """
    if name not in NAMES:
        raise ValueError(f"there is no version {name!r} of Kafka to emulate; use one of {', '.join(NAMES)}")
    if name == LATEST:
        return None
    number = (2, 5) if name == WIRESHARK else number_of(name)
    return Release(name, number, {key: versions for key, versions in versions_of(number).items() if key in SERVED}, features_of(number))
