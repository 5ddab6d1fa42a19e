"""SCRAM credentials of users (RFC 5802, KIP-554; Kafka's ScramControlManager).

Requests can add, remove and describe credentials, but no listener authenticates with them yet.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import NamedTuple

from ...protocol.errors import ErrorCode, KafkaError

MAX_ITERATIONS = 16384


class Mechanism(NamedTuple):
    """A SCRAM mechanism that Kafka supports."""

    name: str
    min_iterations: int


MECHANISMS = {1: Mechanism("SCRAM-SHA-256", 4096), 2: Mechanism("SCRAM-SHA-512", 4096)}
"""The mechanisms by their number in requests."""


class ScramCredential(NamedTuple):
    """The data from which a server verifies that a client has the password."""

    iterations: int
    salt: bytes
    salted_password: bytes


class ScramCredentials:
    """The credentials of all users, at most one for each user and mechanism."""

    def __init__(self) -> None:
        self._by_user: dict[str, dict[int, ScramCredential]] = {}

    def __iter__(self) -> Iterator[str]:
        """Iterates over the users that have a credential."""
        return (user for user, credentials in self._by_user.items() if credentials)

    def of(self, user: str) -> Mapping[int, ScramCredential]:
        """Returns a user's credentials by mechanism, an empty mapping for an unknown user."""
        return self._by_user.get(user, {})

    def set(self, user: str, mechanism: int, credential: ScramCredential) -> None:
        """Adds or replaces a credential."""
        self._by_user.setdefault(user, {})[mechanism] = credential

    def delete(self, user: str, mechanism: int) -> None:
        """Removes a credential. Raises KafkaError with RESOURCE_NOT_FOUND if the user has none for the mechanism."""
        if self._by_user.get(user, {}).pop(mechanism, None) is None:
            raise KafkaError(ErrorCode.RESOURCE_NOT_FOUND, "Attempt to delete a user credential that does not exist")


def check_user(user: str, mechanism: int) -> Mechanism:
    """Returns the mechanism with the number `mechanism`.

    Raises KafkaError with UNACCEPTABLE_CREDENTIAL for an empty user name, or with UNSUPPORTED_SASL_MECHANISM for an unknown number.
    """
    if not user:
        raise KafkaError(ErrorCode.UNACCEPTABLE_CREDENTIAL, "Username must not be empty")
    if mechanism not in MECHANISMS:
        raise KafkaError(ErrorCode.UNSUPPORTED_SASL_MECHANISM, "Unknown SCRAM mechanism")
    return MECHANISMS[mechanism]


def check_iterations(iterations: int, mechanism: Mechanism) -> None:
    """Raises KafkaError with UNACCEPTABLE_CREDENTIAL for a number of iterations that Kafka does not accept."""
    if iterations < mechanism.min_iterations:
        raise KafkaError(ErrorCode.UNACCEPTABLE_CREDENTIAL, "Too few iterations")
    if iterations > MAX_ITERATIONS:
        raise KafkaError(ErrorCode.UNACCEPTABLE_CREDENTIAL, "Too many iterations")
