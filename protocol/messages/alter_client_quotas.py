"""AlterClientQuotas (49): sets and removes the quotas of users, client ids and addresses (KIP-546).

v1 added the flexible encoding.
"""

from __future__ import annotations

from ..schema import Api, Float64, Int16, Int32, Message, versions


class AlterClientQuotasRequest(Message):
    flexible_from = 1
    entries: list[EntryData]
    validate_only: bool


class EntryData(Message):
    entity: list[EntityData]
    ops: list[OpData]


class EntityData(Message):
    entity_type: str
    entity_name: str | None


class OpData(Message):
    key: str
    value: Float64
    remove: bool


class AlterClientQuotasResponse(Message):
    flexible_from = 1
    throttle_time_ms: Int32 = 0
    entries: list[EntryResponseData]


class EntryResponseData(Message):
    error_code: Int16 = 0
    error_message: str | None
    entity: list[EntityData]


ALTER_CLIENT_QUOTAS = Api(49, versions(0, 1), AlterClientQuotasRequest, AlterClientQuotasResponse)
