"""ApiVersions: the versions of each API and the features of the cluster."""

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
from ...protocol.served_apis import SERVED
from ..cluster.features import SUPPORTED, Features
from ..context import Context
from ..registry import handles
from ..settings.rows import JMX_REPORTER
from ..settings.values import BrokerConfig

PRODUCE = 0
TELEMETRY = (71, 72)
"""GetTelemetrySubscriptions and PushTelemetry. Like Kafka, the broker lists them only with a metrics reporter that receives client telemetry
(KIP-714), so that clients collect no metrics otherwise."""
LEVEL_ZERO_SINCE = 4
"""The first version that lists features whose lowest level is 0, because older clients fail on them (KAFKA-17011)."""
_SOFTWARE = re.compile(r"[a-zA-Z0-9](?:[a-zA-Z0-9\-.]*[a-zA-Z0-9])?")


@handles(API_VERSIONS)
def api_versions(request: ApiVersionsRequest, context: Context) -> ApiVersionsResponse:
    """Returns INVALID_REQUEST if the name or version of the client software is malformed (KIP-511)."""
    if context.version >= 3:
        named = (request.client_software_name, request.client_software_version)
        if not all(_SOFTWARE.fullmatch(text) for text in named):
            return ApiVersionsResponse(error_code=ErrorCode.INVALID_REQUEST, api_keys=[])
        context.client.software_name, context.client.software_version = named
    return ApiVersionsResponse(
        api_keys=[_served(key) for key in SERVED if key not in TELEMETRY or _receives_telemetry(context.broker.config)],
        supported_features=[
            SupportedFeatureKey(name=name, min_version=lowest, max_version=highest)
            for name, (lowest, highest) in SUPPORTED.items()
            if lowest > 0 or context.version >= LEVEL_ZERO_SINCE
        ],
        finalized_features_epoch=context.cluster.metadata_log.end_offset,
        finalized_features=_finalized(context.cluster.features),
    )


def _finalized(features: Features) -> list[FinalizedFeatureKey]:
    """Returns the features above level 0. From transaction.version 2 on, clients use transactions v2 (KIP-890)."""
    levels = features.levels.items()
    return [FinalizedFeatureKey(name=name, max_version_level=level, min_version_level=level) for name, level in levels if level]


def _receives_telemetry(config: BrokerConfig) -> bool:
    return any(reporter not in ("", JMX_REPORTER) for reporter in config.lists["metric.reporters"])


def _served(key: int) -> ApiVersion:
    """Returns the entry of an API.

    Produce is listed from version 0 on, although versions 0 to 2 are not served, because librdkafka before 2.11.1 otherwise sends no
    compressed batches (KAFKA-18659).
    """
    _, first, last = SERVED[key]
    return ApiVersion(api_key=key, min_version=0 if key == PRODUCE else first, max_version=last)


def unsupported_version() -> ApiVersionsResponse:
    """Returns the version 0 response to an ApiVersions request of an unknown version (KIP-511)."""
    return ApiVersionsResponse(error_code=ErrorCode.UNSUPPORTED_VERSION, api_keys=[_served(API_VERSIONS.key)])
