"""The text of a `.proto` file as Confluent's registry stores it, and its normal form."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any

from ..schema import InvalidSchema
from .elements import (
    MAX_TAG,
    SCALAR_TYPES,
    ProtoEnum,
    ProtoExtend,
    ProtoField,
    ProtoFile,
    ProtoGroup,
    ProtoMessage,
    ProtoMethod,
    ProtoOneOf,
    ProtoOption,
    ProtoRanges,
    ProtoService,
    ProtoWord,
)

MAX_WRITTEN_CHARACTERS = 20_000_000
"""The most characters that are written for one text: a character counts as often as the parts around it are nested."""

ESCAPES = {"\a": "\\a", "\b": "\\b", "\f": "\\f", "\n": "\\n", "\r": "\\r", "\t": "\\t", "\v": "\\v", "\\": "\\\\", "'": "\\'", '"': '\\"'}
WORD = re.compile(r"[A-Za-z0-9_.+-]+")
ESCAPE_TABLE = str.maketrans(ESCAPES)


class ProtoText:
    """Writes a file. A subclass writes another form of it by replacing the methods that begin with `prepare`.

    Raises `InvalidSchema` if the text is much longer than the schema: a line is indented as often as the parts around it are nested.
    """

    def __init__(self) -> None:
        self._characters = 0

    def write(self, file: ProtoFile) -> str:
        sections = [self.write_syntax(file)]
        if file.package is not None:
            sections.append(f"package {file.package};\n")
        imports = [f'import "{name}";\n' for name in self.prepare_imports(file.imports)]
        imports += [f'import public "{name}";\n' for name in self.prepare_imports(file.public_imports)]
        services = [self._write_service(service) for service in file.services]
        extends = [self._write_extend(extend) for extend in self.prepare_extends(file.extends)]
        for section in (imports, self._write_options(file.options), self._write_types(file.types), extends, services):
            if section:
                sections += ["\n", *section]
        return "".join(sections)

    def write_syntax(self, file: ProtoFile) -> str:
        return f'syntax = "{file.syntax}";\n' if file.syntax else ""

    def prepare_imports(self, imports: list[str]) -> list[str]:
        return imports

    def prepare_options(self, options: list[ProtoOption]) -> list[ProtoOption]:
        return options

    def prepare_types(self, types: list[ProtoMessage | ProtoEnum]) -> list[ProtoMessage | ProtoEnum]:
        return types

    def prepare_fields(self, fields: list[ProtoField]) -> list[ProtoField]:
        return fields

    def prepare_constants(self, constants: list[ProtoField]) -> list[ProtoField]:
        return constants

    def prepare_groups(self, groups: list[ProtoGroup]) -> list[ProtoGroup]:
        return groups

    def prepare_oneofs(self, oneofs: list[ProtoOneOf]) -> list[ProtoOneOf]:
        return oneofs

    def prepare_reserved(self, ranges: list[ProtoRanges]) -> list[ProtoRanges]:
        return ranges

    def prepare_extensions(self, ranges: list[ProtoRanges]) -> list[ProtoRanges]:
        return ranges

    def prepare_extends(self, extends: list[ProtoExtend]) -> list[ProtoExtend]:
        return extends

    def prepare_type_name(self, name: str) -> str:
        return name

    def prepare_field_type(self, field: ProtoField) -> tuple[str | None, str]:
        """Returns label and type of a field."""
        return field.label, field.type

    def prepare_number(self, number: str) -> str:
        return number

    def enter_message(self, message: ProtoMessage) -> None:
        """Is called before the members of a message are written."""

    def leave_message(self) -> None:
        """Is called after the members of a message have been written."""

    def _write_types(self, types: list[ProtoMessage | ProtoEnum]) -> list[str]:
        prepared = self.prepare_types(types)
        messages = [self._write_message(element) for element in prepared if isinstance(element, ProtoMessage)]
        return messages + [self._write_enum(element) for element in prepared if isinstance(element, ProtoEnum)]

    def _write_message(self, message: ProtoMessage) -> str:
        self.enter_message(message)
        sections = [
            [_write_ranges("reserved", ranges) for ranges in self.prepare_reserved(message.reserved)],
            self._write_options(message.options),
            [self._write_field(field) for field in self.prepare_fields(message.fields)],
            [self._write_oneof(oneof) for oneof in self.prepare_oneofs(message.oneofs)] or [""] * bool(message.oneofs),
            [self._write_group(group) for group in self.prepare_groups(message.groups)],
            [self._write_extensions(ranges) for ranges in self.prepare_extensions(message.extensions)],
            [self._write_extend(extend) for extend in self.prepare_extends(message.extends)],
            self._write_types(message.types),
        ]
        self.leave_message()
        return f"message {message.name} {{{self._indent_sections(sections)}}}\n"

    def _write_enum(self, enum: ProtoEnum) -> str:
        reserved = [_write_ranges("reserved", ranges) for ranges in self.prepare_reserved(enum.reserved)]
        constants = [f"{one.name} = {one.tag}{self._write_brackets(one.options)};\n" for one in self.prepare_constants(enum.constants)]
        body = self._indent([*reserved, *self._write_options(enum.options), *constants])
        return f"enum {enum.name} {{" + (f"\n{body}" if enum.reserved or enum.options or enum.constants else "") + "}\n"

    def _write_field(self, field: ProtoField) -> str:
        label, kind = self.prepare_field_type(field)
        options = list(field.options)
        if field.default is not None:
            options.append(ProtoOption("default", _value_of_type(kind, field.default)))
        if field.json_name is not None:
            options.append(ProtoOption("json_name", field.json_name))
        return f"{f'{label} ' if label else ''}{kind} {field.name} = {field.tag}{self._write_brackets(options)};\n"

    def _write_oneof(self, oneof: ProtoOneOf) -> str:
        sections = [
            self._write_options(oneof.options),
            [self._write_field(field) for field in self.prepare_fields(oneof.fields)],
            [self._write_group(group) for group in self.prepare_groups(oneof.groups)],
        ]
        return f"oneof {oneof.name} {{{self._indent_sections(sections)}}}\n"

    def _write_group(self, group: ProtoGroup) -> str:
        fields = [self._write_field(field) for field in self.prepare_fields(group.fields)]
        return f"{f'{group.label} ' if group.label else ''}group {group.name} = {group.tag} {{{self._indent_sections([fields])}}}\n"

    def _write_extend(self, extend: ProtoExtend) -> str:
        fields = [self._write_field(field) for field in self.prepare_fields(extend.fields)]
        return f"extend {extend.name} {{{self._indent_sections([fields])}}}\n"

    def _write_extensions(self, ranges: ProtoRanges) -> str:
        return _write_ranges("extensions", ranges, self._write_brackets(ranges.options))

    def _write_service(self, service: ProtoService) -> str:
        methods = [self._write_method(method) for method in service.methods]
        return f"service {service.name} {{{self._indent_sections([self._write_options(service.options), methods])}}}\n"

    def _write_method(self, method: ProtoMethod) -> str:
        request = f"{'stream ' if method.is_request_streamed else ''}{self.prepare_type_name(method.request)}"
        response = f"{'stream ' if method.is_response_streamed else ''}{self.prepare_type_name(method.response)}"
        options = self._write_options(method.options)
        body = f" {{\n{self._indent(options)}}}" if options else ""
        return f"rpc {method.name} ({request}) returns ({response}){body};\n"

    def _write_options(self, options: list[ProtoOption]) -> list[str]:
        return [f"option {self._write_option(option)};\n" for option in self.prepare_options(options)]

    def _write_brackets(self, options: list[ProtoOption]) -> str:
        prepared = self.prepare_options(options)
        return f" {self._write_list([self._write_option(option) for option in prepared])}" if prepared else ""

    def _write_list(self, elements: list[str]) -> str:
        if len(elements) == 1:
            return f"[{elements[0]}]"
        return f"[\n{self._indent(_separate(elements))}]"

    def _write_option(self, option: ProtoOption) -> str:
        name = f"({option.name})" if option.is_custom else option.name
        match option.value:
            case ProtoOption():
                return f"{name}.{self._write_option(option.value)}"
            case list():
                return f"{name} = {self._write_list([self.write_value(value) for value in option.value])}"
        return f"{name} = {self.write_value(option.value)}"

    def write_value(self, value: Any) -> str:
        match value:
            case str():
                return f'"{value.translate(ESCAPE_TABLE)}"'
            case ProtoWord():
                return self.prepare_number(value.text) if value.kind == "number" else value.text
            case dict():
                return f"{{\n{self._indent(_separate([f'{key}: {self.write_value(member)}' for key, member in value.items()]))}}}"
            case list():
                return f"[\n{self._indent(_separate([self.write_value(element) for element in value]))}]"
        raise TypeError(f"{value!r} is not the value of an option")

    def _indent_sections(self, sections: Iterable[list[str]]) -> str:
        """Returns the sections that are not empty, each after a line break, so that the first one begins a line and others follow a gap."""
        return "".join(f"\n{self._indent(section)}" for section in sections if section)

    def _indent(self, parts: Iterable[str]) -> str:
        text = "".join(part if part.endswith("\n") else f"{part}\n" for part in parts if part)
        self.count_characters(text)
        return "  " + text[:-1].replace("\n", "\n  ") + "\n" if text else ""

    def count_characters(self, text: str) -> None:
        """Counts a part of the text. Raises `InvalidSchema` if all parts are too long."""
        self._characters += len(text)
        if self._characters > MAX_WRITTEN_CHARACTERS:
            raise InvalidSchema("the names of the schema are too long, or too much of it is nested; shorten names, or nest less")


class ProtoTextWithoutExtensions(ProtoText):
    """Leaves out extensions and custom options, apart from Confluent's, for `format=ignore_extensions`."""

    def prepare_options(self, options: list[ProtoOption]) -> list[ProtoOption]:
        return [option for option in options if not option.is_custom or option.name.startswith("confluent.")]

    def prepare_extensions(self, ranges: list[ProtoRanges]) -> list[ProtoRanges]:  # noqa: ARG002
        return []

    def prepare_extends(self, extends: list[ProtoExtend]) -> list[ProtoExtend]:  # noqa: ARG002
        return []


def _value_of_type(kind: str, default: str) -> str | ProtoWord:
    """Returns a default as the value of an option. Confluent's registry writes that of bytes without quotes, even if it is no word."""
    simple = kind.rpartition(".")[2]
    if simple == "string" or (simple == "bytes" and not WORD.fullmatch(default)):
        return default
    return ProtoWord(default, "boolean" if simple == "bool" else "number" if simple in SCALAR_TYPES else "enum")


def _write_ranges(keyword: str, ranges: ProtoRanges, options: str = "") -> str:
    return f"{keyword} {', '.join(map(_write_range, ranges.values))}{options};\n"


def _write_range(value: int | tuple[int, int] | str) -> str:
    if isinstance(value, tuple):
        return f"{value[0]} to {value[1] if value[1] < MAX_TAG else 'max'}"
    return f'"{value}"' if isinstance(value, str) else str(value)


def _separate(elements: list[str]) -> list[str]:
    return [f"{element}," for element in elements[:-1]] + elements[-1:]
