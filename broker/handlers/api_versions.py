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

FEATURES = {"group.version": (0, 1), "metadata.version": (7, 30), "transaction.version": (0, 2)}
"""What Kafka 4.3 supports of what is emulated here: consumer groups (KIP-848), 4.3-IV0, transactions v2 (KIP-890)."""
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
        context.connection.software_name, context.connection.software_version = named
    return ApiVersionsResponse(
        api_keys=[_served(key) for key in sorted(HANDLERS)],
        supported_features=[
            SupportedFeatureKey(name=name, min_version=lowest, max_version=highest)
            for name, (lowest, highest) in FEATURES.items()
            if lowest > 0 or context.version >= OLDEST_WITH_ZERO
        ],
        finalized_features_epoch=0,
        finalized_features=_finalized(context.broker.cluster),
    )


def _finalized(cluster: ClusterState) -> list[FinalizedFeatureKey]:
    """A feature at level 0 is not there. By transaction.version 2 clients know that they may use transactions v2 (KIP-890)."""
    levels = {name: highest for name, (_, highest) in FEATURES.items()} | {"transaction.version": cluster.transaction_version}
    return [FinalizedFeatureKey(name=name, max_version_level=level, min_version_level=level) for name, level in levels.items() if level]


def _served(key: int) -> ApiVersion:
    """Produce is announced from 0 on, served from 3 on: without it librdkafka before 2.11.1 does not compress (KAFKA-18659)."""
    first, last = HANDLERS[key].api.versions
    return ApiVersion(api_key=key, min_version=0 if key == PRODUCE.key else first, max_version=last)


def unsupported_version() -> ApiVersionsResponse:
    """What an ApiVersions request of an unknown version is answered, in version 0 (KIP-511)."""
    return ApiVersionsResponse(error_code=ErrorCode.UNSUPPORTED_VERSION, api_keys=[_served(API_VERSIONS.key)])
