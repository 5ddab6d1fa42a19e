"""ApiVersions: the versions of each API and the features of the cluster."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cache
from typing import TYPE_CHECKING

from ...protocol.errors import ErrorCode
from ...protocol.messages.api_versions import (
    API_VERSIONS,
    ApiVersion,
    ApiVersionsRequest,
    ApiVersionsResponse,
    FinalizedFeatureKey,
    SupportedFeatureKey,
)
from ...protocol.schema import Versions
from ...protocol.served_apis import SERVED
from ..api.context import Context
from ..api.registry import handles
from ..cluster.features import Features
from ..settings.types import JMX_REPORTER

if TYPE_CHECKING:
    from ..cluster.state import ClusterState

PRODUCE = 0
TELEMETRY = (71, 72)
"""GetTelemetrySubscriptions and PushTelemetry. Like Kafka, the broker lists them only with a metrics reporter that receives client
telemetry (KIP-714), so that clients collect no metrics otherwise."""
NO_EPOCH = -1
FEATURES_SINCE = (2, 7)
NAMES_ITS_VERSIONS_SINCE = (2, 4)
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
    features = context.cluster.features
    return ApiVersionsResponse(
        api_keys=_served_versions(context),
        supported_features=[
            SupportedFeatureKey(name=name, min_version=lowest, max_version=highest)
            for name, (lowest, highest) in features.supported.items()
            if lowest > 0 or context.version >= LEVEL_ZERO_SINCE
        ],
        finalized_features_epoch=_features_epoch(context.cluster),
        finalized_features=_finalized_features(features),
    )


def _features_epoch(cluster: ClusterState) -> int:
    """Returns the version of the finalized features; with ZooKeeper it is 0, because there are none to change.

    Kafka returns the end of the metadata log. Its no-op records are left out, so that a seeded cluster answers the same in each run.
    """
    if cluster.features.supported:
        return cluster.metadata_log.changes
    return 0 if cluster.release is not None and cluster.release.number >= FEATURES_SINCE else NO_EPOCH


def _finalized_features(features: Features) -> list[FinalizedFeatureKey]:
    """Returns the features above level 0. From transaction.version 2 on, clients use transactions v2 (KIP-890)."""
    levels = features.levels.items()
    return [FinalizedFeatureKey(name=name, max_version_level=level, min_version_level=level) for name, level in levels if level]


def _served_versions(context: Context) -> list[ApiVersion]:
    """Returns an entry for each API of the emulated release.

    Kafka 4.3 lists Produce from version 0 on, although versions 0 to 2 are not served, because librdkafka before 2.11.1 otherwise sends no
    compressed batches (KAFKA-18659). So does 4.0.
    """
    release = context.cluster.release
    receives_telemetry = any(name not in ("", JMX_REPORTER) for name in context.broker.config.lists["metric.reporters"])
    return _present_versions(receives_telemetry) if release is None else _list_versions(release.versions, receives_telemetry)


@cache
def _present_versions(receives_telemetry: bool) -> list[ApiVersion]:
    """Returns the entries of the latest release, which every client asks for with each connection."""
    return _list_versions({key: Versions(first, last) for key, (_, first, last) in SERVED.items()}, receives_telemetry)


def _list_versions(ranges: Mapping[int, Versions], receives_telemetry: bool) -> list[ApiVersion]:
    return [
        ApiVersion(api_key=key, min_version=0 if key == PRODUCE else first, max_version=last)
        for key, (first, last) in ranges.items()
        if receives_telemetry or key not in TELEMETRY
    ]


def unsupported_version(cluster: ClusterState) -> ApiVersionsResponse:
    """Returns the version 0 response to an ApiVersions request of an unknown version.

    From 2.4 on it contains the versions of ApiVersions itself, so that the client need not guess one (KIP-511).
    """
    answer = ApiVersionsResponse(error_code=ErrorCode.UNSUPPORTED_VERSION, api_keys=[])
    if cluster.release is None or cluster.release.number >= NAMES_ITS_VERSIONS_SINCE:
        first, last = cluster.serves(API_VERSIONS)
        answer.api_keys = [ApiVersion(api_key=API_VERSIONS.key, min_version=first, max_version=last)]
    return answer
