"""Every message in every version, compared with the codec of kio, which is generated from Kafka's schema files.

kio 0.6.5 has every version that Kafka 4.3 serves, but not those that 4.0 removed: the reference encoder stands in for it there.
"""

from __future__ import annotations

import dataclasses
import datetime
import io
import uuid
from collections.abc import Generator
from typing import Any, get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st
from kio.index import load_request_schema, load_response_schema
from kio.schema.errors import ErrorCode as KioErrorCode
from kio.serial import entity_reader, entity_writer

from odradek.protocol.messages import APIS
from odradek.protocol.schema import Message, specs
from tests.protocol.reference import CASES, Case, encode, joined
from tests.protocol.strategies import empty, full, messages

KEYS = {cls: api.key for api in APIS.values() for cls in (api.request, api.response)}
EPOCH = datetime.datetime(1970, 1, 1, tzinfo=datetime.UTC)


def kio_class(case: Case) -> type[Any]:
    load = load_request_schema if case.cls.__name__.endswith("Request") else load_response_schema
    return load(KEYS[case.cls], case.version)


def to_kio(message: Message, kio: type[Any], version: int) -> Any:
    """Returns the message as kio's dataclass. The names of fields must be equal, except that kio's times lack the unit."""
    ours = {spec.name: spec for spec in specs(type(message)) if spec.present(version)}
    values = {}
    for field in dataclasses.fields(kio):
        name = field.name if field.name in ours else f"{field.name}_ms"
        spec = ours.pop(name)
        value = getattr(message, name)
        if value is None and spec.declared.tag is not None and not isinstance(spec.kind, str):
            continue  # a structure that is left out; kio has a default for it
        values[field.name] = _to_kio_value(value, field, version)
    assert not ours, f"kio has no {', '.join(ours)}"
    return kio(**values)


def _to_kio_value(value: Any, field: dataclasses.Field[Any], version: int) -> Any:
    if isinstance(value, list):
        return tuple(_to_kio_value(item, field, version) for item in value)
    if isinstance(value, Message):
        return to_kio(value, _dataclass_in(field.type), version)
    kind = field.metadata.get("kafka_type")
    if value is None or kind not in ("error_code", "timedelta_i32", "timedelta_i64", "datetime_i64", "uuid"):
        return value
    if kind == "error_code":
        return KioErrorCode(value)
    if kind == "uuid":
        return uuid.UUID(bytes=value) if any(value) else None
    if kind == "datetime_i64":
        return None if value == -1 else EPOCH + datetime.timedelta(milliseconds=value)
    return datetime.timedelta(milliseconds=value)


def _dataclass_in(annotation: Any) -> type[Any]:
    if dataclasses.is_dataclass(annotation):
        return annotation  # type: ignore[return-value]
    return next(found for part in get_args(annotation) if (found := _dataclass_in(part)) is not None) if get_args(annotation) else None  # type: ignore[return-value]


IN_KIO = [case for case in CASES if case.version in APIS[KEYS[case.cls]].versions]


@pytest.mark.parametrize("case", IN_KIO, ids=str)
def test_message_equals_kio_both_ways(case: Case) -> None:
    foreign = kio_class(case)
    write, read = entity_writer(foreign), entity_reader(foreign)

    @given(messages(case.cls, case.version))
    def roundtrip(message: Message) -> None:
        entity = to_kio(message, foreign, case.version)
        buffer = io.BytesIO()
        write(buffer, entity)
        written = buffer.getvalue()
        assert message.encode(case.version) == written
        assert read(written, 0) == (entity, len(written))
        assert case.cls.decode(case.version, written) == message

    roundtrip()


def encoded_in_slices(message: Message, version: int) -> bytes:
    parts: list[Any] = []

    def run() -> Generator[None, None, None]:
        parts.append((yield from message.sliced_encoders[version](message, bytearray(), parts)))

    for _ in run():
        pass
    return b"".join(parts)


def decoded_in_slices(case: Case, data: bytes) -> tuple[Any, int]:
    decoding = case.cls.sliced_decoders[case.version](memoryview(data), 0)
    while True:
        try:
            next(decoding)
        except StopIteration as done:
            return done.value  # type: ignore[no-any-return]


@pytest.mark.parametrize("case", CASES, ids=str)
@pytest.mark.parametrize("make", [full, empty])
def test_encoders_equal_reference_encoder(case: Case, make: Any) -> None:
    message = make(case.cls, case.version)
    data = joined(encode(message, case.version))
    assert message.encode(case.version) == data
    assert encoded_in_slices(message, case.version) == data
    decoded, position = case.cls.decoders[case.version](memoryview(data), 0)
    assert decoded == message
    assert position == len(data)
    assert decoded_in_slices(case, data) == (message, len(data))


@pytest.mark.parametrize("case", CASES, ids=str)
def test_decode_unknown_tags_and_trailing_bytes_are_ignored(case: Case) -> None:
    message = full(case.cls, case.version)
    tokens = encode(message, case.version, unknown_tags=True)
    assert case.cls.decode(case.version, joined(tokens)) == message
    assert case.cls.decode(case.version, joined(tokens) + b"and more") == message


@given(st.sampled_from(CASES), st.data())
def test_encode_absent_fields_are_left_out(case: Case, data: st.DataObject) -> None:
    """The values of fields that are not in the version do not change the bytes."""
    message = data.draw(messages(case.cls, case.version))
    absent = [spec for spec in specs(case.cls) if not spec.present(case.version)]
    written = message.encode(case.version)
    for spec in absent:
        setattr(message, spec.name, object())
    assert message.encode(case.version) == written
