"""Error codes, compared with those of kio, which are generated from Kafka's Errors class."""

from __future__ import annotations

from kio.schema.errors import ErrorCode as KioErrorCode

from odradek.protocol.errors import ErrorCode, KafkaError


def test_error_codes_are_those_of_kio() -> None:
    assert {code.name: int(code) for code in ErrorCode} == {code.name.upper(): int(code) for code in KioErrorCode}


def test_retriable_codes_are_those_of_kio() -> None:
    assert {code.name for code in ErrorCode if code.retriable} == {code.name.upper() for code in KioErrorCode if code.retriable}


def test_kafka_error_text_defaults_to_the_name() -> None:
    error = KafkaError(ErrorCode.INVALID_TOPIC_EXCEPTION, "no such name")
    assert (error.code, error.message, str(error)) == (ErrorCode.INVALID_TOPIC_EXCEPTION, "no such name", "no such name")
    assert (KafkaError(ErrorCode.INVALID_REQUEST).message, str(KafkaError(ErrorCode.INVALID_REQUEST))) == (None, "INVALID_REQUEST")
