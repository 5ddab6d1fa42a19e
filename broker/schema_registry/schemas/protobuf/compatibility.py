"""Whether data of one Protobuf schema can be read with another, by the rules of Confluent's registry (package `protobuf.diff`).

Only differences that make schemas incompatible are returned. `old` is the schema of the data.
"""

from __future__ import annotations

from collections.abc import Iterator

from ....kafka_quirks.java_hash import hash_map_order
from ..pairs import PairComparison, Steps
from .elements import ProtoEnum, ProtoField, ProtoFile, ProtoMessage
from .names import LOCAL, ProtoNames, ProtoType

Difference = tuple[str, tuple[str, ...]]
Labels = tuple[str | None, str | None]
ProtoSteps = Steps[ProtoType, Difference]

MESSAGES = {
    "PACKAGE_CHANGED": "The package at '{}' in the %s schema does not match the package in the %s schema",
    "MESSAGE_REMOVED": "The %s schema is missing a MESSAGE type at path '{}' in the %s schema",
    "FIELD_KIND_CHANGED": "The type of a field at path '{}' in the %s schema does not match the %s schema",
    "FIELD_SCALAR_KIND_CHANGED": "The kind of a SCALAR field at path '{}' in the %s schema does not match its kind in the %s schema",
    "FIELD_NAMED_TYPE_CHANGED": "The type of a MESSAGE field at path '{}' in the %s schema does not match its type in the %s schema",
    "FIELD_NUMERIC_LABEL_CHANGED": "The label for a NUMERIC field at path '{}' in the %s schema does not match its label in the %s schema",
    "REQUIRED_FIELD_ADDED": "A required field  at path '{}' in the %s schema is missing in the %s schema",
    "REQUIRED_FIELD_REMOVED": "The %s schema is missing a required field at path: '{}' in the %s schema",
    "ONEOF_FIELD_REMOVED": "The %s schema is missing a oneof field at path '{}' in the %s schema",
    "MULTIPLE_FIELDS_MOVED_TO_ONEOF": "Multiple fields in the oneof at path '{}' in the %s schema are outside a oneof in the %s schema",
    "FIELD_MOVED_TO_EXISTING_ONEOF": ("A field in the oneof at path '{}' in the %s schema is outside an existing oneof in the %s schema"),
}
SCALAR_KINDS = {
    **dict.fromkeys(("int32", "int64", "uint32", "uint64", "bool"), "GENERAL_NUMBER"),
    **dict.fromkeys(("sint32", "sint64"), "SIGNED_NUMBER"),
    **dict.fromkeys(("string", "bytes"), "STRING_OR_BYTES"),
    **dict.fromkeys(("fixed32", "sfixed32"), "FIXED32"),
    **dict.fromkeys(("fixed64", "sfixed64"), "FIXED64"),
    "float": "FLOAT",
    "double": "DOUBLE",
}
"""The scalar types of a kind can read each other's data (https://protobuf.dev/programming-guides/proto3/#updating)."""


def describe_difference(difference: Difference) -> str:
    kind, path = difference
    return f'{{errorType:"{kind}", description:"{MESSAGES[kind].replace("{}", "#/" + "/".join(path))}"}}'


class ProtoComparison(PairComparison[ProtoType, Difference]):
    """Compares two files. A pair is a message of each; paths consist of names of messages and oneofs, and numbers of fields."""

    def __init__(self, old: ProtoNames, new: ProtoNames) -> None:
        super().__init__()
        self._old = old
        self._new = new

    def compare_files(self, old: ProtoFile, new: ProtoFile) -> list[Difference]:
        found: list[Difference] = [] if old.package == new.package else [("PACKAGE_CHANGED", ())]
        roots = [ProtoType(ProtoMessage("", types=file.types), file.package or "", (), LOCAL) for file in (old, new)]
        return found + self.compare(roots[0], roots[1])

    def compare_pair(self, first: ProtoType, second: ProtoType, path: tuple[str, ...]) -> ProtoSteps:  # noqa: ARG002
        old, new = MessageFields(first), MessageFields(second)
        found = [*_compare_oneofs(old, new)]
        for tag in sorted(old.fields.keys() | new.fields.keys()):
            if tag not in new.fields:
                found += _describe_removed(old, new, tag)
            elif tag in old.fields:
                found += yield from self._compare_fields(first, second, old.fields[tag], new.fields[tag], new.place_of(tag))
            elif new.fields[tag].label == "required":
                found.append(("REQUIRED_FIELD_ADDED", new.place_of(tag)))
        return found + (yield from self._compare_nested(first, second))

    def _compare_nested(self, old: ProtoType, new: ProtoType) -> ProtoSteps:
        found: list[Difference] = []
        before, after = _nested_messages(old, self._old), _nested_messages(new, self._new)
        for name in hash_map_order([*before, *after], max(int(len(before) / 0.75) + 1, 16)):
            if name in before and name in after:
                found += yield before[name], after[name], ()
            elif name in before and before[name].map_type is None:
                found.append(("MESSAGE_REMOVED", (*old.path, name)))
        return found

    def _compare_fields(
        self, old_scope: ProtoType, new_scope: ProtoType, old: ProtoField, new: ProtoField, place: tuple[str, ...]
    ) -> ProtoSteps:
        labels = (old.label, new.label)
        return (yield from self._compare_types((old_scope, new_scope), labels, (old.type, new.type), place))

    def _compare_types(
        self, scopes: tuple[ProtoType, ProtoType], labels: Labels, names: tuple[str, str], place: tuple[str, ...]
    ) -> ProtoSteps:
        """Compares the types of two fields, or of the keys or values of two maps, which have no labels."""
        old = self._old.find(names[0], scopes[0].package, scopes[0].path)
        new = self._new.find(names[1], scopes[1].package, scopes[1].path)
        old_name, new_name = (found.map_type or name if found else name for found, name in ((old, names[0]), (new, names[1])))
        old_kind, new_kind = _kind_of(old_name, old), _kind_of(new_name, new)
        if "map" in (old_kind, new_kind) or "message" in (old_kind, new_kind):
            if old_kind != new_kind:
                return [("FIELD_KIND_CHANGED", place)]
            if old_kind == "map":
                return (yield from self._compare_maps(scopes, old_name, new_name, place))
            return (yield from _compare_messages(old, new, names, place))
        if old_kind != new_kind:
            return [("FIELD_SCALAR_KIND_CHANGED", place)]
        if None not in labels and labels[0] != labels[1] and old_kind != "STRING_OR_BYTES":
            return [("FIELD_NUMERIC_LABEL_CHANGED", place)]
        return []

    def _compare_maps(self, scopes: tuple[ProtoType, ProtoType], old: str, new: str, place: tuple[str, ...]) -> ProtoSteps:
        found: list[Difference] = []
        for names in zip(_types_of_map(old), _types_of_map(new), strict=True):
            found += yield from self._compare_types(scopes, (None, None), names, place)
        return found


class MessageFields:
    """The fields of a message by number, with those of its oneofs."""

    def __init__(self, scope: ProtoType) -> None:
        message = _as_message(scope)
        self.path = scope.path
        self.oneofs = {oneof.name: [field.tag for field in oneof.fields] for oneof in message.oneofs}
        self.fields = {field.tag: field for field in [*message.fields, *(field for oneof in message.oneofs for field in oneof.fields)]}
        self.oneof_of = {tag: name for name, tags in self.oneofs.items() for tag in tags}

    def place_of(self, tag: int) -> tuple[str, ...]:
        return (*self.path, *((self.oneof_of[tag],) if tag in self.oneof_of else ()), str(tag))


def _compare_oneofs(old: MessageFields, new: MessageFields) -> Iterator[Difference]:
    """Yields a difference for each oneof in which fields have come together that could be set at the same time before."""
    for name, tags in new.oneofs.items():
        known = [tag for tag in tags if tag in old.fields]
        groups = {old.oneof_of.get(tag, tag) for tag in known}
        if len(groups) > 1:
            several = sum(tag not in old.oneof_of for tag in known) > 1
            yield "MULTIPLE_FIELDS_MOVED_TO_ONEOF" if several else "FIELD_MOVED_TO_EXISTING_ONEOF", (*new.path, name)


def _describe_removed(old: MessageFields, new: MessageFields, tag: int) -> list[Difference]:
    oneof = old.oneof_of.get(tag)
    if oneof is None:
        return [("REQUIRED_FIELD_REMOVED", old.place_of(tag))] if old.fields[tag].label == "required" else []
    is_deleted = oneof not in new.oneofs and not any(other in new.fields for other in old.oneofs[oneof])
    return [] if is_deleted else [("ONEOF_FIELD_REMOVED", old.place_of(tag))]


def _compare_messages(old: ProtoType | None, new: ProtoType | None, names: tuple[str, str], place: tuple[str, ...]) -> ProtoSteps:
    if old is None or new is None:
        return [] if names[0] == names[1] else [("FIELD_NAMED_TYPE_CHANGED", place)]
    if old.path != new.path:
        return [("FIELD_NAMED_TYPE_CHANGED", place)]
    if old is new or (old.origin is not None and old.origin == new.origin):
        return []
    found = yield old, new, ()
    return [*found, ("FIELD_NAMED_TYPE_CHANGED", place)] if found else []


def _kind_of(name: str, found: ProtoType | None) -> str:
    if name.startswith("map<"):
        return "map"
    if found and isinstance(found.element, ProtoEnum):
        return "GENERAL_NUMBER"
    return SCALAR_KINDS.get(name, "message")


def _types_of_map(name: str) -> list[str]:
    return name.removeprefix("map<").removesuffix(">").split(", ")


def _as_message(scope: ProtoType) -> ProtoMessage:
    return scope.element if isinstance(scope.element, ProtoMessage) else ProtoMessage(scope.element.name)


def _nested_messages(scope: ProtoType, names: ProtoNames) -> dict[str, ProtoType]:
    """Returns the messages in `scope` by name. They are the same objects each time, by which pairs are recognized."""
    prefix = f"{scope.full_name}." if scope.full_name else ""
    messages = [element.name for element in _as_message(scope).types if isinstance(element, ProtoMessage)]
    return {name: names.types[prefix + name] for name in messages}
