"""`ssl.principal.mapping.rules`: the user name for the distinguished name of a certificate (KIP-371; Kafka's SslPrincipalMapper).

    RULE:^CN=(.*?),OU=ServiceUsers.*$/$1/       the common name of certificates of an organizational unit
    RULE:^CN=(.*?),.*$/$1/L                     the same in lower case; U is upper case
    DEFAULT                                     the distinguished name itself

The first rule whose pattern matches the whole name applies. In a pattern and a replacement, a slash is written as \\/.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from ..settings.properties import InvalidConfig

SETTING = "ssl.principal.mapping.rules"
_RULE = re.compile(r"\s*(?:(DEFAULT)|RULE:((?:\\.|[^\\/])*)/((?:\\.|[^\\/])*)/([LU]?))\s*(?:,|\n|$)")
_REFERENCE = re.compile(r"\\(.)|\$(\d)")


class NoMatchingRule(Exception):
    """No rule applies to a distinguished name."""


class Rule(NamedTuple):
    """A rule; without a pattern it is DEFAULT. `case` is "L", "U" or ""."""

    pattern: re.Pattern[str] | None
    replacement: str = ""
    case: str = ""

    def apply(self, name: str) -> str | None:
        """Returns the user name, None if the rule does not apply."""
        if self.pattern is None:
            return name
        match = self.pattern.fullmatch(name)
        if match is None:
            return None
        user = _REFERENCE.sub(lambda found: _replace(found, match), self.replacement)
        return {"L": user.lower(), "U": user.upper()}.get(self.case, user)


def _replace(found: re.Match[str], match: re.Match[str]) -> str:
    if found[1] is not None:
        return found[1]
    group = int(found[2])
    return match[group] or "" if group <= (match.re.groups) else found[0]


def parse_rules(text: str) -> list[Rule]:
    """Returns the rules in `text`. Raises InvalidConfig."""
    rules, position = [], 0
    while position < len(text.rstrip()):
        match = _RULE.match(text, position)
        if match is None:
            raise InvalidConfig(f"Invalid value {text} for configuration {SETTING}: Invalid rule: `{text[position:].strip()}`")
        position = match.end()
        rules.append(Rule(None) if match[1] else _rule(*match.group(2, 3, 4)))
    return rules or [Rule(None)]


def _rule(pattern: str, replacement: str, case: str) -> Rule:
    try:
        return Rule(re.compile(pattern.replace("\\/", "/")), replacement, case)
    except re.error as error:
        raise InvalidConfig(f"Invalid pattern {pattern} in {SETTING}: {error}") from None


def user_of(rules: list[Rule], name: str) -> str:
    """Returns the user name for a distinguished name. Raises NoMatchingRule."""
    for rule in rules:
        if (user := rule.apply(name)) is not None:
            return user
    raise NoMatchingRule(f"no rule of {SETTING} applies to {name}")
