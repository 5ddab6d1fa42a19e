"""DescribeUserScramCredentials (50): returns the SCRAM mechanisms and iterations of users (KIP-554).

There is one version so far.
"""

from __future__ import annotations

from ..schema import Api, Int8, Int16, Int32, Message, versions


class DescribeUserScramCredentialsRequest(Message):
    flexible_from = 0
    users: list[UserName] | None


class UserName(Message):
    name: str


class DescribeUserScramCredentialsResponse(Message):
    flexible_from = 0
    throttle_time_ms: Int32 = 0
    error_code: Int16 = 0
    error_message: str | None
    results: list[DescribeUserScramCredentialsResult]


class DescribeUserScramCredentialsResult(Message):
    user: str
    error_code: Int16 = 0
    error_message: str | None
    credential_infos: list[CredentialInfo]


class CredentialInfo(Message):
    mechanism: Int8
    iterations: Int32


DESCRIBE_USER_SCRAM_CREDENTIALS = Api(50, versions(0, 0), DescribeUserScramCredentialsRequest, DescribeUserScramCredentialsResponse)
