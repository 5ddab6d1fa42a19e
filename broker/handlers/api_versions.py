"""ApiVersions: the APIs that are served, and the features of the cluster."""

from __future__ import annotations

import re

from ...protocol.errors import ErrorCode
from ...protocol.messages.api_versions import (
    API_VERSIONS,
    ApiVersion,
    ApiVersionsRequest,
    ApiVersionsResponse,
    FinalizedFeatureKey,
    SupportedFeatureKey,
)
from ...protocol.messages.get_telemetry_subscriptions import GET_TELEMETRY_SUBSCRIPTIONS
from ...protocol.messages.produce import PRODUCE
from ...protocol.messages.push_telemetry import PUSH_TELEMETRY
from ..cluster.features import SUPPORTED, Features
from ..context import Context
from ..registry import HANDLERS, handles

HIDDEN = (GET_TELEMETRY_SUBSCRIPTIONS.key, PUSH_TELEMETRY.key)
"""Answered but not listed, as in Kafka without a metrics reporter that takes client metrics: clients then collect none."""
OLDEST_WITH_ZERO = 4
"""Before, clients choke on a feature that may be at level 0 (KAFKA-17011)."""
_SOFTWARE = re.compile(r"[a-zA-Z0-9](?:[a-zA-Z0-9\-.]*[a-zA-Z0-9])?")


@handles(API_VERSIONS)
def api_versions(request: ApiVersionsRequest, context: Context) -> ApiVersionsResponse:
    """Lists the APIs, and remembers the client's software."""
    if context.version >= 3:
        named = (request.client_software_name, request.client_software_version)
        if not all(_SOFTWARE.fullmatch(text) for text in named):
            return ApiVersionsResponse(error_code=ErrorCode.INVALID_REQUEST, api_keys=[])
        context.client.software_name, context.client.software_version = named
    return ApiVersionsResponse(
        api_keys=[_served(key) for key in sorted(HANDLERS) if key not in HIDDEN],
        supported_features=[
            SupportedFeatureKey(name=name, min_version=lowest, max_version=highest)
            for name, (lowest, highest) in SUPPORTED.items()
            if lowest > 0 or context.version >= OLDEST_WITH_ZERO
        ],
        finalized_features_epoch=context.cluster.metadata_log.end_offset,
        finalized_features=_finalized(context.cluster.features),
    )


def _finalized(features: Features) -> list[FinalizedFeatureKey]:
    """A feature at level 0 is left out. By transaction.version 2 clients know that they may use transactions v2 (KIP-890)."""
    levels = features.levels.items()
    return [FinalizedFeatureKey(name=name, max_version_level=level, min_version_level=level) for name, level in levels if level]


def _served(key: int) -> ApiVersion:
    """Produce is announced from 0 on, served from 3 on: without it librdkafka before 2.11.1 does not compress (KAFKA-18659)."""
    first, last = HANDLERS[key].api.versions
    return ApiVersion(api_key=key, min_version=0 if key == PRODUCE.key else first, max_version=last)


def unsupported_version() -> ApiVersionsResponse:
    """What an ApiVersions request of an unknown version is answered, in version 0 (KIP-511)."""
    return ApiVersionsResponse(error_code=ErrorCode.UNSUPPORTED_VERSION, api_keys=[_served(API_VERSIONS.key)])
