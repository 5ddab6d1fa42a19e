"""UpdateFeatures."""

from __future__ import annotations

from odradek.broker.cluster.features import TRANSACTION_VERSION
from odradek.protocol.messages.api_versions import API_VERSIONS, ApiVersionsRequest, ApiVersionsResponse
from odradek.protocol.messages.update_features import UPDATE_FEATURES, FeatureUpdateKey, UpdateFeaturesRequest
from tests.broker.harness import Client, World

SAFE_DOWNGRADE = 2


def listed(client: Client, version: int = 4) -> ApiVersionsResponse:
    request = ApiVersionsRequest(client_software_name="test", client_software_version="1")
    answer: ApiVersionsResponse = client.call(API_VERSIONS, version, request)
    return answer


def test_update_features_changes_api_versions() -> None:
    world = World()
    client = world.client(2)
    before = listed(client)
    update = FeatureUpdateKey(feature=TRANSACTION_VERSION, max_version_level=1, upgrade_type=SAFE_DOWNGRADE)
    assert world.client(1).call(UPDATE_FEATURES, 2, UpdateFeaturesRequest(feature_updates=[update])).error_code == 0
    after = listed(client)
    assert after.finalized_features_epoch > before.finalized_features_epoch
    assert {feature.name: feature.max_version_level for feature in after.finalized_features}[TRANSACTION_VERSION] == 1
    assert world.cluster.transaction_log.transaction_version == 1
