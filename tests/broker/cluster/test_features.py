"""Updates of the finalized levels of features."""

from __future__ import annotations

import pytest

from odradek.broker.cluster.features import GROUP_VERSION, KRAFT_VERSION, METADATA_VERSION, TRANSACTION_VERSION, Features, FeatureUpdate
from odradek.protocol.errors import ErrorCode, KafkaError

UPGRADE, SAFE, UNSAFE = 1, 2, 3


def test_update_sets_levels() -> None:
    features = Features({})
    features.update({TRANSACTION_VERSION: FeatureUpdate(0, SAFE), GROUP_VERSION: FeatureUpdate(0, UNSAFE)}, 1, validate_only=False)
    assert (features.levels[TRANSACTION_VERSION], features.levels[GROUP_VERSION]) == (0, 0)


@pytest.mark.parametrize(
    ("name", "level", "kind", "reason"),
    [
        ("no.such", 1, UPGRADE, "Local controller 7 does not support this feature."),
        ("no.such", 0, UPGRADE, "Feature no.such not found."),
        (TRANSACTION_VERSION, 3, UPGRADE, "Local controller 7 only supports versions 0-2"),
        (TRANSACTION_VERSION, -1, SAFE, "A feature version cannot be less than 0."),
        (TRANSACTION_VERSION, 1, 0, "The controller does not support the given upgrade type."),
        (KRAFT_VERSION, 1, SAFE, "Can't downgrade to a newer version."),
        (METADATA_VERSION, 29, SAFE, "Refusing to perform the requested downgrade because it might delete metadata information."),
        (METADATA_VERSION, 29, UNSAFE, "Unsafe metadata downgrade is not supported in this version."),
    ],
)
def test_update_refused_changes_nothing(name: str, level: int, kind: int, reason: str) -> None:
    """A valid update in the same request is not applied either."""
    features = Features({})
    before = dict(features.levels)
    with pytest.raises(KafkaError) as refused:
        features.update({GROUP_VERSION: FeatureUpdate(0, SAFE), name: FeatureUpdate(level, kind)}, 7, validate_only=False)
    assert refused.value.code is ErrorCode.INVALID_UPDATE_VERSION
    assert (refused.value.message or "").endswith(f"{reason}")
    assert features.levels == before
