"""The features of the cluster and their finalized levels (KIP-584, KIP-1022; Kafka's FeatureControlManager)."""

from __future__ import annotations

from collections.abc import Mapping
from enum import IntEnum
from typing import TYPE_CHECKING, NamedTuple

from ...protocol.errors import ErrorCode, KafkaError
from ..settings.properties import InvalidConfig

if TYPE_CHECKING:
    from ..releases.release import Release

ELR_VERSION, GROUP_VERSION, KRAFT_VERSION = "eligible.leader.replicas.version", "group.version", "kraft.version"
METADATA_VERSION, SHARE_VERSION, STREAMS_VERSION = "metadata.version", "share.version", "streams.version"
TRANSACTION_VERSION = "transaction.version"
SUPPORTED = {
    GROUP_VERSION: (0, 1),
    KRAFT_VERSION: (0, 1),
    METADATA_VERSION: (7, 30),
    SHARE_VERSION: (0, 1),
    TRANSACTION_VERSION: (0, 2),
    ELR_VERSION: (0, 1),
    STREAMS_VERSION: (0, 1),
}
"""The lowest and the highest level that Kafka 4.3 supports, for each emulated feature, in Kafka's order."""
INITIAL_KRAFT_VERSION = 0
"""The level of kraft.version in a quorum that is configured by controller.quorum.voters and so has no dynamic voters (KIP-853)."""


class UpgradeType(IntEnum):
    """The kind of change that a request allows."""

    UPGRADE = 1
    SAFE_DOWNGRADE = 2
    UNSAFE_DOWNGRADE = 3


class FeatureUpdate(NamedTuple):
    """A requested level. `upgrade_type` is the number in the request, which need not be a member of `UpgradeType`."""

    level: int
    upgrade_type: int


def supported_levels(release: Release | None) -> Mapping[str, tuple[int, int]]:
    """Returns the lowest and the highest level of each emulated feature that a release supports."""
    return SUPPORTED if release is None else {name: release.features[name] for name in SUPPORTED if name in release.features}


def check_levels(levels: Mapping[str, int], release: Release | None) -> None:
    """Raises InvalidConfig for a feature or a level that the release does not support."""
    from difflib import get_close_matches

    supported = supported_levels(release)
    for name, level in levels.items():
        if name not in supported:
            near = get_close_matches(name, supported, 1)
            known = f"did you mean {near[0]}?" if near else f"use one of {', '.join(sorted(supported))}"
            raise InvalidConfig(f"unknown feature {name}: {known}")
        lowest, highest = supported[name]
        if not lowest <= level <= highest:
            raise InvalidConfig(f"the level of {name} must be from {lowest} to {highest}, not {level}")


class Features:
    """The finalized levels by feature, which begin at those of `levels`. A feature at level 0 counts as not finalized."""

    def __init__(self, levels: Mapping[str, int], release: Release | None = None) -> None:
        self.supported = supported_levels(release)
        """The lowest and the highest level of each feature, in Kafka's order."""
        self.levels = {name: highest for name, (_, highest) in self.supported.items()}
        initial = {KRAFT_VERSION: INITIAL_KRAFT_VERSION, **levels}
        self.levels |= {name: level for name, level in initial.items() if name in self.supported}

    def level(self, name: str) -> int:
        """Returns the finalized level of a feature, 0 if it has none."""
        return self.levels.get(name, 0)

    def limit(self) -> None:
        """Replaces levels that the emulated release does not support by the nearest ones that it does.

        A cluster may be loaded as another release than the one that it was saved as.
        """
        self.levels = {name: max(lowest, min(self.level(name), highest)) for name, (lowest, highest) in self.supported.items()}

    def update(self, updates: Mapping[str, FeatureUpdate], controller_id: int, *, validate_only: bool) -> None:
        """Sets levels. Raises KafkaError with INVALID_UPDATE_VERSION, and changes nothing, for the first update that is refused."""
        for name, update in updates.items():
            if reason := self._refusal(name, update, controller_id):
                reason = f"The update failed for all features since the following feature had an error: {reason}"
                raise KafkaError(ErrorCode.INVALID_UPDATE_VERSION, reason)
        if not validate_only:
            self.levels |= {name: update.level for name, update in updates.items()}

    def _refusal(self, name: str, update: FeatureUpdate, controller_id: int) -> str | None:
        if reason := self._reason(name, update, controller_id):
            return f"Invalid update version {update.level} for feature {name}. {reason}"
        present = self.level(name)
        if name == METADATA_VERSION and update.level < present:
            reason = UNSAFE_DOWNGRADE_UNSUPPORTED if update.upgrade_type == UpgradeType.UNSAFE_DOWNGRADE else LOSSY_DOWNGRADE
            return f"Unsupported metadata.version downgrade from {present} to {update.level}. {reason}"
        return None

    def _reason(self, name: str, update: FeatureUpdate, controller_id: int) -> str | None:
        level, present, supported = update.level, self.level(name), self.supported.get(name)
        if update.upgrade_type not in set(UpgradeType):
            return "The controller does not support the given upgrade type."
        if level < 0:
            return "A feature version cannot be less than 0."
        if supported is None:
            return f"Local controller {controller_id} does not support this feature." if level else f"Feature {name} not found."
        if not supported[0] <= level <= supported[1]:
            return f"Local controller {controller_id} only supports versions {supported[0]}-{supported[1]}"
        if level < present and update.upgrade_type == UpgradeType.UPGRADE:
            return "Can't downgrade the version of this feature without setting the upgrade type to either safe or unsafe downgrade."
        if level > present and update.upgrade_type != UpgradeType.UPGRADE:
            return "Can't downgrade to a newer version."
        if level < present and name == KRAFT_VERSION:
            return "Can't downgrade the version of this feature."
        return None


UNSAFE_DOWNGRADE_UNSUPPORTED = "Unsafe metadata downgrade is not supported in this version."
LOSSY_DOWNGRADE = "Refusing to perform the requested downgrade because it might delete metadata information."
