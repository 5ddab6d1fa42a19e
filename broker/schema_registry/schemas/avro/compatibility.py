"""Whether data of one Avro schema can be read with another, by the rules of Avro's specification ("Schema Resolution").

The package `avro` has these rules as well, but it merges what it finds into sets, so that a message is no longer beside its path. Clients
see the messages, so that the order of checks, the paths and the words are those of Java's `SchemaCompatibility`.
"""

from __future__ import annotations

from ..schema import MAX_COMPARISONS, MAX_MESSAGES, ComparisonTooLarge
from .types import NO_DEFAULT, PRIMITIVES, AvroArray, AvroEnum, AvroField, AvroFixed, AvroMap, AvroRecord, AvroType, AvroUnion, NamedType

MAX_DEPTH = 150
"""How deep pairs of types may contain each other. Two cycles of records meet in as many pairs as the product of their lengths."""

PROMOTIONS = {
    "long": ("int",),
    "float": ("int", "long"),
    "double": ("int", "long", "float"),
    "bytes": ("string",),
    "string": ("bytes",),
}
"""The types of which a reader of another type can read data."""

Location = tuple[str, ...]


class AvroComparison:
    """Compares pairs of types of two schemas, each pair once: the result of a pair is kept with the paths of its first place.

    A pair that is met again while it is being compared is compatible unless it is proven incompatible elsewhere.
    """

    def __init__(self) -> None:
        self._results: dict[tuple[int, int], list[str]] = {}
        self._depth = 0

    def compare(self, reader: AvroType, writer: AvroType, location: Location = ("",)) -> list[str]:
        """Returns why `reader` cannot read data of `writer`. Raises `ComparisonTooLarge` if that is too much work to find out."""
        pair = (id(reader), id(writer))
        if pair not in self._results:
            self._results[pair] = []
            self._depth += 1
            if len(self._results) > MAX_COMPARISONS or self._depth > MAX_DEPTH:
                raise ComparisonTooLarge
            self._results[pair] = self._compare(reader, writer, location)[:MAX_MESSAGES]
            self._depth -= 1
        return self._results[pair]

    def _compare(self, reader: AvroType, writer: AvroType, location: Location) -> list[str]:
        if isinstance(writer, AvroUnion):
            return self._compare_branches(reader, writer, location)
        match reader, writer:
            case AvroUnion(), _:
                return self._find_branch(reader, writer, location)
            case AvroArray(), AvroArray():
                return self.compare(reader.items, writer.items, (*location, "items"))
            case AvroMap(), AvroMap():
                return self.compare(reader.values, writer.values, (*location, "values"))
            case AvroFixed(), AvroFixed():
                return _compare_names(reader, writer, location) + _compare_sizes(reader, writer, location)
            case AvroEnum(), AvroEnum():
                return _compare_names(reader, writer, location) + _compare_symbols(reader, writer, location)
            case AvroRecord(), AvroRecord():
                return _compare_names(reader, writer, location) + self._compare_fields(reader, writer, location)
        if reader.kind == writer.kind in PRIMITIVES or writer.kind in PROMOTIONS.get(reader.kind, ()):
            return []
        message = f"reader type: {reader.kind.upper()} not compatible with writer type: {writer.kind.upper()}"
        problem = f"The type (path '{_path(location)}') of a field in the %s schema does not match with the %s schema"
        return [_difference("TYPE_MISMATCH", problem, message)]

    def _compare_branches(self, reader: AvroType, writer: AvroUnion, location: Location) -> list[str]:
        """Every branch of the writer's union must be readable. If the reader is a union too, only the missing branch is reported."""
        found: list[str] = []
        for index, branch in enumerate(writer.branches):
            if not isinstance(reader, AvroUnion):
                found += self.compare(reader, branch, (*location, str(index)))
            elif self.compare(reader, branch):
                found.append(_missing_branch(branch, (*location, str(index))))
        return found

    def _find_branch(self, reader: AvroUnion, writer: AvroType, location: Location) -> list[str]:
        if any(not self.compare(branch, writer) for branch in reader.branches):
            return []
        return [_missing_branch(writer, location)]

    def _compare_fields(self, reader: AvroRecord, writer: AvroRecord, location: Location) -> list[str]:
        found: list[str] = []
        written = {field.name: field for field in writer.fields}
        for index, field in enumerate(reader.fields):
            place = (*location, "fields", str(index))
            names = [name for name in (field.name, *field.aliases) if name in written]
            if len(names) > 1:
                raise ValueError(f"Reader record field {field.name} matches multiple fields in writer record schema {writer.name.full}")
            if names:
                found += self.compare(field.type, written[names[0]].type, (*place, "type"))
            elif field.default is NO_DEFAULT:
                found += self._compare_missing(field, writer, place)
        return found

    def _compare_missing(self, field: AvroField, writer: AvroRecord, place: Location) -> list[str]:
        if isinstance(field.type, AvroEnum) and field.type.default is not None:
            return self.compare(field.type, writer, (*place, "type"))
        problem = f"The field '{field.name}' at path '{_path(place)}' in the %s schema has no default value and is missing in the %s schema"
        return [_difference("READER_FIELD_MISSING_DEFAULT_VALUE", problem, field.name)]


def _compare_names(reader: NamedType, writer: NamedType, location: Location) -> list[str]:
    if reader.name.short == writer.name.short or writer.name in reader.aliases:
        return []
    problem = f"The name of the schema has changed (path '{_path((*location, 'name'))}')"
    return [_difference("NAME_MISMATCH", problem, f"expected: {writer.name.full}")]


def _compare_sizes(reader: AvroFixed, writer: AvroFixed, location: Location) -> list[str]:
    if reader.size == writer.size:
        return []
    problem = f"The size of FIXED type field at path '{_path((*location, 'size'))}' in the %s schema does not match with the %s schema"
    return [_difference("FIXED_SIZE_MISMATCH", problem, f"expected: {writer.size}, found: {reader.size}")]


def _compare_symbols(reader: AvroEnum, writer: AvroEnum, location: Location) -> list[str]:
    missing = sorted(set(writer.symbols) - set(reader.symbols))
    if not missing or reader.default is not None:
        return []
    symbols = f"[{', '.join(missing)}]"
    problem = f"The %s schema is missing enum symbols '{symbols}' at path '{_path((*location, 'symbols'))}' in the %s schema"
    return [_difference("MISSING_ENUM_SYMBOLS", problem, symbols)]


def _missing_branch(writer: AvroType, location: Location) -> str:
    problem = f"The %s schema is missing a type inside a union field at path '{_path(location)}' in the %s schema"
    return _difference("MISSING_UNION_BRANCH", problem, f"reader union lacking writer type: {writer.kind.upper()}")


def _path(location: Location) -> str:
    return "/".join(location) if len(location) > 1 else "/"


def _difference(error_type: str, problem: str, message: str) -> str:
    """Returns one line of Confluent's verbose answer, with `%s` for the name of the reader and for that of the writer."""
    return f"{{errorType:'{error_type}', description:'{problem}', additionalInfo:'{message}'}}"
