"""UpdateFeatures (KIP-584). The rules for updates are in `cluster/features.py`."""

from __future__ import annotations

from ...protocol.errors import ErrorCode, KafkaError
from ...protocol.messages.update_features import (
    UPDATE_FEATURES,
    UpdatableFeatureResult,
    UpdateFeaturesRequest,
    UpdateFeaturesResponse,
)
from ..cluster.features import FeatureUpdate
from ..context import Context
from ..registry import handles
from ..security.acls import Operation, ResourceType


@handles(UPDATE_FEATURES)
def update_features(request: UpdateFeaturesRequest, context: Context) -> UpdateFeaturesResponse:
    """Applies all updates or none.

    Version 0 cannot lower a level, because Kafka ignores its field `allow_downgrade` and assumes an upgrade.
    """
    if not context.may(Operation.ALTER, ResourceType.CLUSTER):
        denied = ErrorCode.CLUSTER_AUTHORIZATION_FAILED
        return UpdateFeaturesResponse(error_code=denied, error_message="not allowed to ALTER CLUSTER")
    context.demand_controller()
    cluster = context.cluster
    updates = {update.feature: FeatureUpdate(update.max_version_level, update.upgrade_type) for update in request.feature_updates}
    try:
        cluster.update_features(updates, validate_only=request.validate_only)
    except KafkaError as error:
        return UpdateFeaturesResponse(error_code=error.code, error_message=error.message)
    results = [UpdatableFeatureResult(feature=update.feature, error_message=ErrorCode.NONE.name) for update in request.feature_updates]
    return UpdateFeaturesResponse(error_message=None, results=results)
