"""Conversion of a setting's value from text, and back to the text that Kafka shows (Kafka's ConfigDef and AbstractConfig)."""

from __future__ import annotations

import re

from .properties import InvalidConfig
from .types import ConfigType, Setting, Value

BOUNDS = {ConfigType.SHORT: 2**15, ConfigType.INT: 2**31, ConfigType.LONG: 2**63}
INTEGER = re.compile(r"[+-]?[0-9]+")
DOUBLE = re.compile(r"([+-]?(?:NaN|Infinity|(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?))[fFdD]?")
COMMA = re.compile(r"\s*,\s*")


def parse(setting: Setting, text: str) -> Value:
    """Returns the value of `text`. Raises InvalidConfig if it does not have the setting's type or is not allowed."""
    value = _parse(setting, text.strip())
    for part in value if isinstance(value, tuple) else (value,):
        if setting.valid is not None and (complaint := setting.valid.complaint(part)) is not None:
            raise InvalidConfig(f"Invalid value {_element_text(part)} for configuration {setting.name}: {complaint}")
    return value


def _parse(setting: Setting, text: str) -> Value:
    match setting.type:
        case ConfigType.BOOLEAN:
            if text.lower() not in ("true", "false"):
                raise InvalidConfig(f"Invalid value {text} for configuration {setting.name}: Expected value to be either true or false")
            return text.lower() == "true"
        case ConfigType.INT | ConfigType.SHORT | ConfigType.LONG:
            bound = BOUNDS[setting.type]
            # The length is checked first because Python refuses to convert thousands of digits.
            if INTEGER.fullmatch(text) and len(text) <= 40 and -bound <= int(text) < bound:
                return int(text)
        case ConfigType.DOUBLE:
            if number := DOUBLE.fullmatch(text):
                return float(number[1])
        case ConfigType.LIST:
            return tuple(COMMA.split(text)) if text else ()
        case _:
            return text
    raise InvalidConfig(f"Invalid value {text} for configuration {setting.name}: Not a number of type {setting.type.name}")


def text_of(value: Value) -> str | None:
    """Returns the text that Kafka shows for a parsed value; None for null."""
    if value is None:
        return None
    return ",".join(value) if isinstance(value, tuple) else _element_text(value)


def _element_text(value: Value) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    return _double_text(value) if isinstance(value, float) else str(value)


def _double_text(value: float) -> str:
    """Formats like Java's Double.toString, which uses an exponent for magnitudes below 0.001 and from ten million on."""
    if value != value or value in (float("inf"), float("-inf")):
        return {"nan": "NaN", "inf": "Infinity", "-inf": "-Infinity"}[str(value)]
    if value == 0 or 1e-3 <= abs(value) < 1e7:
        return repr(value)
    shortest = next(text for digits in range(1, 18) if float(text := f"{value:.{digits}e}") == value)
    mantissa, exponent = shortest.split("e")
    return f"{mantissa}E{int(exponent)}"
