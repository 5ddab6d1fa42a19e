"""DescribeUserScramCredentials: no user has any."""

from __future__ import annotations

from ...protocol.errors import ErrorCode
from ...protocol.messages.describe_user_scram_credentials import (
    DESCRIBE_USER_SCRAM_CREDENTIALS,
    DescribeUserScramCredentialsRequest,
    DescribeUserScramCredentialsResponse,
    DescribeUserScramCredentialsResult,
)
from ..context import Context
from .registry import handles


@handles(DESCRIBE_USER_SCRAM_CREDENTIALS)
def describe_user_scram_credentials(request: DescribeUserScramCredentialsRequest, context: Context) -> DescribeUserScramCredentialsResponse:
    """RESOURCE_NOT_FOUND for each user that was named."""
    names = [user.name for user in request.users or []]
    results = []
    for name in sorted(set(names)):
        code, message = ErrorCode.RESOURCE_NOT_FOUND, f"Attempt to describe a user credential that does not exist: {name}"
        if names.count(name) > 1:
            code = ErrorCode.DUPLICATE_RESOURCE
            message = f"Cannot describe SCRAM credentials for the same user twice in a single request: {name}"
        results.append(DescribeUserScramCredentialsResult(user=name, error_code=code, error_message=message, credential_infos=[]))
    return DescribeUserScramCredentialsResponse(error_message="", results=results)
