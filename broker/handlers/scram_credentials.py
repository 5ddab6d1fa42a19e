"""AlterUserScramCredentials and DescribeUserScramCredentials (KIP-554). `security/scram_credentials.py` stores the credentials."""

from __future__ import annotations

from collections import Counter
from collections.abc import Generator, Mapping

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
from ..context import Context
from ..registry import handles
from ..scheduling.waiting import Wait
from ..security.acls import Operation, ResourceType
from ..security.scram_credentials import MECHANISMS, ScramCredential, ScramCredentials, check_iterations, check_user
from ..slices import Slices, in_slices

Change = ScramCredentialDeletion | ScramCredentialUpsertion


@handles(ALTER_USER_SCRAM_CREDENTIALS)
def alter_user_scram_credentials(
    request: AlterUserScramCredentialsRequest, context: Context
) -> Generator[Wait, None, AlterUserScramCredentialsResponse]:
    """Alters each user independently of the others. A user that occurs twice in the request is refused."""
    context.demand(Operation.ALTER)
    context.demand_controller()
    wanted: list[Change] = [*request.deletions, *request.upsertions]
    occurrences = Counter(change.name for change in wanted)

    def alter(change: Change) -> AlterUserScramCredentialsResult:
        code, message = ErrorCode.NONE, None
        try:
            _check(change)
            if occurrences[change.name] > 1:
                raise KafkaError(ErrorCode.DUPLICATE_RESOURCE, "A user credential cannot be altered twice in the same request")
            _apply(change, context.cluster.accounts.scram_credentials)
        except KafkaError as error:
            code, message = error.code, error.message
        return AlterUserScramCredentialsResult(user=change.name, error_code=code, error_message=message)

    results = yield from in_slices(alter, wanted, Slices(), 6)
    return AlterUserScramCredentialsResponse(results=list({result.user: result for result in results}.values()))


def _check(change: Change) -> None:
    check_user(change.name, change.mechanism)
    if isinstance(change, ScramCredentialUpsertion):
        check_iterations(change.iterations)


def _apply(change: Change, credentials: ScramCredentials) -> None:
    if isinstance(change, ScramCredentialDeletion):
        credentials.delete(change.name, change.mechanism)
    else:
        mechanism = MECHANISMS[change.mechanism]
        credential = ScramCredential.of_salted(mechanism, change.iterations, change.salt, change.salted_password)
        credentials.set(change.name, change.mechanism, credential)


@handles(DESCRIBE_USER_SCRAM_CREDENTIALS)
def describe_user_scram_credentials(
    request: DescribeUserScramCredentialsRequest, context: Context
) -> Generator[Wait, None, DescribeUserScramCredentialsResponse]:
    """Describes the mechanisms and iterations, without the secrets, of the requested users or, with null, of all users."""
    if not context.may(Operation.DESCRIBE, ResourceType.CLUSTER):
        raise KafkaError(ErrorCode.CLUSTER_AUTHORIZATION_FAILED)
    credentials = context.cluster.accounts.scram_credentials
    occurrences = Counter(user.name for user in request.users or []) or Counter(credentials)
    named = sorted(occurrences.items())
    results = yield from in_slices(lambda each: _describe(each[0], each[1] > 1, credentials.of(each[0])), named, Slices(), 2)
    return DescribeUserScramCredentialsResponse(error_message="", results=results)


def _describe(name: str, is_duplicate: bool, credentials: Mapping[int, ScramCredential]) -> DescribeUserScramCredentialsResult:
    result = DescribeUserScramCredentialsResult(user=name, error_message="", credential_infos=[])
    if is_duplicate:
        result.error_code = ErrorCode.DUPLICATE_RESOURCE
        result.error_message = shortened(f"Cannot describe SCRAM credentials for the same user twice in a single request: {name}")
    elif not credentials:
        result.error_code = ErrorCode.RESOURCE_NOT_FOUND
        result.error_message = shortened(f"Attempt to describe a user credential that does not exist: {name}")
    else:
        result.credential_infos = [CredentialInfo(mechanism=key, iterations=value.iterations) for key, value in sorted(credentials.items())]
    return result
