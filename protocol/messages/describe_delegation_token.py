"""DescribeDelegationToken (41): lists the delegation tokens of some owners, or all (KIP-48).

v2 added the flexible encoding, v3 the principal that requested the token (KIP-373).
"""

from __future__ import annotations

from ..schema import Api, Int16, Int32, Int64, Message, field, versions


class DescribeDelegationTokenRequest(Message):
    flexible_from = 2
    owners: list[DescribeDelegationTokenOwner] | None


class DescribeDelegationTokenOwner(Message):
    principal_type: str
    principal_name: str


class DescribeDelegationTokenResponse(Message):
    flexible_from = 2
    error_code: Int16 = 0
    tokens: list[DescribedDelegationToken]
    throttle_time_ms: Int32 = 0


class DescribedDelegationToken(Message):
    principal_type: str
    principal_name: str
    token_requester_principal_type: str = field(since=3, default="")
    token_requester_principal_name: str = field(since=3, default="")
    issue_timestamp: Int64
    expiry_timestamp: Int64
    max_timestamp: Int64
    token_id: str
    hmac: bytes
    renewers: list[DescribedDelegationTokenRenewer]


class DescribedDelegationTokenRenewer(Message):
    principal_type: str
    principal_name: str


DESCRIBE_DELEGATION_TOKEN = Api(41, versions(1, 3), DescribeDelegationTokenRequest, DescribeDelegationTokenResponse, 0)
