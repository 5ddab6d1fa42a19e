"""UpdateFeatures (KIP-584). The rules for updates are in `cluster/features.py`."""

from __future__ import annotations

from collections.abc import Generator, Sequence

from ...protocol.errors import ErrorCode, KafkaError
from ...protocol.messages.update_features import (
    UPDATE_FEATURES,
    FeatureUpdateKey,
    UpdatableFeatureResult,
    UpdateFeaturesRequest,
    UpdateFeaturesResponse,
)
from ..api.context import Context
from ..api.registry import handles
from ..cluster.features import FeatureUpdate
from ..kafka_quirks.java_hash import bucket_order, java_hash
from ..scheduling.slices import Slices, in_slices
from ..scheduling.waiting import Wait
from ..security.acls import Operation, ResourceType


@handles(UPDATE_FEATURES)
def update_features(request: UpdateFeaturesRequest, context: Context) -> Generator[Wait, None, UpdateFeaturesResponse]:
    """Applies all updates or none.

    Version 0 cannot lower a level, because Kafka ignores its field `allow_downgrade` and assumes an upgrade.
    """
    if not context.may(Operation.ALTER, ResourceType.CLUSTER):
        denied = ErrorCode.CLUSTER_AUTHORIZATION_FAILED
        return UpdateFeaturesResponse(error_code=denied, error_message="not allowed to ALTER CLUSTER")
    context.demand_controller()
    updates = yield from _in_order(request.feature_updates)
    try:
        context.cluster.update_features(updates, validate_only=request.validate_only)
    except KafkaError as error:
        return UpdateFeaturesResponse(error_code=error.code, error_message=error.message)
    results = [UpdatableFeatureResult(feature=update.feature, error_message=ErrorCode.NONE.name) for update in request.feature_updates]
    return UpdateFeaturesResponse(error_message=None, results=results)


def _in_order(requested: Sequence[FeatureUpdateKey]) -> Generator[Wait, None, dict[str, FeatureUpdate]]:
    """Returns the last update of each feature, in the order of the HashMap in which Kafka's controller checks them."""
    slices = Slices()
    hash_codes = yield from in_slices(java_hash, [update.feature for update in requested], slices)
    updates = yield from in_slices(lambda update: FeatureUpdate(update.max_version_level, update.upgrade_type), requested, slices)
    latest = {update.feature: each for update, each in zip(requested, updates, strict=True)}
    order = bucket_order({update.feature: code for update, code in zip(requested, hash_codes, strict=True)})
    return {feature: latest[feature] for feature in order}
