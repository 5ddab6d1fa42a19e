"""ListConfigResources (74): lists the resources that have settings.

v0 lists client metrics only (KIP-714); v1 added the other resource types (KIP-1142).
"""

from __future__ import annotations

from ..schema import Api, Int8, Int16, Int32, Message, field, versions


class ListConfigResourcesRequest(Message):
    flexible_from = 0
    resource_types: list[Int8] = field(since=1, default_factory=list)


class ListConfigResourcesResponse(Message):
    flexible_from = 0
    throttle_time_ms: Int32 = 0
    error_code: Int16 = 0
    config_resources: list[ConfigResource]


class ConfigResource(Message):
    resource_name: str
    resource_type: Int8 = field(since=1, default=16)


LIST_CONFIG_RESOURCES = Api(74, versions(0, 1), ListConfigResourcesRequest, ListConfigResourcesResponse)
