"""The APIs of delegation tokens (KIP-48). `security/delegation_tokens.py` keeps the tokens.

A client that is not authenticated, or that has authenticated with a token, may not use them.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from ...protocol.errors import ErrorCode, KafkaError
from ...protocol.messages.create_delegation_token import (
    CREATE_DELEGATION_TOKEN,
    CreateDelegationTokenRequest,
    CreateDelegationTokenResponse,
)
from ...protocol.messages.describe_delegation_token import (
    DESCRIBE_DELEGATION_TOKEN,
    DescribedDelegationToken,
    DescribedDelegationTokenRenewer,
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
from ..api.context import Context
from ..api.registry import handles
from ..security.acls import ANONYMOUS, Operation, ResourceType
from ..security.delegation_tokens import DelegationToken, DelegationTokens

R = TypeVar("R")
NO_TIME = -1
NOT_ALLOWED = ErrorCode.DELEGATION_TOKEN_REQUEST_NOT_ALLOWED


@handles(CREATE_DELEGATION_TOKEN)
def create_delegation_token(request: CreateDelegationTokenRequest, context: Context) -> CreateDelegationTokenResponse:
    """Creates a token for the client or, if it has the right CREATE_TOKENS for that user, for another user."""
    requester = owner = context.client.principal
    if request.owner_principal_type and request.owner_principal_name:
        owner = f"{request.owner_principal_type}:{request.owner_principal_name}"
    token, code = None, ErrorCode.NONE
    try:
        if not _is_allowed(context):
            raise KafkaError(NOT_ALLOWED)
        if owner != requester and not context.may(Operation.CREATE_TOKENS, ResourceType.USER, owner):
            raise KafkaError(ErrorCode.DELEGATION_TOKEN_AUTHORIZATION_FAILED)
        renewers = [f"{each.principal_type}:{each.principal_name}" for each in request.renewers]
        token = context.cluster.accounts.tokens.create(owner, requester, renewers, request.max_lifetime_ms)
    except KafkaError as error:
        code = error.code
    owner_type, _, owner_name = owner.partition(":")
    requester_type, _, requester_name = requester.partition(":")
    return CreateDelegationTokenResponse(
        error_code=code,
        principal_type=owner_type,
        principal_name=owner_name,
        token_requester_principal_type=requester_type,
        token_requester_principal_name=requester_name,
        issue_timestamp_ms=token.issue_ms if token else NO_TIME,
        expiry_timestamp_ms=token.expiry_ms if token else NO_TIME,
        max_timestamp_ms=token.max_ms if token else NO_TIME,
        token_id=token.token_id if token else "",
        hmac=token.hmac if token else b"",
    )


@handles(RENEW_DELEGATION_TOKEN)
def renew_delegation_token(request: RenewDelegationTokenRequest, context: Context) -> RenewDelegationTokenResponse:
    """Prolongs a token."""
    return _change_expiry(
        RenewDelegationTokenResponse, context, lambda tokens, user: tokens.renew(request.hmac, user, request.renew_period_ms)
    )


@handles(EXPIRE_DELEGATION_TOKEN)
def expire_delegation_token(request: ExpireDelegationTokenRequest, context: Context) -> ExpireDelegationTokenResponse:
    """Lets a token expire, at once or later."""
    period_ms = request.expiry_time_period_ms
    return _change_expiry(ExpireDelegationTokenResponse, context, lambda tokens, user: tokens.expire(request.hmac, user, period_ms))


def _change_expiry(response: Callable[..., R], context: Context, change: Callable[[DelegationTokens, str], int]) -> R:
    """Returns the response with the new expiry. `change` gets the tokens and the principal of the client, and may raise KafkaError."""
    if not _is_allowed(context):
        return response(error_code=NOT_ALLOWED, expiry_timestamp_ms=NO_TIME)
    try:
        return response(expiry_timestamp_ms=change(context.cluster.accounts.tokens, context.client.principal))
    except KafkaError as error:
        return response(error_code=error.code, expiry_timestamp_ms=0)


@handles(DESCRIBE_DELEGATION_TOKEN)
def describe_delegation_token(request: DescribeDelegationTokenRequest, context: Context) -> DescribeDelegationTokenResponse:
    """Returns the tokens of the requested principals, or of all with null, that the client may see."""
    if not _is_allowed(context):
        return DescribeDelegationTokenResponse(error_code=NOT_ALLOWED, tokens=[])
    try:
        tokens = list(context.cluster.accounts.tokens)
    except KafkaError as error:
        return DescribeDelegationTokenResponse(error_code=error.code, tokens=[])
    if request.owners is not None:
        owners = [f"{each.principal_type}:{each.principal_name}" for each in request.owners]
        tokens = [token for token in tokens if any(token.belongs_to(owner) for owner in owners)]
    return DescribeDelegationTokenResponse(tokens=[_describe(token) for token in tokens if _may_see(token, context)])


def _is_allowed(context: Context) -> bool:
    """Returns whether the client may use tokens."""
    return not context.client.by_token and context.client.principal != ANONYMOUS


def _may_see(token: DelegationToken, context: Context) -> bool:
    return (
        token.belongs_to(context.client.principal)
        or context.may(Operation.DESCRIBE, ResourceType.DELEGATION_TOKEN, token.token_id)
        or context.may(Operation.DESCRIBE_TOKENS, ResourceType.USER, token.owner)
    )


def _describe(token: DelegationToken) -> DescribedDelegationToken:
    owner_type, _, owner_name = token.owner.partition(":")
    requester_type, _, requester_name = token.requester.partition(":")
    renewers = (renewer.partition(":") for renewer in token.renewers)
    return DescribedDelegationToken(
        principal_type=owner_type,
        principal_name=owner_name,
        token_requester_principal_type=requester_type,
        token_requester_principal_name=requester_name,
        issue_timestamp=token.issue_ms,
        expiry_timestamp=token.expiry_ms,
        max_timestamp=token.max_ms,
        token_id=token.token_id,
        hmac=token.hmac,
        renewers=[DescribedDelegationTokenRenewer(principal_type=kind, principal_name=name) for kind, _, name in renewers],
    )
