"""AlterUserScramCredentials and DescribeUserScramCredentials (KIP-554). `security/scram_credentials.py` stores the credentials."""

from __future__ import annotations

from collections import Counter
from collections.abc import Generator, Mapping

from ...protocol.errors import ErrorCode, KafkaError, shorten_message
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
from ..api.context import Context
from ..api.registry import handles
from ..cluster.features import METADATA_VERSION
from ..scheduling.slices import Slices, in_slices
from ..scheduling.waiting import Wait
from ..security.acls import Operation, ResourceType
from ..security.scram_credentials import MECHANISMS, ScramCredential, ScramCredentials, check_iterations, check_user

SCRAM_METADATA_VERSION = 11
"""The level of metadata.version from which on the quorum stores SCRAM credentials (KIP-900, Kafka 3.5)."""
Change = ScramCredentialDeletion | ScramCredentialUpsertion


@handles(ALTER_USER_SCRAM_CREDENTIALS)
def alter_user_scram_credentials(
    request: AlterUserScramCredentialsRequest, context: Context
) -> Generator[Wait, None, AlterUserScramCredentialsResponse]:
    """Alters each user independently of the others. A user that occurs again after a valid change is refused with both changes."""
    context.demand(Operation.ALTER)
    context.demand_controller()
    credentials = context.cluster.accounts.scram_credentials
    accepted: dict[str, Change] = {}
    refused: dict[str, KafkaError] = {}
    wanted: list[Change] = [*request.deletions, *request.upsertions]
    slices = Slices()

    def examine(change: Change) -> None:
        if change.name not in refused:
            try:
                _check(change, accepted, context)
                accepted[change.name] = change
            except KafkaError as error:
                accepted.pop(change.name, None)
                refused[change.name] = error

    def alter(change: Change) -> AlterUserScramCredentialsResult:
        try:
            _apply(change, credentials)
        except KafkaError as error:  # another client has deleted the credential since `examine`
            return _refuse(change.name, error)
        context.cluster.metadata_log.add()
        return AlterUserScramCredentialsResult(user=change.name, error_message=None)

    yield from in_slices(examine, wanted, slices)
    results = yield from in_slices(alter, list(accepted.values()), slices, 6)
    return AlterUserScramCredentialsResponse(results=results + [_refuse(name, error) for name, error in refused.items()])


def _refuse(name: str, error: KafkaError) -> AlterUserScramCredentialsResult:
    return AlterUserScramCredentialsResult(user=name, error_code=error.code, error_message=error.message)


def _check(change: Change, accepted: Mapping[str, Change], context: Context) -> None:
    """Raises KafkaError for a change that is refused. `accepted` are the valid changes before it."""
    if change.name in accepted:
        raise KafkaError(ErrorCode.DUPLICATE_RESOURCE, "A user credential cannot be altered twice in the same request")
    cluster = context.cluster
    if cluster.zookeeper is None and cluster.features.level(METADATA_VERSION) < SCRAM_METADATA_VERSION:
        raise KafkaError(ErrorCode.UNSUPPORTED_VERSION, "The current metadata.version does not support SCRAM")
    check_user(change.name, change.mechanism)
    if isinstance(change, ScramCredentialUpsertion):
        check_iterations(change.iterations)
    else:
        cluster.accounts.scram_credentials.check_has(change.name, change.mechanism)


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
        result.error_message = shorten_message(f"Cannot describe SCRAM credentials for the same user twice in a single request: {name}")
    elif not credentials:
        result.error_code = ErrorCode.RESOURCE_NOT_FOUND
        result.error_message = shorten_message(f"Attempt to describe a user credential that does not exist: {name}")
    else:
        result.credential_infos = [CredentialInfo(mechanism=key, iterations=value.iterations) for key, value in sorted(credentials.items())]
    return result
