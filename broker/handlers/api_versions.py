"""ApiVersions: what is served, and no more."""

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
from ...protocol.messages.produce import PRODUCE
from ..cluster import ClusterState
from ..context import Context
from .registry import HANDLERS, handles

METADATA_VERSION = "metadata.version"
OLDEST_METADATA_VERSION, METADATA_VERSION_4_3 = 7, 30
TRANSACTION_VERSION = "transaction.version"
NEWEST_TRANSACTION_VERSION = 2
SUPPORTED = [
    SupportedFeatureKey(name=METADATA_VERSION, min_version=OLDEST_METADATA_VERSION, max_version=METADATA_VERSION_4_3),
    SupportedFeatureKey(name=TRANSACTION_VERSION, min_version=0, max_version=NEWEST_TRANSACTION_VERSION),
]
FEATURES_FROM_ZERO = 4  # older versions leave out features whose lowest level is 0 (KAFKA-17011)
_SOFTWARE = re.compile(r"[a-zA-Z0-9](?:[a-zA-Z0-9\-.]*[a-zA-Z0-9])?")


@handles(API_VERSIONS)
def api_versions(request: ApiVersionsRequest, context: Context) -> ApiVersionsResponse:
    """Lists the APIs, and remembers the client's software."""
    if context.version >= 3:
        named = (request.client_software_name, request.client_software_version)
        if not all(_SOFTWARE.fullmatch(text) for text in named):
            return ApiVersionsResponse(error_code=ErrorCode.INVALID_REQUEST, api_keys=[])
        context.connection.software_name, context.connection.software_version = named
    return ApiVersionsResponse(
        api_keys=[_served(key) for key in sorted(HANDLERS)],
        supported_features=[feature for feature in SUPPORTED if feature.min_version or context.version >= FEATURES_FROM_ZERO],
        finalized_features_epoch=0,
        finalized_features=_finalized(context.broker.cluster),
    )


def _finalized(cluster: ClusterState) -> list[FinalizedFeatureKey]:
    """A feature at level 0 is not there. By transaction.version 2 clients know that they may use transactions v2 (KIP-890)."""
    levels = {METADATA_VERSION: METADATA_VERSION_4_3, TRANSACTION_VERSION: cluster.transaction_version}
    return [FinalizedFeatureKey(name=name, max_version_level=level, min_version_level=level) for name, level in levels.items() if level]


def _served(key: int) -> ApiVersion:
    """Produce is announced from 0 on, served from 3 on: without it librdkafka before 2.11.1 does not compress (KAFKA-18659)."""
    first, last = HANDLERS[key].api.versions
    return ApiVersion(api_key=key, min_version=0 if key == PRODUCE.key else first, max_version=last)


def unsupported_version() -> ApiVersionsResponse:
    """What an ApiVersions request of an unknown version is answered, in version 0 (KIP-511)."""
    return ApiVersionsResponse(error_code=ErrorCode.UNSUPPORTED_VERSION, api_keys=[_served(API_VERSIONS.key)])
