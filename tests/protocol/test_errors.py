"""The error codes are those of kio, which has them from Kafka's `Errors`."""

from __future__ import annotations

from kio.schema.errors import ErrorCode as KioErrorCode

from odradek.protocol.errors import ErrorCode, KafkaError


def test_codes() -> None:
    assert {code.name: int(code) for code in ErrorCode} == {code.name.upper(): int(code) for code in KioErrorCode}


def test_retriable() -> None:
    assert {code.name for code in ErrorCode if code.retriable} == {code.name.upper() for code in KioErrorCode if code.retriable}


def test_kafka_error() -> None:
    error = KafkaError(ErrorCode.INVALID_TOPIC_EXCEPTION, "no such name")
    assert (error.code, error.message, str(error)) == (ErrorCode.INVALID_TOPIC_EXCEPTION, "no such name", "no such name")
    assert (KafkaError(ErrorCode.INVALID_REQUEST).message, str(KafkaError(ErrorCode.INVALID_REQUEST))) == (None, "INVALID_REQUEST")
