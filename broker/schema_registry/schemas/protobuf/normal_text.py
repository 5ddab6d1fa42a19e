"""The normal form of a `.proto` file: full names of types, sorted fields, no synthetic messages for maps."""

from __future__ import annotations

from dataclasses import replace
from decimal import ROUND_HALF_EVEN, Decimal, InvalidOperation
from typing import Any

from ....plurals import counted
from ..schema import InvalidSchema
from .elements import (
    SCALAR_TYPES,
    ProtoEnum,
    ProtoExtend,
    ProtoField,
    ProtoFile,
    ProtoGroup,
    ProtoMessage,
    ProtoOneOf,
    ProtoOption,
    ProtoRanges,
)
from .names import ProtoNames, ProtoType
from .text import ProtoText

MAX_MERGED_OPTIONS = 200
"""How often an option may be set in one place, because each time is merged with all before."""


class NormalProtoText(ProtoText):
    """Writes the normal form. Raises `InvalidSchema` for a type that is not known."""

    def __init__(self, names: ProtoNames) -> None:
        super().__init__()
        self._names = names
        self._path: tuple[str, ...] = ()

    def write_syntax(self, file: ProtoFile) -> str:
        return super().write_syntax(file) if file.syntax != "proto2" else ""

    def prepare_imports(self, imports: list[str]) -> list[str]:
        return sorted(set(imports))

    def prepare_types(self, types: list[ProtoMessage | ProtoEnum]) -> list[ProtoMessage | ProtoEnum]:
        return [element for element in types if isinstance(element, ProtoEnum) or element.map_type is None]

    def prepare_fields(self, fields: list[ProtoField]) -> list[ProtoField]:
        return sorted(fields, key=lambda field: field.tag)

    def prepare_constants(self, constants: list[ProtoField]) -> list[ProtoField]:
        return sorted(constants, key=lambda constant: (constant.tag, constant.name))

    def prepare_groups(self, groups: list[ProtoGroup]) -> list[ProtoGroup]:
        return sorted(groups, key=lambda group: group.tag)

    def prepare_oneofs(self, oneofs: list[ProtoOneOf]) -> list[ProtoOneOf]:
        return sorted((oneof for oneof in oneofs if oneof.fields), key=lambda oneof: min(field.tag for field in oneof.fields))

    def prepare_reserved(self, ranges: list[ProtoRanges]) -> list[ProtoRanges]:
        return sorted(_split_ranges(ranges), key=lambda one: (_start_of(one.values[0]), _text_of(one.values[0])))

    def prepare_extensions(self, ranges: list[ProtoRanges]) -> list[ProtoRanges]:
        return sorted(_split_ranges(ranges), key=lambda one: _start_of(one.values[0]))

    def prepare_extends(self, extends: list[ProtoExtend]) -> list[ProtoExtend]:
        grouped: dict[str, ProtoExtend] = {}
        for extend in extends:
            name = self.prepare_type_name(extend.name)
            grouped.setdefault(name, ProtoExtend(name, [])).fields.extend(extend.fields)
        return list(grouped.values())

    def prepare_type_name(self, name: str) -> str:
        return self._reference(self._find(name))

    def prepare_field_type(self, field: ProtoField) -> tuple[str | None, str]:
        kind = field.type
        if kind in SCALAR_TYPES:
            return field.label, kind
        if not kind.startswith("map<"):
            found = self._find(kind)
            if found.map_type is None:
                return field.label, self._reference(found)
            kind = found.map_type
        key, value = kind.removeprefix("map<").removesuffix(">").split(", ")
        found_value = self._names.find(value, self._names.package, self._path)
        return None, f"map<{key}, {self._reference(found_value) if found_value else value}>"

    def prepare_number(self, number: str) -> str:
        """Returns a number with at most three digits behind the point, as Java's DecimalFormat does."""
        try:
            value = Decimal(int(number, 0)) if number.lstrip("-").lower().startswith("0x") else Decimal(number)
            if not value.is_finite():
                return number
            return format(value.quantize(Decimal("0.001"), ROUND_HALF_EVEN).normalize() + 0, "f")
        except (InvalidOperation, ValueError):
            return number

    def prepare_options(self, options: list[ProtoOption]) -> list[ProtoOption]:
        """Gives custom options their full names, sorts options by name, and merges those that set parts of the same message."""
        prepared: dict[str, list[ProtoOption]] = {}
        for option in sorted(map(self._qualify_option, options), key=lambda option: option.name):
            prepared.setdefault(option.name, []).append(option)
        return [option for name, several in prepared.items() for option in self._merge_options(name, several)]

    def enter_message(self, message: ProtoMessage) -> None:
        self._path = (*self._path, message.name)

    def leave_message(self) -> None:
        self._path = self._path[:-1]

    def write_value(self, value: Any) -> str:
        if isinstance(value, dict):
            return super().write_value({self._qualify_key(key): value[key] for key in sorted(value) if value[key] != []})
        return self.write_value(value[0]) if isinstance(value, list) and len(value) == 1 else super().write_value(value)

    def _find(self, name: str) -> ProtoType:
        found = self._names.find(name, self._names.package, self._path)
        if found is None:
            raise InvalidSchema(f"Could not resolve type: {name}")
        return found

    def _reference(self, found: ProtoType) -> str:
        """Returns how the text refers to a type."""
        name = f".{found.full_name}"
        self.count_characters(name)
        return name

    def _find_extension(self, name: str) -> str | None:
        full_name = self._names.find_extension(name, self._path)
        self.count_characters(full_name or "")
        return full_name

    def _qualify_key(self, key: str) -> str:
        full_name = self._find_extension(key[1:-1]) if key.startswith("[") else None
        return f"[{full_name}]" if full_name else key

    def _qualify_option(self, option: ProtoOption) -> ProtoOption:
        full_name = self._find_extension(option.name) if option.is_custom else None
        return replace(option, name=full_name, value=_nested_as_dict(option.value)) if full_name else option

    def _merge_options(self, name: str, options: list[ProtoOption]) -> list[ProtoOption]:
        extension = self._names.extensions.get(name)
        if extension is None or extension.label == "repeated" or len(options) == 1:
            return options
        if len(options) > MAX_MERGED_OPTIONS:
            raise InvalidSchema(
                f"the option {name} is set {counted(len(options), 'time')} in one place, but at most {MAX_MERGED_OPTIONS} are allowed"
            )
        merged = options[0].value
        for option in options[1:]:
            merged = self._merge_values(extension, merged, _nested_as_dict(option.value))
        return [replace(options[-1], value=merged)]

    def _merge_values(self, field: ProtoField | None, earlier: Any, later: Any) -> Any:
        """Merges two values of a field. Messages are merged, a repeated or unknown field has both values, another one the later value."""
        if field is None or field.label == "repeated":
            values = [value for several in (earlier, later) for value in (several if isinstance(several, list) else [several])]
            return list({self.write_value(value): value for value in values}.values())
        found = self._names.find(field.type, self._names.package, self._path)
        if not isinstance(earlier, dict) or not isinstance(later, dict) or found is None or not isinstance(found.element, ProtoMessage):
            return later
        fields = {one.name: one for one in [*found.element.fields, *(one for oneof in found.element.oneofs for one in oneof.fields)]}
        merged = dict(earlier)
        for name, value in later.items():
            merged[name] = self._merge_values(fields.get(name), merged[name], value) if name in merged else value
        return merged


def _nested_as_dict(value: Any) -> Any:
    return {value.name: _nested_as_dict(value.value)} if isinstance(value, ProtoOption) else value


def _split_ranges(ranges: list[ProtoRanges]) -> list[ProtoRanges]:
    return [ProtoRanges([_shorten(value)], one.options) for one in ranges for value in one.values]


def _shorten(value: int | tuple[int, int] | str) -> int | tuple[int, int] | str:
    return value[0] if isinstance(value, tuple) and value[0] == value[1] else value


def _start_of(value: int | tuple[int, int] | str) -> int:
    return value[0] if isinstance(value, tuple) else value if isinstance(value, int) else 2**31 - 1


def _text_of(value: int | tuple[int, int] | str) -> str:
    return f"{value[0]}..{value[1]}" if isinstance(value, tuple) else str(value)
