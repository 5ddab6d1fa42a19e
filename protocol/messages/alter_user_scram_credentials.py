"""AlterUserScramCredentials (51): sets and deletes the SCRAM credentials of users (KIP-554).

There is one version so far.
"""

from __future__ import annotations

from ..schema import Api, Int8, Int16, Int32, Message, versions


class AlterUserScramCredentialsRequest(Message):
    flexible_from = 0
    deletions: list[ScramCredentialDeletion]
    upsertions: list[ScramCredentialUpsertion]


class ScramCredentialDeletion(Message):
    name: str
    mechanism: Int8


class ScramCredentialUpsertion(Message):
    name: str
    mechanism: Int8
    iterations: Int32
    salt: bytes
    salted_password: bytes


class AlterUserScramCredentialsResponse(Message):
    flexible_from = 0
    throttle_time_ms: Int32 = 0
    results: list[AlterUserScramCredentialsResult]


class AlterUserScramCredentialsResult(Message):
    user: str
    error_code: Int16 = 0
    error_message: str | None


ALTER_USER_SCRAM_CREDENTIALS = Api(51, versions(0, 0), AlterUserScramCredentialsRequest, AlterUserScramCredentialsResponse)
