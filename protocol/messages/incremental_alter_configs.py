"""IncrementalAlterConfigs (44): sets, appends to, subtracts from and deletes single settings of resources (KIP-339).

v1 added the flexible encoding.
"""

from __future__ import annotations

from ..schema import Api, Int8, Int16, Int32, Message, versions


class IncrementalAlterConfigsRequest(Message):
    flexible_from = 1
    resources: list[AlterConfigsResource]
    validate_only: bool


class AlterConfigsResource(Message):
    resource_type: Int8
    resource_name: str
    configs: list[AlterableConfig]


class AlterableConfig(Message):
    name: str
    config_operation: Int8
    value: str | None


class IncrementalAlterConfigsResponse(Message):
    flexible_from = 1
    throttle_time_ms: Int32 = 0
    responses: list[AlterConfigsResourceResponse]


class AlterConfigsResourceResponse(Message):
    error_code: Int16 = 0
    error_message: str | None
    resource_type: Int8
    resource_name: str


INCREMENTAL_ALTER_CONFIGS = Api(44, versions(0, 1), IncrementalAlterConfigsRequest, IncrementalAlterConfigsResponse)
