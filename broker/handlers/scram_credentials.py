"""AlterUserScramCredentials and DescribeUserScramCredentials: credentials are kept and told, though no listener asks for them yet."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import NamedTuple

from ...protocol.errors import ErrorCode, KafkaError, shortened
from ...protocol.messages.alter_user_scram_credentials import (
    ALTER_USER_SCRAM_CREDENTIALS,
    AlterUserScramCredentialsRequest,
    AlterUserScramCredentialsResponse,
    AlterUserScramCredentialsResult,
    ScramCredentialDeletion,
    ScramCredentialUpsertion,
)
from ...protocol.messages.describe_user_scram_credentials import (
    DESCRIBE_USER_SCRAM_CREDENTIALS,
    CredentialInfo,
    DescribeUserScramCredentialsRequest,
    DescribeUserScramCredentialsResponse,
    DescribeUserScramCredentialsResult,
)
from ..cluster.state import ScramCredential
from ..context import Context
from ..registry import handles
from ..security.acls import Operation, ResourceType

MAX_ITERATIONS = 16384


class Mechanism(NamedTuple):
    """A SCRAM mechanism that Kafka knows."""

    name: str
    min_iterations: int


MECHANISMS = {1: Mechanism("SCRAM-SHA-256", 4096), 2: Mechanism("SCRAM-SHA-512", 4096)}


@handles(ALTER_USER_SCRAM_CREDENTIALS)
def alter_user_scram_credentials(request: AlterUserScramCredentialsRequest, context: Context) -> AlterUserScramCredentialsResponse:
    """Every user for himself; one that is named twice is refused."""
    context.demand(Operation.ALTER)
    wanted: list[ScramCredentialDeletion | ScramCredentialUpsertion] = [*request.deletions, *request.upsertions]
    named = Counter(change.name for change in wanted)
    results = {}
    for change in wanted:
        code, message = ErrorCode.NONE, None
        try:
            _check(change)
            if named[change.name] > 1:
                raise KafkaError(ErrorCode.DUPLICATE_RESOURCE, "A user credential cannot be altered twice in the same request")
            _change(change, context.cluster.scram_credentials)
        except KafkaError as error:
            code, message = error.code, error.message
        results[change.name] = AlterUserScramCredentialsResult(user=change.name, error_code=code, error_message=message)
    return AlterUserScramCredentialsResponse(results=list(results.values()))


def _check(change: ScramCredentialDeletion | ScramCredentialUpsertion) -> None:
    mechanism = MECHANISMS.get(change.mechanism)
    if not change.name:
        raise KafkaError(ErrorCode.UNACCEPTABLE_CREDENTIAL, "Username must not be empty")
    if mechanism is None:
        raise KafkaError(ErrorCode.UNSUPPORTED_SASL_MECHANISM, "Unknown SCRAM mechanism")
    if isinstance(change, ScramCredentialDeletion):
        return
    if change.iterations < mechanism.min_iterations:
        raise KafkaError(ErrorCode.UNACCEPTABLE_CREDENTIAL, "Too few iterations")
    if change.iterations > MAX_ITERATIONS:
        raise KafkaError(ErrorCode.UNACCEPTABLE_CREDENTIAL, "Too many iterations")


def _change(change: ScramCredentialDeletion | ScramCredentialUpsertion, users: dict[str, dict[int, ScramCredential]]) -> None:
    if isinstance(change, ScramCredentialDeletion):
        if users.get(change.name, {}).pop(change.mechanism, None) is None:
            raise KafkaError(ErrorCode.RESOURCE_NOT_FOUND, "Attempt to delete a user credential that does not exist")
        return
    credential = ScramCredential(change.iterations, change.salt, change.salted_password)
    users.setdefault(change.name, {})[change.mechanism] = credential


@handles(DESCRIBE_USER_SCRAM_CREDENTIALS)
def describe_user_scram_credentials(request: DescribeUserScramCredentialsRequest, context: Context) -> DescribeUserScramCredentialsResponse:
    """Mechanisms and iterations, never the secrets; RESOURCE_NOT_FOUND for users that have none."""
    if not context.may(Operation.DESCRIBE, ResourceType.CLUSTER):
        raise KafkaError(ErrorCode.CLUSTER_AUTHORIZATION_FAILED)
    users = context.cluster.scram_credentials
    named = Counter(user.name for user in request.users or []) or Counter(name for name, credentials in users.items() if credentials)
    results = [_describe(name, times > 1, users.get(name, {})) for name, times in sorted(named.items())]
    return DescribeUserScramCredentialsResponse(error_message="", results=results)


def _describe(name: str, twice: bool, credentials: Mapping[int, ScramCredential]) -> DescribeUserScramCredentialsResult:
    result = DescribeUserScramCredentialsResult(user=name, error_message="", credential_infos=[])
    if twice:
        result.error_code = ErrorCode.DUPLICATE_RESOURCE
        result.error_message = shortened(f"Cannot describe SCRAM credentials for the same user twice in a single request: {name}")
    elif not credentials:
        result.error_code = ErrorCode.RESOURCE_NOT_FOUND
        result.error_message = shortened(f"Attempt to describe a user credential that does not exist: {name}")
    else:
        result.credential_infos = [CredentialInfo(mechanism=key, iterations=value.iterations) for key, value in sorted(credentials.items())]
    return result
