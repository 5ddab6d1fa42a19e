"""Features by release."""

from __future__ import annotations

from odradek.broker.cluster.features import SUPPORTED
from odradek.broker.releases.feature_levels import features_of


def test_features_with_zookeeper_are_none() -> None:
    assert features_of((2, 1)) == features_of((3, 2)) == {}


def test_features_of_kraft_releases_grow() -> None:
    assert features_of((3, 3)) == {"metadata.version": (1, 7)}
    assert features_of((3, 9)) == {"kraft.version": (0, 1), "metadata.version": (1, 21)}
    assert features_of((4, 2)).keys() >= SUPPORTED.keys()
