"""SCRAM credentials of users."""

from __future__ import annotations

from random import Random

import pytest

from odradek.broker.security.scram_credentials import (
    MECHANISMS,
    ScramCredential,
    ScramCredentials,
    check_iterations,
    check_user,
    salt_of,
)
from odradek.protocol.errors import ErrorCode, KafkaError

CREDENTIAL = ScramCredential(4096, b"s", b"p" * 32, b"q" * 32)
SHA_256, SHA_512 = MECHANISMS.values()


def test_credentials_deleted_leave_no_user() -> None:
    credentials = ScramCredentials(Random(1))
    credentials.set("a", 1, CREDENTIAL)
    assert (list(credentials), credentials.of("a")) == (["a"], {1: CREDENTIAL})
    credentials.delete("a", 1)
    assert (list(credentials), credentials.of("a")) == ([], {})
    with pytest.raises(KafkaError) as refused:
        credentials.delete("a", 1)
    assert refused.value.code == ErrorCode.RESOURCE_NOT_FOUND


@pytest.mark.parametrize(
    ("user", "mechanism", "code"),
    [("", 1, ErrorCode.UNACCEPTABLE_CREDENTIAL), ("a", 0, ErrorCode.UNSUPPORTED_SASL_MECHANISM)],
)
def test_check_user_invalid_is_refused(user: str, mechanism: int, code: ErrorCode) -> None:
    with pytest.raises(KafkaError) as refused:
        check_user(user, mechanism)
    assert refused.value.code == code


@pytest.mark.parametrize("iterations", [4095, 16_385])
def test_check_iterations_out_of_range_is_refused(iterations: int) -> None:
    check_iterations(4096)
    check_iterations(16_384)
    with pytest.raises(KafkaError):
        check_iterations(iterations)


def test_unknown_user_gets_the_same_credential_each_time() -> None:
    credentials = ScramCredentials(Random(1))
    bob = credentials.for_exchange("bob", SHA_256)
    assert bob == credentials.for_exchange("bob", SHA_256)
    assert bob.iterations == 4096
    others = [
        credentials.for_exchange("eve", SHA_256),
        credentials.for_exchange("bob", SHA_512),
        ScramCredentials(Random(2)).for_exchange("bob", SHA_256),
    ]
    assert len({each.salt for each in (bob, *others)}) == 4


def test_unknown_user_has_a_salt_like_those_of_users() -> None:
    credentials = ScramCredentials(Random(1))
    credentials.set_password("alice", "secret")
    salts = [credentials.for_exchange(user, SHA_256).salt for user in ("alice", "bob")]
    assert all(salt.isalnum() and 24 <= len(salt) <= 26 for salt in salts), salts


def test_salt_of_number_is_its_base_36() -> None:
    assert (salt_of(35), salt_of(36 * 36 + 1), salt_of(1 << 130 | 10)) == (b"z", b"101", b"a")


def test_set_password_replaces_credentials_of_all_mechanisms() -> None:
    credentials = ScramCredentials(Random(1))
    credentials.set_password("alice", "old")
    before = dict(credentials.of("alice"))
    credentials.set_password("alice", "new")
    assert set(before) == set(credentials.of("alice")) == set(MECHANISMS)
    assert all(before[number] != credentials.of("alice")[number] for number in MECHANISMS)


def test_credential_repr_contains_no_secret() -> None:
    assert repr(CREDENTIAL) == "ScramCredential(iterations=4096)"


def shape(credential: ScramCredential) -> tuple[int, int]:
    return credential.iterations, len(credential.salt)


def test_unknown_users_have_iterations_and_salts_of_users() -> None:
    credentials = ScramCredentials(Random(1))
    shapes = {(4096 + n, 12 + n) for n in range(4)}
    for iterations, size in shapes:
        credentials.set(f"user-{size}", 1, ScramCredential(iterations, Random(size).randbytes(size), b"p" * 32, b"q" * 32))
    unknown = [shape(credentials.for_exchange(f"unknown-{n}", SHA_256)) for n in range(200)]
    assert set(unknown) == shapes
    assert credentials.for_exchange("user-12", SHA_512).iterations == 4096
    assert unknown == [shape(credentials.for_exchange(f"unknown-{n}", SHA_256)) for n in range(200)]


def test_changed_users_change_few_unknown_ones() -> None:
    """Otherwise, the names whose answers change together would be those that are unknown."""
    credentials = ScramCredentials(Random(1))
    for n in range(50):
        credentials.set(f"user-{n}", 1, ScramCredential(4096 + n, bytes(12 + n), b"p" * 32, b"q" * 32))
    names = [f"unknown-{n}" for n in range(1000)]
    before = [credentials.for_exchange(name, SHA_256) for name in names]
    credentials.set("new", 1, ScramCredential(5000, bytes(99), b"p" * 32, b"q" * 32))
    added = [credentials.for_exchange(name, SHA_256) for name in names]
    assert 0 < sum(one != other for one, other in zip(before, added, strict=True)) < 150
    credentials.delete("new", 1)
    assert before == [credentials.for_exchange(name, SHA_256) for name in names]
    assert shape(credentials.for_exchange("new", SHA_256)) != (5000, 99)


def test_unknown_token_has_one_salt_for_all_mechanisms() -> None:
    credentials = ScramCredentials(Random(1))
    credentials.set("a", 1, CREDENTIAL)
    one, other = (credentials.unknown.token_credential("id", mechanism) for mechanism in (SHA_256, SHA_512))
    assert one.salt == other.salt
    assert one.stored_key != other.stored_key
