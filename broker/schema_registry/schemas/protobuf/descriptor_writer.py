"""Writes a file as a FileDescriptorProto, for `format=serialized`."""

from __future__ import annotations

import base64
from collections.abc import Iterable, Iterator
from typing import Any

from ..schema import InvalidSchema
from .descriptor import import_descriptors
from .elements import (
    SCALAR_TYPES,
    ProtoEnum,
    ProtoExtend,
    ProtoField,
    ProtoFile,
    ProtoGroup,
    ProtoMessage,
    ProtoOption,
    ProtoRanges,
    ProtoService,
    ProtoWord,
)
from .names import ProtoNames


def serialize_file(file: ProtoFile, names: ProtoNames) -> str:
    """Returns the serialized FileDescriptorProto of a file in base64. Custom options are left out."""
    serialized: bytes = DescriptorWriter(import_descriptors(), names).write(file).SerializeToString(deterministic=True)
    return base64.b64encode(serialized).decode()


class DescriptorWriter:
    """Fills a FileDescriptorProto from elements."""

    def __init__(self, descriptors: Any, names: ProtoNames) -> None:
        self._fields = descriptors.FieldDescriptorProto
        self._file = descriptors.FileDescriptorProto(name="default")
        self._names = names

    def write(self, file: ProtoFile) -> Any:
        described = self._file
        if file.package:
            described.package = file.package
        described.dependency.extend([*file.imports, *file.public_imports])
        described.public_dependency.extend(range(len(file.imports), len(described.dependency)))
        if file.syntax == "proto3":
            described.syntax = file.syntax
        self._write_types(file.types, (), described.message_type, described.enum_type)
        self._write_extends(file.extends, (), described.extension)
        for service in file.services:
            self._write_service(service, described.service.add())
        _write_options(file.options, described)
        return described

    def _write_types(self, types: Iterable[ProtoMessage | ProtoEnum], path: tuple[str, ...], messages: Any, enums: Any) -> None:
        for element in types:
            if isinstance(element, ProtoMessage):
                self._write_message(element, (*path, element.name), messages.add())
            else:
                _write_enum(element, enums.add())

    def _write_message(self, message: ProtoMessage, path: tuple[str, ...], described: Any) -> None:
        described.name = message.name
        for field in message.fields:
            self._write_field(field, path, described.field.add(), described)
        for oneof in message.oneofs:
            described.oneof_decl.add(name=oneof.name)
            for field in oneof.fields:
                self._write_field(field, path, described.field.add(oneof_index=len(described.oneof_decl) - 1), described)
        for field in described.field:
            if field.proto3_optional:
                field.oneof_index = len(described.oneof_decl)
                described.oneof_decl.add(name=f"_{field.name}")
        for group in [*message.groups, *(group for oneof in message.oneofs for group in oneof.groups)]:
            self._write_group(group, path, described)
        self._write_types(message.types, path, described.nested_type, described.enum_type)
        self._write_extends(message.extends, path, described.extension)
        for start, end in _each_range(message.extensions):
            described.extension_range.add(start=start, end=end + 1)
        for start, end in _each_range(message.reserved):
            described.reserved_range.add(start=start, end=end + 1)
        described.reserved_name.extend(_each_name(message.reserved))
        _write_options(message.options, described)

    def _write_field(self, field: ProtoField, path: tuple[str, ...], described: Any, message: Any) -> None:
        """Fills the descriptor of a field. That of a map needs a message for its entries in the message around it."""
        described.name, described.number = field.name, field.tag
        described.label = self._fields.Label.Value(f"LABEL_{(field.label or 'optional').upper()}")
        if field.label == "optional" and self._file.syntax == "proto3":
            described.proto3_optional = True
        if field.type.startswith("map<"):
            entry = "".join(part[:1].upper() + part[1:] for part in field.name.split("_")) + "Entry"
            self._write_entry(entry, field.type, path, message.nested_type.add())
            described.label = self._fields.Label.Value("LABEL_REPEATED")
            described.type = self._fields.Type.Value("TYPE_MESSAGE")
            described.type_name = "." + ".".join(filter(None, (self._names.package, *path, entry)))
        else:
            self._write_type(field.type, path, described)
        if field.default is not None:
            described.default_value = str(int(field.default, 0)) if field.default.lower().startswith(("0x", "-0x")) else field.default
        described.json_name = field.json_name or _json_name_of(field.name)
        _write_options(field.options, described)

    def _write_type(self, name: str, path: tuple[str, ...], described: Any) -> None:
        if name in SCALAR_TYPES:
            described.type = self._fields.Type.Value(f"TYPE_{name.upper()}")
            return
        found = self._names.find(name, self._names.package, path)
        if found is None:
            raise InvalidSchema(f"Could not resolve type: {name}")
        described.type = self._fields.Type.Value("TYPE_ENUM" if isinstance(found.element, ProtoEnum) else "TYPE_MESSAGE")
        described.type_name = f".{found.full_name}"

    def _write_entry(self, name: str, map_type: str, path: tuple[str, ...], described: Any) -> None:
        described.name = name
        described.options.map_entry = True
        types = map_type.removeprefix("map<").removesuffix(">").split(", ")
        for number, (field, kind) in enumerate(zip(("key", "value"), types, strict=True), 1):
            label = self._fields.Label.Value("LABEL_OPTIONAL")
            self._write_type(kind, path, described.field.add(name=field, number=number, label=label, json_name=field))

    def _write_group(self, group: ProtoGroup, path: tuple[str, ...], message: Any) -> None:
        described = message.field.add(name=group.name.lower(), number=group.tag)
        described.label = self._fields.Label.Value(f"LABEL_{(group.label or 'optional').upper()}")
        described.type = self._fields.Type.Value("TYPE_GROUP")
        described.type_name = "." + ".".join(filter(None, (self._names.package, *path, group.name)))
        self._write_message(ProtoMessage(group.name, group.fields), (*path, group.name), message.nested_type.add())

    def _write_extends(self, extends: Iterable[ProtoExtend], path: tuple[str, ...], extensions: Any) -> None:
        for extend in extends:
            for field in extend.fields:
                described = extensions.add(extendee=self._full_name(extend.name, path))
                self._write_field(field, path, described, None)

    def _write_service(self, service: ProtoService, described: Any) -> None:
        described.name = service.name
        _write_options(service.options, described)
        for method in service.methods:
            written = described.method.add(name=method.name)
            written.input_type, written.output_type = (self._full_name(name, ()) for name in (method.request, method.response))
            if method.is_request_streamed:
                written.client_streaming = True
            if method.is_response_streamed:
                written.server_streaming = True
            _write_options(method.options, written)

    def _full_name(self, name: str, path: tuple[str, ...]) -> str:
        found = self._names.find(name, self._names.package, path)
        return f".{found.full_name}" if found else name


def _write_enum(enum: ProtoEnum, described: Any) -> None:
    described.name = enum.name
    for constant in enum.constants:
        _write_options(constant.options, described.value.add(name=constant.name, number=constant.tag))
    for start, end in _each_range(enum.reserved):
        described.reserved_range.add(start=start, end=end)
    described.reserved_name.extend(_each_name(enum.reserved))
    _write_options(enum.options, described)


def _each_range(ranges: Iterable[ProtoRanges]) -> Iterator[tuple[int, int]]:
    for one in ranges:
        for value in one.values:
            if not isinstance(value, str):
                yield value if isinstance(value, tuple) else (value, value)


def _each_name(ranges: Iterable[ProtoRanges]) -> list[str]:
    return [value for one in ranges for value in one.values if isinstance(value, str)]


def _json_name_of(name: str) -> str:
    head, *others = name.split("_")
    return head + "".join(part[:1].upper() + part[1:] for part in others)


def _write_options(options: Iterable[ProtoOption], described: Any) -> None:
    """Sets the options that descriptor.proto declares."""
    for option in options:
        declared = described.DESCRIPTOR.fields_by_name["options"].message_type.fields_by_name.get(option.name)
        if declared is None or option.is_custom or declared.message_type is not None or declared.is_repeated:
            continue
        setattr(described.options, option.name, _convert_value(option, declared))


def _convert_value(option: ProtoOption, declared: Any) -> Any:
    text = option.value.text if isinstance(option.value, ProtoWord) else option.value
    if declared.enum_type is not None and text in declared.enum_type.values_by_name:
        return declared.enum_type.values_by_name[text].number
    if declared.type == declared.TYPE_BOOL and text in ("true", "false"):
        return text == "true"
    if declared.type == declared.TYPE_STRING and isinstance(option.value, str):
        return text
    raise InvalidSchema(f"{text!r} is no value of the option {option.name}")
