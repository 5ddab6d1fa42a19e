"""DescribeConfigs (32): returns the settings of resources: topics, brokers, groups and others.

v1 added synonyms, v3 types and documentation (KIP-569), v4 the flexible encoding.
"""

from __future__ import annotations

from ..schema import Api, Int8, Int16, Int32, Message, field, versions


class DescribeConfigsRequest(Message):
    flexible_from = 4
    resources: list[DescribeConfigsResource]
    include_synonyms: bool = field(since=1, default=False)
    include_documentation: bool = field(since=3, default=False)


class DescribeConfigsResource(Message):
    resource_type: Int8
    resource_name: str
    configuration_keys: list[str] | None


class DescribeConfigsResponse(Message):
    flexible_from = 4
    throttle_time_ms: Int32 = 0
    results: list[DescribeConfigsResult]


class DescribeConfigsResult(Message):
    error_code: Int16 = 0
    error_message: str | None
    resource_type: Int8
    resource_name: str
    configs: list[DescribeConfigsResourceResult]


class DescribeConfigsResourceResult(Message):
    name: str
    value: str | None
    read_only: bool
    is_default: bool = field(until=0, default=False)
    config_source: Int8 = field(since=1, default=-1)
    is_sensitive: bool
    synonyms: list[DescribeConfigsSynonym] = field(since=1, default_factory=list)
    config_type: Int8 = field(since=3, default=0)
    documentation: str | None = field(since=3, default=None)


class DescribeConfigsSynonym(Message):
    name: str
    value: str | None
    source: Int8


DESCRIBE_CONFIGS = Api(32, versions(1, 4), DescribeConfigsRequest, DescribeConfigsResponse, 0)
