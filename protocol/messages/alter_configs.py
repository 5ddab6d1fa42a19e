"""AlterConfigs (33): replaces all settings of resources. IncrementalAlterConfigs is its successor.

v2 added the flexible encoding.
"""

from __future__ import annotations

from ..schema import Api, Int8, Int16, Int32, Message, versions


class AlterConfigsRequest(Message):
    flexible_from = 2
    resources: list[AlterConfigsResource]
    validate_only: bool


class AlterConfigsResource(Message):
    resource_type: Int8
    resource_name: str
    configs: list[AlterableConfig]


class AlterableConfig(Message):
    name: str
    value: str | None


class AlterConfigsResponse(Message):
    flexible_from = 2
    throttle_time_ms: Int32 = 0
    responses: list[AlterConfigsResourceResponse]


class AlterConfigsResourceResponse(Message):
    error_code: Int16 = 0
    error_message: str | None
    resource_type: Int8
    resource_name: str


ALTER_CONFIGS = Api(33, versions(0, 2), AlterConfigsRequest, AlterConfigsResponse)
