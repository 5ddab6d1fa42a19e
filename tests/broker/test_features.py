"""The finalized levels of features: what may be changed, and what follows from it."""

from __future__ import annotations

import pytest

from odradek.broker.cluster.features import GROUP_VERSION, KRAFT_VERSION, METADATA_VERSION, TRANSACTION_VERSION, Features, FeatureUpdate
from odradek.protocol.errors import ErrorCode, KafkaError
from odradek.protocol.messages.api_versions import API_VERSIONS, ApiVersionsRequest, ApiVersionsResponse
from odradek.protocol.messages.update_features import UPDATE_FEATURES, FeatureUpdateKey, UpdateFeaturesRequest
from tests.broker.harness import Client, World

UPGRADE, SAFE, UNSAFE = 1, 2, 3


def listed(client: Client, version: int = 4) -> ApiVersionsResponse:
    request = ApiVersionsRequest(client_software_name="test", client_software_version="1")
    answer: ApiVersionsResponse = client.call(API_VERSIONS, version, request)
    return answer


def test_update_sets_the_levels() -> None:
    features = Features(transaction_version=2)
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
def test_a_refused_update_changes_nothing(name: str, level: int, kind: int, reason: str) -> None:
    """Nor does a good update beside it."""
    features = Features(transaction_version=2)
    before = dict(features.levels)
    with pytest.raises(KafkaError) as refused:
        features.update({GROUP_VERSION: FeatureUpdate(0, SAFE), name: FeatureUpdate(level, kind)}, 7, validate_only=False)
    assert refused.value.code is ErrorCode.INVALID_UPDATE_VERSION
    assert (refused.value.message or "").endswith(f"{reason}")
    assert features.levels == before


def test_api_versions_follows_an_update() -> None:
    world = World()
    client = world.client(2)
    before = listed(client)
    update = FeatureUpdateKey(feature=TRANSACTION_VERSION, max_version_level=1, upgrade_type=SAFE)
    assert world.client(1).call(UPDATE_FEATURES, 2, UpdateFeaturesRequest(feature_updates=[update])).error_code == 0
    after = listed(client)
    assert after.finalized_features_epoch > before.finalized_features_epoch
    assert {feature.name: feature.max_version_level for feature in after.finalized_features}[TRANSACTION_VERSION] == 1
    assert world.cluster.transaction_log.transaction_version == 1


def test_api_versions_leaves_client_metrics_out() -> None:
    """Kafka answers them, but lists them only with a reporter that takes client metrics."""
    keys = {api.api_key for api in listed(World().client()).api_keys}
    assert {17, 36, 38, 39, 40, 41, 49, 57, 64, 80, 81} <= keys
    assert not keys & {71, 72}
