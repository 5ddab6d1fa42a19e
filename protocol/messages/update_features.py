"""UpdateFeatures (57): changes the finalized levels of the cluster's features (KIP-584).

v1 added `upgrade_type` in place of a flag, and `validate_only` (KIP-778). v2 removed the results per feature (KIP-1022).
"""

from __future__ import annotations

from ..schema import Api, Int8, Int16, Int32, Message, field, versions


class UpdateFeaturesRequest(Message):
    flexible_from = 0
    timeout_ms: Int32 = 60000
    feature_updates: list[FeatureUpdateKey]
    validate_only: bool = field(since=1, default=False)


class FeatureUpdateKey(Message):
    feature: str
    max_version_level: Int16
    allow_downgrade: bool = field(until=0, default=False)
    upgrade_type: Int8 = field(since=1, default=1)


class UpdateFeaturesResponse(Message):
    flexible_from = 0
    throttle_time_ms: Int32 = 0
    error_code: Int16 = 0
    error_message: str | None
    results: list[UpdatableFeatureResult] = field(until=1, default_factory=list)


class UpdatableFeatureResult(Message):
    feature: str
    error_code: Int16 = 0
    error_message: str | None


UPDATE_FEATURES = Api(57, versions(0, 2), UpdateFeaturesRequest, UpdateFeaturesResponse)
