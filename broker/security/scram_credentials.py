"""SCRAM credentials of users (RFC 5802, KIP-554; Kafka's ScramControlManager and ScramFormatter).

A credential contains the keys with which the server verifies a client's proof, not the password. PBKDF2, which takes milliseconds, runs
when a credential is created; an authentication only computes a few HMACs. `scram.py` is the exchange itself.

An unknown user has a credential too: its salt and keys are derived from a secret of the cluster and the user name. Clients choose the
iterations and the salt of the credentials that they create, so an unknown user gets the iterations and the kind of salt of a user that
exists, its *model*. The first answer to an unknown user therefore looks like the answer to a user that exists, remains the same from one
attempt to the next, and takes as long. Models are found on a ring of keyed hashes of the user names, so that a user who is added or removed
is a new model only for the unknown users beside it on the ring.
"""

from __future__ import annotations

import hashlib
import hmac
import re
from bisect import bisect, bisect_left, insort
from collections.abc import Iterator, Mapping
from functools import cached_property
from random import Random
from typing import NamedTuple

from ...protocol.errors import ErrorCode, KafkaError

MIN_ITERATIONS, MAX_ITERATIONS = 4096, 16384
SALT_BITS = 130
_BASE_36 = "0123456789abcdefghijklmnopqrstuvwxyz"
GENERATED_SALT = re.compile(rb"[0-9a-z]{23,26}")


class ScramMechanism(NamedTuple):
    """A SCRAM mechanism that Kafka supports. `number` stands for it in requests."""

    number: int
    name: str
    hash_name: str

    def digest(self, data: bytes) -> bytes:
        return hashlib.new(self.hash_name, data).digest()

    def hmac(self, key: bytes, data: bytes) -> bytes:
        return hmac.digest(key, data, self.hash_name)


MECHANISMS = {1: ScramMechanism(1, "SCRAM-SHA-256", "sha256"), 2: ScramMechanism(2, "SCRAM-SHA-512", "sha512")}
"""The mechanisms by their number in requests."""


class ScramCredential(NamedTuple):
    """The data from which a server verifies that a client has the password."""

    iterations: int
    salt: bytes
    stored_key: bytes
    server_key: bytes

    def __repr__(self) -> str:
        return f"ScramCredential(iterations={self.iterations})"

    @classmethod
    def of_salted(cls, mechanism: ScramMechanism, iterations: int, salt: bytes, salted_password: bytes) -> ScramCredential:
        """Returns the credential of a password that has been salted, as AlterUserScramCredentials contains it."""
        client_key = mechanism.hmac(salted_password, b"Client Key")
        return cls(iterations, salt, mechanism.digest(client_key), mechanism.hmac(salted_password, b"Server Key"))

    @classmethod
    def of_password(cls, mechanism: ScramMechanism, password: bytes, salt: bytes, iterations: int = MIN_ITERATIONS) -> ScramCredential:
        """Returns the credential of a password. This takes milliseconds."""
        salted = hashlib.pbkdf2_hmac(mechanism.hash_name, password, salt, iterations)
        return cls.of_salted(mechanism, iterations, salt, salted)


class UnknownUsers:
    """Credentials of users and delegation tokens that do not exist, derived from `secret`. No password matches them."""

    def __init__(self, secret: bytes, by_user: Mapping[str, Mapping[int, ScramCredential]]) -> None:
        self.secret = secret
        self._by_user = by_user
        # By mechanism, (place, name) of each user that has a credential, sorted.
        self._rings: dict[int, list[tuple[bytes, str]]] = {number: [] for number in MECHANISMS}
        for user, known in by_user.items():
            for mechanism in known:
                self.add_model(user, mechanism)

    def add_model(self, user: str, mechanism: int) -> None:
        """Adds a user that has got a credential for a mechanism."""
        insort(self._rings[mechanism], self._place(user, mechanism))

    def remove_model(self, user: str, mechanism: int) -> None:
        """Removes a user whose credential for a mechanism is deleted."""
        ring = self._rings[mechanism]
        del ring[bisect_left(ring, self._place(user, mechanism))]

    def credential(self, user: str, mechanism: ScramMechanism) -> ScramCredential:
        """Returns the credential of an unknown user, the same one for a user and a mechanism until its model changes."""
        seed, model = self._derive("salt", user, mechanism), self._model(user, mechanism.number)
        if model is None:
            return self._with_keys(user, mechanism, salt_of(int.from_bytes(seed, "big")), MIN_ITERATIONS)
        return self._with_keys(user, mechanism, _salt_like(model.salt, seed), model.iterations)

    def token_credential(self, token_id: str, mechanism: ScramMechanism) -> ScramCredential:
        """Returns the credential of an unknown delegation token, whose salt is the same for all mechanisms."""
        seed = hmac.digest(self.secret, f"token {token_id}".encode("utf-8", "surrogatepass"), "sha256")
        return self._with_keys(token_id, mechanism, salt_of(int.from_bytes(seed, "big")), MIN_ITERATIONS)

    def _model(self, user: str, mechanism: int) -> ScramCredential | None:
        """Returns the credential of the next user on the ring after the place of `user`, None if there is no user."""
        ring = self._rings[mechanism]
        if not ring:
            return None
        _, name = ring[bisect(ring, self._place(user, mechanism)) % len(ring)]
        return self._by_user[name][mechanism]

    def _place(self, user: str, mechanism: int) -> tuple[bytes, str]:
        return self._derive("place", user, MECHANISMS[mechanism]), user

    def _with_keys(self, name: str, mechanism: ScramMechanism, salt: bytes, iterations: int) -> ScramCredential:
        stored_key, server_key = (self._derive(word, name, mechanism) for word in ("stored key", "server key"))
        return ScramCredential(iterations, salt, stored_key, server_key)

    def _derive(self, word: str, name: str, mechanism: ScramMechanism) -> bytes:
        return mechanism.hmac(self.secret, f"{word} {mechanism.name} {name}".encode("utf-8", "surrogatepass"))


class ScramCredentials:
    """The credentials of all users, at most one for each user and mechanism."""

    def __init__(self, random: Random) -> None:
        self._by_user: dict[str, dict[int, ScramCredential]] = {}
        self._random = random

    def __iter__(self) -> Iterator[str]:
        """Iterates over the users that have a credential."""
        return (user for user, credentials in self._by_user.items() if credentials)

    def of(self, user: str) -> Mapping[int, ScramCredential]:
        """Returns a user's credentials by mechanism, an empty mapping for an unknown user."""
        return self._by_user.get(user, {})

    @cached_property
    def unknown(self) -> UnknownUsers:
        """The credentials of names that have none."""
        return UnknownUsers(self._random.randbytes(32), self._by_user)

    def for_exchange(self, user: str, mechanism: ScramMechanism) -> ScramCredential:
        """Returns a user's credential. For an unknown user it is one that no password matches, and the same at each call."""
        made_up = self.unknown.credential(user, mechanism)  # always computed, so that both cases take the same time
        return self.of(user).get(mechanism.number, made_up)

    def set(self, user: str, mechanism: int, credential: ScramCredential) -> None:
        """Adds or replaces a credential."""
        if mechanism not in self.of(user):
            self.unknown.add_model(user, mechanism)
        self._by_user.setdefault(user, {})[mechanism] = credential

    def set_password(self, user: str, password: str) -> None:
        """Adds or replaces the credentials of a user for all mechanisms."""
        for number, mechanism in MECHANISMS.items():
            salt = salt_of(self._random.getrandbits(SALT_BITS))
            self.set(user, number, ScramCredential.of_password(mechanism, password.encode(), salt))

    def delete(self, user: str, mechanism: int) -> None:
        """Removes a credential. Raises KafkaError with RESOURCE_NOT_FOUND if the user has none for the mechanism."""
        self.check_has(user, mechanism)
        self.unknown.remove_model(user, mechanism)
        del self._by_user[user][mechanism]

    def check_has(self, user: str, mechanism: int) -> None:
        """Raises KafkaError with RESOURCE_NOT_FOUND if the user has no credential for the mechanism."""
        if mechanism not in self.of(user):
            raise KafkaError(ErrorCode.RESOURCE_NOT_FOUND, "Attempt to delete a user credential that does not exist")


def salt_of(number: int) -> bytes:
    """Returns a salt in the form of Kafka's ScramFormatter.secureRandomBytes: the lowest 130 bits of the number in base 36."""
    number &= (1 << SALT_BITS) - 1
    digits = ""
    while number:
        number, digit = divmod(number, 36)
        digits = _BASE_36[digit] + digits
    return digits.encode()


def _salt_like(model: bytes, seed: bytes) -> bytes:
    """Returns a salt for a seed that looks like `model`: in the form of `salt_of` or, as clients make it, random bytes of that length."""
    if GENERATED_SALT.fullmatch(model):
        return salt_of(int.from_bytes(seed, "big"))
    return hashlib.shake_256(seed).digest(len(model))


def check_user(user: str, mechanism: int) -> ScramMechanism:
    """Returns the mechanism with the number `mechanism`.

    Raises KafkaError with UNACCEPTABLE_CREDENTIAL for an empty user name, or with UNSUPPORTED_SASL_MECHANISM for an unknown number.
    """
    if not user:
        raise KafkaError(ErrorCode.UNACCEPTABLE_CREDENTIAL, "Username must not be empty")
    if mechanism not in MECHANISMS:
        raise KafkaError(ErrorCode.UNSUPPORTED_SASL_MECHANISM, "Unknown SCRAM mechanism")
    return MECHANISMS[mechanism]


def check_iterations(iterations: int) -> None:
    """Raises KafkaError with UNACCEPTABLE_CREDENTIAL for a number of iterations that Kafka does not accept."""
    if iterations < MIN_ITERATIONS:
        raise KafkaError(ErrorCode.UNACCEPTABLE_CREDENTIAL, "Too few iterations")
    if iterations > MAX_ITERATIONS:
        raise KafkaError(ErrorCode.UNACCEPTABLE_CREDENTIAL, "Too many iterations")
