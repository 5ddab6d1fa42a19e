"""The APIs of delegation tokens (KIP-48).

Kafka rejects them on listeners that do not authenticate clients. No listener authenticates clients yet, so all requests are rejected.
"""

from __future__ import annotations

from ...protocol.errors import ErrorCode
from ...protocol.messages.create_delegation_token import (
    CREATE_DELEGATION_TOKEN,
    CreateDelegationTokenRequest,
    CreateDelegationTokenResponse,
)
from ...protocol.messages.describe_delegation_token import (
    DESCRIBE_DELEGATION_TOKEN,
    DescribeDelegationTokenRequest,
    DescribeDelegationTokenResponse,
)
from ...protocol.messages.expire_delegation_token import (
    EXPIRE_DELEGATION_TOKEN,
    ExpireDelegationTokenRequest,
    ExpireDelegationTokenResponse,
)
from ...protocol.messages.renew_delegation_token import (
    RENEW_DELEGATION_TOKEN,
    RenewDelegationTokenRequest,
    RenewDelegationTokenResponse,
)
from ..context import Context
from ..registry import handles

NO_TIME = -1
NOT_ALLOWED = ErrorCode.DELEGATION_TOKEN_REQUEST_NOT_ALLOWED


@handles(CREATE_DELEGATION_TOKEN)
def create_delegation_token(request: CreateDelegationTokenRequest, context: Context) -> CreateDelegationTokenResponse:
    """Always returns DELEGATION_TOKEN_REQUEST_NOT_ALLOWED, with the principals that the token would have, as Kafka does."""
    requester_type, _, requester = context.client.principal.partition(":")
    owner_type, owner_name = request.owner_principal_type, request.owner_principal_name
    if not (owner_type and owner_name):
        owner_type, owner_name = requester_type, requester
    return CreateDelegationTokenResponse(
        error_code=NOT_ALLOWED,
        principal_type=owner_type,
        principal_name=owner_name,
        token_requester_principal_type=requester_type,
        token_requester_principal_name=requester,
        issue_timestamp_ms=NO_TIME,
        expiry_timestamp_ms=NO_TIME,
        max_timestamp_ms=NO_TIME,
        token_id="",
        hmac=b"",
    )


@handles(RENEW_DELEGATION_TOKEN)
def renew_delegation_token(request: RenewDelegationTokenRequest, context: Context) -> RenewDelegationTokenResponse:
    """Always returns DELEGATION_TOKEN_REQUEST_NOT_ALLOWED."""
    return RenewDelegationTokenResponse(error_code=NOT_ALLOWED, expiry_timestamp_ms=NO_TIME)


@handles(EXPIRE_DELEGATION_TOKEN)
def expire_delegation_token(request: ExpireDelegationTokenRequest, context: Context) -> ExpireDelegationTokenResponse:
    """Always returns DELEGATION_TOKEN_REQUEST_NOT_ALLOWED."""
    return ExpireDelegationTokenResponse(error_code=NOT_ALLOWED, expiry_timestamp_ms=NO_TIME)


@handles(DESCRIBE_DELEGATION_TOKEN)
def describe_delegation_token(request: DescribeDelegationTokenRequest, context: Context) -> DescribeDelegationTokenResponse:
    """Always returns DELEGATION_TOKEN_REQUEST_NOT_ALLOWED."""
    return DescribeDelegationTokenResponse(error_code=NOT_ALLOWED, tokens=[])
