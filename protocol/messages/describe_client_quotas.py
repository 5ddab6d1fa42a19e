"""DescribeClientQuotas (48): returns the quotas of users, client ids and addresses (KIP-546).

v1 added the flexible encoding.
"""

from __future__ import annotations

from ..schema import Api, Float64, Int8, Int16, Int32, Message, versions


class DescribeClientQuotasRequest(Message):
    flexible_from = 1
    components: list[ComponentData]
    strict: bool


class ComponentData(Message):
    entity_type: str
    match_type: Int8
    match: str | None


class DescribeClientQuotasResponse(Message):
    flexible_from = 1
    throttle_time_ms: Int32 = 0
    error_code: Int16 = 0
    error_message: str | None
    entries: list[EntryData] | None


class EntryData(Message):
    entity: list[EntityData]
    values: list[ValueData]


class EntityData(Message):
    entity_type: str
    entity_name: str | None


class ValueData(Message):
    key: str
    value: Float64


DESCRIBE_CLIENT_QUOTAS = Api(48, versions(0, 1), DescribeClientQuotasRequest, DescribeClientQuotasResponse)
