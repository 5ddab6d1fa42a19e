"""CreateDelegationToken (38): creates a token with which a client authenticates as the token's owner (KIP-48).

v2 added the flexible encoding, v3 tokens for another owner (KIP-373).
"""

from __future__ import annotations

from ..schema import Api, Int16, Int32, Int64, Message, field, versions


class CreateDelegationTokenRequest(Message):
    flexible_from = 2
    owner_principal_type: str | None = field(since=3, default=None)
    owner_principal_name: str | None = field(since=3, default=None)
    renewers: list[CreatableRenewers]
    max_lifetime_ms: Int64


class CreatableRenewers(Message):
    principal_type: str
    principal_name: str


class CreateDelegationTokenResponse(Message):
    flexible_from = 2
    error_code: Int16 = 0
    principal_type: str
    principal_name: str
    token_requester_principal_type: str = field(since=3, default="")
    token_requester_principal_name: str = field(since=3, default="")
    issue_timestamp_ms: Int64
    expiry_timestamp_ms: Int64
    max_timestamp_ms: Int64
    token_id: str
    hmac: bytes
    throttle_time_ms: Int32 = 0


CREATE_DELEGATION_TOKEN = Api(38, versions(1, 3), CreateDelegationTokenRequest, CreateDelegationTokenResponse, 0)
