"""Results of controls as JSON, and the schemas of their types.

The fields and properties of a dataclass become the fields of an object. Bytes become text if they are UTF-8, and otherwise
`{"base64": "..."}`; times become ISO 8601, and durations numbers of seconds. A handle, which is an object with methods in Python, becomes
the result of its method `described`.
"""

from __future__ import annotations

import dataclasses
import inspect
import json
import math
from base64 import b64encode
from collections.abc import Collection, Iterator, Mapping
from datetime import datetime, timedelta
from enum import Enum
from functools import cache
from pathlib import Path
from typing import Any, get_args, get_origin, get_type_hints

from .shapes import Schema
from .signatures import shape_of


def json_of(value: Any) -> str:
    """Returns a result as JSON."""
    return "".join(json_pieces(value))


def json_value(value: Any) -> Any:
    """Returns a result as a value that JSON has."""
    return json.loads(json_of(value))


def json_pieces(value: Any) -> Iterator[str]:
    """Yields a result as pieces of JSON text, so that the encoding of a long result can be spread over several turns."""
    if isinstance(value, Mapping):
        yield from _object(value.items())
    elif isinstance(value, Collection) and not isinstance(value, str | bytes | memoryview):
        yield from _enclose("[", (json_pieces(each) for each in value), "]")
    elif names := _names(value.__class__):
        yield from _object((name, getattr(value, name)) for name in names)
    elif hasattr(value, "described"):
        yield from json_pieces(value.described())
    else:
        yield json.dumps(_plain(value))


def _object(items: Any) -> Iterator[str]:
    return _enclose("{", (_field(name, value) for name, value in items), "}")


def _field(name: Any, value: Any) -> Iterator[str]:
    yield json.dumps(str(name)) + ": "
    yield from json_pieces(value)


def _enclose(opening: str, items: Iterator[Iterator[str]], closing: str) -> Iterator[str]:
    yield opening
    for number, item in enumerate(items):
        if number:
            yield ", "
        yield from item
    yield closing


def _plain(value: Any) -> Any:
    """Returns a value of JSON."""
    if isinstance(value, bytes | memoryview):
        return _bytes(bytes(value))
    if isinstance(value, datetime):
        return (value if value.tzinfo else value.astimezone()).isoformat().replace("+00:00", "Z")
    if isinstance(value, timedelta):
        return value.total_seconds()
    if isinstance(value, Enum):
        return value.value
    if isinstance(value, Path):
        return str(value)
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value


def _bytes(value: bytes) -> Any:
    try:
        return value.decode()
    except UnicodeDecodeError:
        return {"base64": b64encode(value).decode()}


@cache
def _names(kind: Any) -> tuple[str, ...]:
    """Returns the names of the fields and properties of a dataclass, none for other types."""
    if not (inspect.isclass(kind) and dataclasses.is_dataclass(kind)):
        return ()
    fields = [field.name for field in dataclasses.fields(kind) if not field.name.startswith("_")]
    return (*fields, *(name for name, _ in inspect.getmembers(kind, _is_property) if not name.startswith("_")))


def _is_property(member: object) -> bool:
    return isinstance(member, property)


def result_schema(annotation: Any, definitions: dict[str, Schema]) -> Schema:
    """Returns the JSON schema of results of a type. Schemas of named types are added to `definitions`."""
    if inspect.isclass(annotation) and dataclasses.is_dataclass(annotation):
        return _dataclass_schema(annotation, definitions)
    if inspect.isclass(annotation) and hasattr(annotation, "described"):
        return result_schema(get_type_hints(annotation.described)["return"], definitions)
    arguments = get_args(annotation)
    if get_origin(annotation) in (list, tuple) and len(set(arguments) - {...}) == 1:
        return {"type": "array", "items": result_schema(arguments[0], definitions)}
    if get_origin(annotation) in (dict, Mapping):
        return {"type": "object", "additionalProperties": result_schema(arguments[1], definitions)}
    if type(None) in arguments:
        (other,) = (each for each in arguments if each is not type(None))
        return {"anyOf": [result_schema(other, definitions), {"type": "null"}]}
    return shape_of(annotation).schema(definitions)


def _dataclass_schema(kind: Any, definitions: dict[str, Schema]) -> Schema:
    name = kind.__name__
    if name not in definitions:
        definitions[name] = {}  # for an object that contains others of its type
        hints = get_type_hints(kind)
        properties = {each: getattr(kind, each, None) for each in _names(kind)}
        types = {
            each: get_type_hints(found.fget)["return"] if isinstance(found, property) else hints[each] for each, found in properties.items()
        }
        definitions[name] = {
            "type": "object",
            "description": inspect.getdoc(kind) or "",
            "properties": {each: result_schema(hint, definitions) for each, hint in types.items()},
            "required": list(types),
        }
    return {"$ref": f"#/components/schemas/{name}"}
