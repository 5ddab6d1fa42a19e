"""SCRAM credentials of users."""

from __future__ import annotations

import pytest

from odradek.broker.cluster.scram import ScramCredential, ScramCredentials, check_iterations, check_user
from odradek.protocol.errors import ErrorCode, KafkaError

CREDENTIAL = ScramCredential(4096, b"s", b"p" * 32)


def test_credentials_deleted_leave_no_user() -> None:
    credentials = ScramCredentials()
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
    mechanism = check_user("a", 1)
    check_iterations(4096, mechanism)
    with pytest.raises(KafkaError):
        check_iterations(iterations, mechanism)
