"""Finds types by name, as protoc does: from the innermost scope outwards."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass

from ..schema import InvalidSchema
from .elements import ProtoEnum, ProtoExtend, ProtoField, ProtoFile, ProtoMessage

MAX_MESSAGE_NESTING = 32
"""The deepest nesting of messages, which is also protoc's limit."""

MAX_NAME_CHARACTERS = 20_000_000
"""The most characters of the full names that are looked up for one schema, because long names in deep messages would fill the memory."""

LOCAL = ("", -1)
"""Stands for the subject and version of the schema itself."""

_KNOWN_ENUMS = """
google.protobuf.NullValue google.protobuf.Syntax google.protobuf.Field.Kind google.protobuf.Field.Cardinality
google.protobuf.Edition google.protobuf.FieldDescriptorProto.Type google.protobuf.FieldDescriptorProto.Label
google.protobuf.FileOptions.OptimizeMode google.protobuf.FieldOptions.CType google.protobuf.FieldOptions.JSType
google.protobuf.MethodOptions.IdempotencyLevel google.type.CalendarPeriod google.type.DayOfWeek google.type.Month
"""
_KNOWN_MESSAGES = """
google.protobuf.Any google.protobuf.Api google.protobuf.Method google.protobuf.Mixin google.protobuf.Duration
google.protobuf.Empty google.protobuf.FieldMask google.protobuf.SourceContext google.protobuf.Struct google.protobuf.Value
google.protobuf.ListValue google.protobuf.Timestamp google.protobuf.Type google.protobuf.Field google.protobuf.Enum
google.protobuf.EnumValue google.protobuf.Option google.protobuf.DoubleValue google.protobuf.FloatValue google.protobuf.Int64Value
google.protobuf.UInt64Value google.protobuf.Int32Value google.protobuf.UInt32Value google.protobuf.BoolValue
google.protobuf.StringValue google.protobuf.BytesValue google.protobuf.FileDescriptorSet google.protobuf.FileDescriptorProto
google.protobuf.DescriptorProto google.protobuf.FieldDescriptorProto google.protobuf.OneofDescriptorProto
google.protobuf.EnumDescriptorProto google.protobuf.EnumValueDescriptorProto google.protobuf.ServiceDescriptorProto
google.protobuf.MethodDescriptorProto google.protobuf.FileOptions google.protobuf.MessageOptions google.protobuf.FieldOptions
google.protobuf.OneofOptions google.protobuf.EnumOptions google.protobuf.EnumValueOptions google.protobuf.ServiceOptions
google.protobuf.MethodOptions google.protobuf.ExtensionRangeOptions google.protobuf.UninterpretedOption google.protobuf.FeatureSet
google.type.Color google.type.Date google.type.DateTime google.type.TimeZone google.type.Decimal google.type.Expr
google.type.Fraction google.type.Interval google.type.LatLng google.type.Money google.type.PhoneNumber google.type.PostalAddress
google.type.Quaternion google.type.TimeOfDay confluent.Meta confluent.type.Decimal confluent.type.Variant
"""


@dataclass(frozen=True, eq=False)
class ProtoType:
    """A message or an enum with its place: package, names of the messages around it and its own, and the schema that declares it.

    `origin` is the subject and version of a reference, LOCAL for the schema itself, and None for known types and indirect references.
    """

    element: ProtoMessage | ProtoEnum
    package: str
    path: tuple[str, ...]
    origin: tuple[str, int] | None

    @property
    def full_name(self) -> str:
        return ".".join((self.package, *self.path) if self.package else self.path)

    @property
    def map_type(self) -> str | None:
        return self.element.map_type if isinstance(self.element, ProtoMessage) else None


def _make_types(names: Iterable[str], make: Callable[[str], ProtoMessage | ProtoEnum]) -> dict[str, ProtoType]:
    types: dict[str, ProtoType] = {}
    for name in names:
        package = "confluent" if name == "confluent.Meta" else ".".join(name.split(".")[:2])
        path = tuple(name.removeprefix(f"{package}.").split("."))
        types[name] = ProtoType(make(path[-1]), package, path, None)
    return types


KNOWN_TYPES = _make_types(_KNOWN_ENUMS.split(), ProtoEnum) | _make_types(_KNOWN_MESSAGES.split(), ProtoMessage)
"""The types of the files that come with protoc, googleapis and Confluent's registry, which nobody registers."""


KNOWN_EXTENSIONS = {
    f"confluent.{kind}_meta": ProtoField("optional", "confluent.Meta", f"{kind}_meta", 1088)
    for kind in ("file", "message", "field", "enum", "enum_value")
}
"""The options of Confluent's file confluent/meta.proto."""


class ProtoNames:
    """The types and extensions that a file can name: its own, and those of its references and of the known files.

    Raises `InvalidSchema` for messages nested deeper than `MAX_MESSAGE_NESTING`, and, as `find` does, for names that are too long together.
    """

    def __init__(self, file: ProtoFile, dependencies: Mapping[str, tuple[ProtoFile, tuple[str, int] | None]]) -> None:
        self.types: dict[str, ProtoType] = dict(KNOWN_TYPES)
        self.extensions = dict(KNOWN_EXTENSIONS)
        self.package = file.package or ""
        self._found: dict[tuple[str, str, tuple[str, ...]], ProtoType | None] = {}
        self._characters = 0
        for dependency, origin in dependencies.values():
            self._add_file(dependency, origin)
        self._add_file(file, LOCAL)

    def _add_file(self, file: ProtoFile, origin: tuple[str, int] | None) -> None:
        package = file.package or ""
        self._add_extensions(file.extends, package, ())
        pending = [ProtoType(element, package, (element.name,), origin) for element in file.types]
        while pending:
            found = pending.pop()
            if len(found.path) > MAX_MESSAGE_NESTING:
                raise InvalidSchema(f"the messages are nested deeper than {MAX_MESSAGE_NESTING} levels")
            self._count(found.full_name)
            self.types[found.full_name] = found
            if isinstance(found.element, ProtoMessage):
                self._add_extensions(found.element.extends, package, found.path)
                pending += [ProtoType(nested, package, (*found.path, nested.name), origin) for nested in found.element.types]

    def _add_extensions(self, extends: list[ProtoExtend], package: str, path: tuple[str, ...]) -> None:
        prefix = "".join(f"{name}." for name in ((package, *path) if package else path))
        for field in (field for extend in extends for field in extend.fields):
            self._count(prefix)
            self.extensions[prefix + field.name] = field

    def find(self, name: str, package: str, path: tuple[str, ...]) -> ProtoType | None:
        """Returns the type that `name` means within the message at `path` of a file of `package`, None if it is unknown."""
        place = (name, package, path)
        if place not in self._found:
            full_name = self._first(self.types, name, package, path)
            self._found[place] = self.types[full_name] if full_name else None
        return self._found[place]

    def find_extension(self, name: str, path: tuple[str, ...]) -> str | None:
        """Returns the full name of the extension that `name` means within the message at `path` of the file, None if it is unknown."""
        return self._first(self.extensions, name, self.package, path)

    def _first(self, known: Mapping[str, object], name: str, package: str, path: tuple[str, ...]) -> str | None:
        """Returns the full name of `name`, which is the first known one from the innermost scope outwards; None if there is none."""
        if name.startswith("."):
            return name[1:] if name[1:] in known else None
        scope = [*package.split("."), *path] if package else list(path)
        while scope:
            full_name = f"{'.'.join(scope)}.{name}"
            self._count(full_name)
            if full_name in known:
                return full_name
            scope.pop()
        return name if name in known else None

    def _count(self, full_name: str) -> None:
        self._characters += len(full_name)
        if self._characters > MAX_NAME_CHARACTERS:
            raise InvalidSchema("the names of the package and of nested messages are too long together; shorten them")
