"""Whether data of one Avro schema can be read with another, by the rules of Avro's specification ("Schema Resolution").

The package `avro` has these rules as well, but it merges what it finds into sets, so that a message is no longer beside its path. Clients
see the messages, so that the order of checks, the paths and the words are those of Java's `SchemaCompatibility`.
"""

from __future__ import annotations

from ..json_text import write_json
from ..pairs import PairComparison, Steps
from .description import AvroDescription
from .types import NO_DEFAULT, PRIMITIVES, AvroArray, AvroEnum, AvroField, AvroFixed, AvroMap, AvroRecord, AvroType, AvroUnion, NamedType

PROMOTIONS = {
    "long": ("int",),
    "float": ("int", "long"),
    "double": ("int", "long", "float"),
    "bytes": ("string",),
    "string": ("bytes",),
}
"""The types of which a reader of another type can read data."""

Path = tuple[str, ...]
AvroSteps = Steps[AvroType, str]

ROOT = ("",)
"""The path of the whole schema. Branches that are tried out have it, too, because nobody sees their paths."""


class AvroComparison(PairComparison[AvroType, str]):
    """Compares types. Java keeps the result of a pair with the paths of its first place, and so does this class."""

    def compare_pair(self, first: AvroType, second: AvroType, path: Path) -> AvroSteps | list[str]:
        reader, writer = first, second
        if isinstance(writer, AvroUnion):
            return self._compare_branches(reader, writer, path)
        match reader, writer:
            case AvroUnion(), _:
                return self._find_branch(reader, writer, path)
            case AvroArray(), AvroArray():
                return _compare_part(reader.items, writer.items, (*path, "items"))
            case AvroMap(), AvroMap():
                return _compare_part(reader.values, writer.values, (*path, "values"))
            case AvroRecord(), AvroRecord():
                return self._compare_records(reader, writer, path)
        return _compare_simple_types(reader, writer, path)

    def _compare_branches(self, reader: AvroType, writer: AvroUnion, path: Path) -> AvroSteps:
        """Every branch of the writer's union must be readable. If the reader is a union too, only the missing branch is reported."""
        found: list[str] = []
        for index, branch in enumerate(writer.branches):
            if not isinstance(reader, AvroUnion):
                found += yield reader, branch, (*path, str(index))
            elif (yield reader, branch, ROOT):
                found.append(_missing_branch(branch, (*path, str(index))))
        return found

    def _find_branch(self, reader: AvroUnion, writer: AvroType, path: Path) -> AvroSteps:
        for branch in reader.branches:
            if not (yield branch, writer, ROOT):
                return []
        return [_missing_branch(writer, path)]

    def _compare_records(self, reader: AvroRecord, writer: AvroRecord, path: Path) -> AvroSteps:
        found = _compare_names(reader, writer, path)
        written = {field.name: field for field in writer.fields}
        for index, field in enumerate(reader.fields):
            place = (*path, "fields", str(index))
            names = [name for name in (field.name, *field.aliases) if name in written]
            if len(names) > 1:
                described = f"{field.name} type:{field.type.kind.upper()} pos:{index}"
                text = write_json(AvroDescription().describe(writer))
                raise ValueError(f"Reader record field {described} matches multiple fields in writer record schema {text}")
            if names:
                found += yield field.type, written[names[0]].type, (*place, "type")
            elif field.default is NO_DEFAULT and isinstance(field.type, AvroEnum) and field.type.default is not None:
                found += yield field.type, writer, (*place, "type")
            elif field.default is NO_DEFAULT:
                found.append(_missing_field(field, place))
        return found


def _compare_part(reader: AvroType, writer: AvroType, path: Path) -> AvroSteps:
    return (yield reader, writer, path)


def _compare_simple_types(reader: AvroType, writer: AvroType, path: Path) -> list[str]:
    match reader, writer:
        case AvroFixed(), AvroFixed():
            return _compare_names(reader, writer, path) + _compare_sizes(reader, writer, path)
        case AvroEnum(), AvroEnum():
            return _compare_names(reader, writer, path) + _compare_symbols(reader, writer, path)
    if reader.kind == writer.kind in PRIMITIVES or writer.kind in PROMOTIONS.get(reader.kind, ()):
        return []
    message = f"reader type: {reader.kind.upper()} not compatible with writer type: {writer.kind.upper()}"
    problem = f"The type (path '{_path(path)}') of a field in the %s schema does not match with the %s schema"
    return [_difference("TYPE_MISMATCH", problem, message)]


def _missing_field(field: AvroField, path: Path) -> str:
    problem = f"The field '{field.name}' at path '{_path(path)}' in the %s schema has no default value and is missing in the %s schema"
    return _difference("READER_FIELD_MISSING_DEFAULT_VALUE", problem, field.name)


def _compare_names(reader: NamedType, writer: NamedType, path: Path) -> list[str]:
    if reader.name.short == writer.name.short or writer.name in reader.aliases:
        return []
    problem = f"The name of the schema has changed (path '{_path((*path, 'name'))}')"
    return [_difference("NAME_MISMATCH", problem, f"expected: {writer.name.full}")]


def _compare_sizes(reader: AvroFixed, writer: AvroFixed, path: Path) -> list[str]:
    if reader.size == writer.size:
        return []
    problem = f"The size of FIXED type field at path '{_path((*path, 'size'))}' in the %s schema does not match with the %s schema"
    return [_difference("FIXED_SIZE_MISMATCH", problem, f"expected: {writer.size}, found: {reader.size}")]


def _compare_symbols(reader: AvroEnum, writer: AvroEnum, path: Path) -> list[str]:
    missing = sorted(set(writer.symbols) - set(reader.symbols))
    if not missing or reader.default is not None:
        return []
    symbols = f"[{', '.join(missing)}]"
    problem = f"The %s schema is missing enum symbols '{symbols}' at path '{_path((*path, 'symbols'))}' in the %s schema"
    return [_difference("MISSING_ENUM_SYMBOLS", problem, symbols)]


def _missing_branch(writer: AvroType, path: Path) -> str:
    problem = f"The %s schema is missing a type inside a union field at path '{_path(path)}' in the %s schema"
    return _difference("MISSING_UNION_BRANCH", problem, f"reader union lacking writer type: {writer.kind.upper()}")


def _path(path: Path) -> str:
    return "/".join(path) if len(path) > 1 else "/"


def _difference(error_type: str, problem: str, message: str) -> str:
    """Returns one line of Confluent's verbose answer, with `%s` for the name of the reader and for that of the writer."""
    return f"{{errorType:'{error_type}', description:'{problem}', additionalInfo:'{message}'}}"
