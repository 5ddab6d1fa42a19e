"""The release of Kafka that a cluster emulates. A cluster without one is Kafka 4.3, and then nothing of this folder is imported."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from ...protocol.errors import ErrorCode
from ...protocol.schema import Api, Versions
from ...protocol.served_apis import SERVED
from .api_ranges import number_of, versions_of
from .feature_levels import Levels, features_of

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
