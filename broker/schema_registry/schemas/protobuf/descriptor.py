"""Files as serialized descriptors, in which Python's client sends schemas, and which `format=serialized` returns.

Descriptors are read and written by the package `protobuf`, which users of Protobuf have.
"""

from __future__ import annotations

import base64
import binascii
from collections.abc import Iterable, Iterator
from typing import Any

from ..schema import InvalidSchema
from .elements import (
    SCALAR_TYPES,
    ProtoEnum,
    ProtoExtend,
    ProtoField,
    ProtoFile,
    ProtoMessage,
    ProtoMethod,
    ProtoOneOf,
    ProtoOption,
    ProtoRanges,
    ProtoService,
    ProtoWord,
)

_FILE_OPTIONS = "java_package java_outer_classname java_multiple_files java_generate_equals_and_hash java_string_check_utf8"
FIRST_OPTIONS = [*_FILE_OPTIONS.split(), "ctype", "packed", "jstype"]
"""The options that Confluent's registry writes first. It writes the others in the order of their numbers."""


def import_descriptors() -> Any:
    """Returns the module `google.protobuf.descriptor_pb2`, or raises `InvalidSchema` if the package is not installed."""
    try:
        from google.protobuf import descriptor_pb2
    except ImportError:
        raise InvalidSchema("serialized descriptors need the package protobuf: pip install 'odradek[schema-registry]'") from None
    return descriptor_pb2


def read_descriptor(text: str) -> ProtoFile:
    """Returns the file whose serialized FileDescriptorProto is `text` in base64. Raises `InvalidSchema` if it is none."""
    descriptors = import_descriptors()
    from google.protobuf.message import DecodeError

    try:
        described = descriptors.FileDescriptorProto.FromString(base64.b64decode(text, validate=True))
    except (binascii.Error, DecodeError, ValueError):
        raise InvalidSchema("the schema is neither the text of a .proto file nor a FileDescriptorProto in base64") from None
    return DescriptorReader(descriptors, described).read()


class DescriptorReader:
    """Turns a FileDescriptorProto into elements."""

    def __init__(self, descriptors: Any, described: Any) -> None:
        self._types = descriptors.FieldDescriptorProto.Type
        self._labels = descriptors.FieldDescriptorProto.Label
        self._file = described
        self._is_proto3 = described.syntax == "proto3"

    def read(self) -> ProtoFile:
        file = self._file
        public = set(file.public_dependency)
        return ProtoFile(
            syntax=file.syntax if file.syntax in ("proto2", "proto3") else None,
            package=file.package or None,
            imports=[name for index, name in enumerate(file.dependency) if index not in public and index not in file.weak_dependency],
            public_imports=[name for index, name in enumerate(file.dependency) if index in public],
            options=_read_options(file.options),
            types=[*map(self._read_message, file.message_type), *map(_read_enum, file.enum_type)],
            extends=self._read_extends(file.extension),
            services=[_read_service(service) for service in file.service],
        )

    def _read_message(self, described: Any) -> ProtoMessage:
        message = ProtoMessage(described.name, options=_read_options(described.options))
        oneofs = [ProtoOneOf(oneof.name, options=_read_options(oneof.options)) for oneof in described.oneof_decl]
        for field in described.field:
            if field.HasField("oneof_index") and not field.proto3_optional:
                oneofs[field.oneof_index].fields.append(self._read_field(field, None))
            else:
                message.fields.append(self._read_field(field, self._label_of(field)))
        message.oneofs = [oneof for oneof in oneofs if oneof.fields]
        message.types = [*map(self._read_message, described.nested_type), *map(_read_enum, described.enum_type)]
        message.reserved = [_read_range(one.start, one.end - 1) for one in described.reserved_range]
        message.reserved += [ProtoRanges([name]) for name in described.reserved_name]
        message.extensions = [_read_range(one.start, one.end - 1) for one in described.extension_range]
        message.extends = self._read_extends(described.extension)
        return message

    def _read_field(self, described: Any, label: str | None) -> ProtoField:
        name = self._types.Name(described.type).removeprefix("TYPE_").lower()
        return ProtoField(
            label,
            name if name in SCALAR_TYPES else described.type_name,
            described.name,
            described.number,
            _read_options(described.options),
            described.default_value if described.HasField("default_value") and not self._is_proto3 else None,
            described.json_name if described.HasField("json_name") else None,
        )

    def _label_of(self, described: Any) -> str | None:
        label: str = self._labels.Name(described.label).removeprefix("LABEL_").lower()
        return None if self._is_proto3 and label != "repeated" and not described.proto3_optional else label

    def _read_extends(self, described: Iterable[Any]) -> list[ProtoExtend]:
        extends: dict[str, ProtoExtend] = {}
        for field in described:
            extend = extends.setdefault(field.extendee, ProtoExtend(field.extendee, []))
            extend.fields.append(self._read_field(field, self._label_of(field)))
        return list(extends.values())


def _read_enum(described: Any) -> ProtoEnum:
    return ProtoEnum(
        described.name,
        [ProtoField(None, "", value.name, value.number, _read_options(value.options)) for value in described.value],
        _read_options(described.options),
        [_read_range(one.start, one.end) for one in described.reserved_range] + [ProtoRanges([name]) for name in described.reserved_name],
    )


def _read_service(described: Any) -> ProtoService:
    methods = [
        ProtoMethod(
            method.name,
            method.input_type,
            method.output_type,
            method.client_streaming,
            method.server_streaming,
            _read_options(method.options),
        )
        for method in described.method
    ]
    return ProtoService(described.name, methods, _read_options(described.options))


def _read_range(start: int, end: int) -> ProtoRanges:
    return ProtoRanges([start if start == end else (start, end)])


def _read_options(described: Any) -> list[ProtoOption]:
    """Returns the options that are set. Custom options are left out, because their names are not known."""
    options = [option for field, value in described.ListFields() for option in _read_option(field, value)]
    return sorted(options, key=lambda option: FIRST_OPTIONS.index(option.name) if option.name in FIRST_OPTIONS else len(FIRST_OPTIONS))


def _read_option(field: Any, value: Any) -> Iterator[ProtoOption]:
    values = list(value) if field.is_repeated else [value]
    for one in values:
        if field.message_type is None:
            yield ProtoOption(field.name, _read_value(field, one))


def _read_value(field: Any, value: Any) -> Any:
    if field.enum_type is not None:
        return ProtoWord(field.enum_type.values_by_number[value].name, "enum")
    if isinstance(value, bool):
        return ProtoWord(str(value).lower(), "boolean")
    return value if isinstance(value, str) else ProtoWord(str(value), "number")
