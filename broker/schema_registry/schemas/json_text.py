"""JSON as schemas contain it: read with limits, and written as Jackson writes it, because clients compare the texts of schemas."""

from __future__ import annotations

import json
import math
import re
from decimal import Decimal
from json.encoder import encode_basestring
from typing import Any, NoReturn

from ...plurals import counted
from .schema import MAX_NESTING, MAX_TEXT_LENGTH, InvalidSchema

MAX_DIGITS = 1000
"""The longest number that Jackson reads (StreamReadConstraints)."""

ESCAPED_CONTROL = re.compile(r"\\u00[01][0-9a-f]")


def read_json(text: str, *, exact: bool = False) -> Any:
    """Returns the JSON value of `text`. Raises `InvalidSchema` if it is no JSON, or exceeds the limits of length and nesting.

    If `exact` is true, numbers with a fraction or an exponent are read as `Decimal`, which keeps their digits.
    """
    if len(text) > MAX_TEXT_LENGTH:
        raise InvalidSchema(f"the schema has {len(text)} characters, but at most {MAX_TEXT_LENGTH} are allowed")
    try:
        value = (_EXACT_DECODER if exact else _DECODER).decode(text)
    except ValueError as error:
        raise InvalidSchema(f"the schema is not valid JSON: {error}") from None
    except RecursionError:
        raise InvalidSchema(f"the schema is nested deeper than {MAX_NESTING} levels") from None
    if text.count("[") + text.count("{") > MAX_NESTING:
        _check_nesting(value)
    if "\\u" in text:
        _check_surrogates(value)
    return value


def _read_integer(digits: str) -> int:
    if len(digits) > MAX_DIGITS:
        raise ValueError(f"a number has {counted(len(digits), 'digit')}, but at most {MAX_DIGITS} are allowed")
    return int(digits)


def _read_exactly(digits: str) -> Decimal:
    if len(digits) > MAX_DIGITS:
        raise ValueError(f"a number has {counted(len(digits), 'digit')}, but at most {MAX_DIGITS} are allowed")
    number = Decimal(digits)
    if not -MAX_DIGITS <= number.adjusted() <= MAX_DIGITS:
        raise ValueError(f"the number {digits} has more than {MAX_DIGITS} digits")
    return number


def _refuse_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is not a number of JSON")


_DECODER = json.JSONDecoder(parse_int=_read_integer, parse_constant=_refuse_constant)
_EXACT_DECODER = json.JSONDecoder(parse_int=_read_integer, parse_float=_read_exactly, parse_constant=_refuse_constant)


def _check_nesting(value: Any) -> None:
    """Raises `InvalidSchema` if arrays and objects are nested too deep. It goes level by level, without recursion."""
    level = [value]
    for _ in range(MAX_NESTING + 1):
        containers = [part for part in level if isinstance(part, dict | list)]
        if not containers:
            return
        level = [child for part in containers for child in (part.values() if isinstance(part, dict) else part)]
    raise InvalidSchema(f"the schema is nested deeper than {MAX_NESTING} levels")


def _check_surrogates(value: Any) -> None:
    try:
        write_json(value).encode()
    except UnicodeEncodeError:
        raise InvalidSchema("the schema contains half of a surrogate pair, which is not a character") from None


def is_longer(value: Any, most: int) -> bool:
    """Returns whether the JSON of `value` has more than about `most` characters, without writing it."""
    left, waiting = most, [value]
    while waiting and left >= 0:
        part = waiting.pop()
        if isinstance(part, dict):
            left -= sum(len(key) + 4 for key in part)
            waiting += part.values()
        elif isinstance(part, list):
            left -= len(part)
            waiting += part
        left -= len(part) + 2 if isinstance(part, str) else 2
    return left < 0


def write_json(value: Any) -> str:
    """Returns `value` as Jackson writes it: no spaces, non-ASCII characters as they are, numbers in Java's form."""
    if isinstance(value, str):
        return write_string(value)
    if isinstance(value, dict):
        return "{" + ",".join([f"{write_string(key)}:{write_json(member)}" for key, member in value.items()]) + "}"
    if isinstance(value, list):
        return "[" + ",".join([write_json(element) for element in value]) + "]"
    if isinstance(value, bool):
        return "true" if value else "false"
    if value is None:
        return "null"
    if isinstance(value, float):
        return write_double(value)
    return str(abs(value) if value == 0 else value)


def sort_keys(value: Any) -> Any:
    """Returns the JSON `value` with the keys of all objects in the order of Java's TreeMap, which compares UTF-16."""
    if isinstance(value, dict):
        return {key: sort_keys(value[key]) for key in sorted(value, key=_utf16)}
    return [sort_keys(element) for element in value] if isinstance(value, list) else value


def _utf16(text: str) -> bytes:
    return text.encode("utf-16-be")


def write_string(value: str) -> str:
    """Returns `value` quoted. Jackson writes the digits of escaped control characters in upper case."""
    quoted: str = encode_basestring(value)
    if "\\u00" in quoted:
        return ESCAPED_CONTROL.sub(lambda match: "\\u" + match[0][2:].upper(), quoted)
    return quoted


def write_double(value: float) -> str:
    """Returns `value` as Java's `Double.toString` does. Jackson quotes NaN and infinity."""
    if not math.isfinite(value):
        return '"NaN"' if math.isnan(value) else '"Infinity"' if value > 0 else '"-Infinity"'
    sign, digits, exponent = Decimal(repr(value)).normalize().as_tuple()
    if value == 0 or 1e-3 <= abs(value) < 1e7:
        plain = format(Decimal(repr(value)).normalize(), "f")
        return plain if "." in plain else plain + ".0"
    text = "".join(map(str, digits))
    return f"{'-' if sign else ''}{text[0]}.{text[1:] or '0'}E{int(exponent) + len(text) - 1}"
