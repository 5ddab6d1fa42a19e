"""Parser of `sasl.jaas.config`: the name of a Java login module with options. The module is never loaded.

    org.apache.kafka.common.security.plain.PlainLoginModule required username="admin" user_alice="secret";

The syntax is that of Kafka's JaasConfig, and error messages are Kafka's. No error message contains a part of the text, because it
contains passwords.
"""

from __future__ import annotations

import re
from typing import NamedTuple

SETTING = "sasl.jaas.config"
_TOKEN = re.compile(r'\s*(?:"((?:[^"\\]|\\.)*)"|([\w$.\-]+)|([=;]))', re.DOTALL)
_ESCAPE = re.compile(r"\\(.)", re.DOTALL)
_ESCAPED = {"n": "\n", "t": "\t", "r": "\r", "f": "\f", "b": "\b"}
_FLAGS = ("REQUIRED", "REQUISITE", "SUFFICIENT", "OPTIONAL")


class InvalidJaas(ValueError):
    """The text is not one login module with options."""


class LoginModule(NamedTuple):
    """The class name and the options of a login module. Its representation leaves out the values of the options."""

    name: str
    options: dict[str, str]

    def __repr__(self) -> str:
        return f"LoginModule({self.name}, options {sorted(self.options)})"


def parse_jaas(text: str) -> LoginModule:
    """Returns the only login module in `text`. Raises InvalidJaas."""
    tokens = _tokens(text)
    if not tokens:
        raise InvalidJaas(f"{SETTING}: Login module not specified in JAAS config")
    if tokens[-1] != (";", True):
        raise InvalidJaas(f"{SETTING}: JAAS config entry not terminated by semi-colon")
    if tokens.count((";", True)) > 1:
        raise InvalidJaas(f"{SETTING}: JAAS config property contains more than one login module, should be 1 module")
    name, *rest = tokens[:-1] or [(";", True)]
    if name[1]:
        raise InvalidJaas(f"{SETTING}: Login module not specified in JAAS config")
    if not rest or rest[0][0].upper() not in _FLAGS:
        raise InvalidJaas(f"{SETTING}: Login module control flag not specified in JAAS config; write `required` after the class")
    return LoginModule(name[0], _options(rest[1:]))


def _tokens(text: str) -> list[tuple[str, bool]]:
    """Returns the words of the text, each with whether it is `=` or `;`."""
    tokens, position = [], 0
    end = len(text.rstrip())
    while position < end:
        if (match := _TOKEN.match(text, position)) is None:
            raise InvalidJaas(f"{SETTING}: unexpected character at position {position + 1}; put values into double quotes")
        quoted, word, sign = match.groups()
        tokens.append((sign or word or _ESCAPE.sub(lambda found: _ESCAPED.get(found[1], found[1]), quoted or ""), bool(sign)))
        position = match.end()
    return tokens


def _options(tokens: list[tuple[str, bool]]) -> dict[str, str]:
    options = {}
    for start in range(0, len(tokens), 3):
        key, *value = tokens[start : start + 3]
        if len(value) != 2 or value[0] != ("=", True) or value[1][1] or key[1]:
            raise InvalidJaas(f'{SETTING}: Value not specified for a key in JAAS config; write options as name="value"')
        options[key[0]] = value[1][0]
    return options
