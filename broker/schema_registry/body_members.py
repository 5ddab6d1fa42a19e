"""Reads the members of the body of a request as Confluent's JSON mapper does: unknown ones are ignored, and numbers stand for texts.

Half of a surrogate pair, which JSON can escape, is refused, because it can be neither stored nor sent.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, TypeVar

from .errors import RegistryError
from .records import Json

T = TypeVar("T")


def text_of(body: Mapping[str, Any], name: str) -> str | None:
    """Returns a member that is a text, None if it is missing or null. Raises RegistryError for another type."""
    value = body.get(name)
    if isinstance(value, bool | int | float):  # which Jackson reads as a text
        return str(value).lower() if isinstance(value, bool) else str(value)
    if value is not None and not isinstance(value, str):
        raise wrong_type(name, "a string")
    return None if value is None else _check_characters(name, value, value)


def object_of(body: Mapping[str, Any], name: str) -> Json | None:
    """Returns a member that is an object, None if it is missing or null. Raises RegistryError for another type."""
    value = body.get(name)
    if value is not None and not isinstance(value, dict):
        raise wrong_type(name, "an object")
    return None if value is None else _check_characters(name, value, json.dumps(value, ensure_ascii=False))


def _check_characters(name: str, value: T, text: str) -> T:
    """Returns a member with a text. Raises RegistryError if the text contains half of a surrogate pair, which JSON can escape."""
    try:
        text.encode()
    except UnicodeEncodeError:
        raise RegistryError(400, f"Cannot deserialize the request: {name} contains half of a surrogate pair") from None
    return value


def flag_of(body: Mapping[str, Any], name: str) -> bool | None:
    """Returns a member that is true or false, None if it is missing or null. Raises RegistryError for another type."""
    value = body.get(name)
    if value is None or isinstance(value, bool):
        return value
    if value in ("true", "false"):
        return bool(value == "true")
    raise wrong_type(name, "true or false")


def number_of(body: Mapping[str, Any], name: str, default: int) -> int:
    """Returns a member that is a number of 32 bits, `default` if it is missing or null. Raises RegistryError for another type."""
    value = body.get(name)
    if value is None:
        return default
    try:
        number = int(value) if isinstance(value, str | int | float) and not isinstance(value, bool) else None
    except (ValueError, OverflowError):
        number = None
    if number is None or not -(1 << 31) <= number < 1 << 31:
        raise wrong_type(name, "an integer of 32 bits")
    return number


def wrong_type(name: str, expected: str) -> RegistryError:
    """Returns the error for a member that Confluent's JSON mapper cannot read."""
    return RegistryError(400, f"Cannot deserialize the request: {name} must be {expected}")
