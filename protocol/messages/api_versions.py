"""ApiVersions (18): returns the APIs and versions that a broker serves, and the features of the cluster.

v3 added the flexible encoding, the client's software (KIP-511) and features (KIP-584), v4 allows features whose lowest version is 0.
The response header is v0 in every version.
"""

from __future__ import annotations

from ..schema import Api, Int16, Int32, Int64, Message, field, versions


class ApiVersionsRequest(Message):
    flexible_from = 3
    client_software_name: str = field(since=3, default="")
    client_software_version: str = field(since=3, default="")


class ApiVersionsResponse(Message):
    flexible_from = 3
    error_code: Int16 = 0
    api_keys: list[ApiVersion]
    throttle_time_ms: Int32 = field(since=1, default=0)
    supported_features: list[SupportedFeatureKey] = field(since=3, tag=0, default_factory=list)
    finalized_features_epoch: Int64 = field(since=3, tag=1, default=-1)
    finalized_features: list[FinalizedFeatureKey] = field(since=3, tag=2, default_factory=list)
    zk_migration_ready: bool = field(since=3, tag=3, default=False)


class ApiVersion(Message):
    api_key: Int16
    min_version: Int16
    max_version: Int16


class SupportedFeatureKey(Message):
    name: str
    min_version: Int16
    max_version: Int16


class FinalizedFeatureKey(Message):
    name: str
    max_version_level: Int16
    min_version_level: Int16


API_VERSIONS = Api(18, versions(0, 4), ApiVersionsRequest, ApiVersionsResponse)
