"""The language of filters, which select entries: `api=Produce and error`, `node=2 and not (api=Fetch or api=Heartbeat)`.

    filter     = term { "or" term }
    term       = factor { "and" factor }
    factor     = "not" factor | "(" filter ")" | comparison
    comparison = field [ ( "=" | "!=" | "<" | "<=" | ">" | ">=" ) value ]

A field alone is true if the entry has any value for it: `error` selects exchanges whose response contains an error code. A field may have
several values, such as `topic`; a comparison is true if one of them fits, and `!=` if none does. Texts are compared with case, and * and ?
stand for any characters. A value with spaces or special characters is written in quotes.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from fnmatch import fnmatchcase
from functools import cache
from typing import NamedTuple

from ...protocol.errors import ErrorCode
from ..control_errors import InvalidControl, unknown
from ..faults.options import REGISTRY_API
from .exchange import Entry, Event, Exchange

MAX_CHARACTERS = 2000
MAX_DEPTH = 50
EVENT_KINDS = (
    "connection opened",
    "handshake failed",
    "connection closed",
    "group",
    "leader",
    "expired",
    "compacted",
    "deleted",
    "control",
    "fault",
    "clock",
    "schema registry",
)

Filter = Callable[[Entry], bool]
Value = str | float
Values = Callable[[Entry], Iterable[Value | None]]
_TOKEN = re.compile(r"""\s*(?:(?P<symbol>!=|<=|>=|[=<>()])|"(?P<double>[^"]*)"|'(?P<single>[^']*)'|(?P<word>[^\s=<>!()"']+))""")
_WORDS = ("and", "or", "not")


class Token(NamedTuple):
    """A symbol, a word or a quoted text, with its place in the filter."""

    kind: str
    text: str
    start: int
    end: int


def _of_exchange(value_of: Callable[[Exchange], Value | None]) -> Values:
    return lambda entry: (value_of(entry),) if isinstance(entry, Exchange) else ()


def _several(values_of: Callable[[Exchange], Iterable[str]]) -> Values:
    return lambda entry: values_of(entry) if isinstance(entry, Exchange) else ()


def _of_event(name: str) -> Values:
    return lambda entry: (entry.fields.get(name),) if isinstance(entry, Event) else ()


def _either(first: Values, second: Values) -> Values:
    return lambda entry: [*first(entry), *second(entry)]


def duration_ms(exchange: Exchange) -> float | None:
    """Returns how long the response took by the wall clock, in milliseconds; None if there is none yet."""
    return None if exchange.answered is None else exchange.answered.wall_ms - exchange.received.wall_ms


FIELDS: Mapping[str, Values] = {
    "api": _either(_of_exchange(lambda exchange: exchange.api), _of_event("api")),
    "version": _of_exchange(lambda exchange: exchange.version),
    "correlation_id": _of_exchange(lambda exchange: exchange.correlation_id),
    "client_id": _of_exchange(lambda exchange: exchange.client_id),
    "software": _either(_of_exchange(lambda exchange: exchange.software or None), _of_event("software")),
    "principal": _of_exchange(lambda exchange: exchange.principal),
    "listener": _of_exchange(lambda exchange: exchange.listener),
    "peer": _either(_of_exchange(lambda exchange: exchange.peer), _of_event("peer")),
    "topic": _either(_several(lambda exchange: exchange.topics), _of_event("topic")),
    "group": _either(_several(lambda exchange: exchange.groups), _of_event("group")),
    "subject": _of_event("subject"),
    "path": _of_event("path"),
    "status": _of_event("status"),
    "id": _of_event("id"),
    "error": _several(lambda exchange: exchange.errors),
    "fault": _either(_several(lambda exchange: exchange.faults), _of_event("fault")),
    "waited": _several(lambda exchange: exchange.waits),
    "ended": _of_exchange(lambda exchange: exchange.ended or None),
    "answered": _of_exchange(lambda exchange: None if exchange.answered is None else "yes"),
    "duration_ms": _of_exchange(duration_ms),
    "request_bytes": _of_exchange(lambda exchange: exchange.request_frame.size),
    "response_bytes": _of_exchange(lambda exchange: None if exchange.response_frame is None else exchange.response_frame.size),
    "node": lambda entry: (entry.node,),
    "connection": lambda entry: (entry.connection,),
    "sequence": lambda entry: (entry.sequence,),
    "event": lambda entry: (entry.kind,) if isinstance(entry, Event) else (),
    "text": lambda entry: (entry.text,) if isinstance(entry, Event) else (),
}
"""The fields, each with a function that returns its values. Events have only some of them."""
_NUMBERS = frozenset(
    ("version", "correlation_id", "duration_ms", "request_bytes", "response_bytes", "node", "connection", "sequence", "status", "id")
)


@cache
def _names_of(field: str) -> tuple[str, ...]:
    """Returns all values that a field can have, an empty tuple if there are too many."""
    if field == "api":
        from ...protocol.messages import APIS  # imports all messages, so that it waits until it is needed

        return (*(api.name for api in APIS.values()), REGISTRY_API)
    if field == "error":
        return tuple(code.name for code in ErrorCode if code)
    return EVENT_KINDS if field == "event" else ()


def parse_filter(text: str) -> Filter:
    """Returns the function that decides whether an entry is selected. An empty text selects all entries.

    Raises InvalidControl, whose text repeats the filter with a mark below the word that is wrong.
    """
    if len(text) > MAX_CHARACTERS:
        raise InvalidControl("filter", f"longer than {MAX_CHARACTERS} characters")
    return _FilterParser(text).parse() if text.strip() else lambda _: True


class _FilterParser:
    """Reads one filter by recursive descent."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._tokens = self._tokenize()
        self._position = 0
        self._depth = 0

    def parse(self) -> Filter:
        found = self._alternatives()
        if self._position < len(self._tokens):
            raise self._refuse(self._tokens[self._position], "expected 'and', 'or' or the end")
        return found

    def _tokenize(self) -> list[Token]:
        tokens, position = [], 0
        while self._text[position:].strip():
            match = _TOKEN.match(self._text, position)
            if match is None:
                start = position + len(self._text[position:]) - len(self._text[position:].lstrip())
                rest = Token("word", self._text[start:], start, start + 1)
                raise self._refuse(rest, "a quote is not closed" if self._text[start] in "\"'" else "unexpected character")
            kind = match.lastgroup or ""
            tokens.append(Token(kind, match[kind], match.start(kind), match.end(kind)))
            position = match.end()
        return tokens

    def _refuse(self, token: Token, reason: str) -> InvalidControl:
        mark = " " * token.start + "^" * max(token.end - token.start, 1)
        return InvalidControl("filter", f"{reason}\n  {self._text}\n  {mark}")

    def _next(self) -> Token | None:
        return self._tokens[self._position] if self._position < len(self._tokens) else None

    def _takes(self, kind: str, *texts: str) -> Token | None:
        """Returns the next token and proceeds behind it if it is one of `texts`. Otherwise returns None."""
        token = self._next()
        if token is None or token.kind != kind or (texts and token.text not in texts):
            return None
        self._position += 1
        return token

    def _alternatives(self) -> Filter:
        terms = [self._term()]
        while self._takes("word", "or"):
            terms.append(self._term())
        return terms[0] if len(terms) == 1 else lambda entry: any(term(entry) for term in terms)

    def _term(self) -> Filter:
        factors = [self._factor()]
        while self._takes("word", "and"):
            factors.append(self._factor())
        return factors[0] if len(factors) == 1 else lambda entry: all(factor(entry) for factor in factors)

    def _factor(self) -> Filter:
        token = self._next()
        if token is None:
            raise self._refuse(Token("", "", len(self._text), len(self._text) + 1), "a comparison is missing at the end")
        self._depth += 1
        if self._depth > MAX_DEPTH:
            raise self._refuse(token, f"more than {MAX_DEPTH} levels")
        try:
            if self._takes("word", "not"):
                negated = self._factor()
                return lambda entry: not negated(entry)
            if self._takes("symbol", "("):
                return self._group(token)
            return self._comparison(token)
        finally:
            self._depth -= 1

    def _group(self, opening: Token) -> Filter:
        found = self._alternatives()
        if not self._takes("symbol", ")"):
            raise self._refuse(opening, "this parenthesis is not closed")
        return found

    def _comparison(self, token: Token) -> Filter:
        if token.kind != "word" or token.text in _WORDS:
            raise self._refuse(token, f"expected a field, such as {', '.join(list(FIELDS)[:4])}")
        if token.text not in FIELDS:
            raise self._refuse(token, unknown("filter", "field", token.text, FIELDS).reason)
        self._position += 1
        values = FIELDS[token.text]
        operator = self._takes("symbol", "=", "!=", "<", "<=", ">", ">=")
        if operator is None:
            return lambda entry: any(value is not None for value in values(entry))
        value = self._takes("word") or self._takes("double") or self._takes("single")
        if value is None:
            raise self._refuse(operator, "a value is missing after this; write a text with spaces in quotes")
        fits = self._test(token.text, operator, value)
        if operator.text == "!=":
            return lambda entry: isinstance(entry, Exchange) and not any(each is not None and fits(each) for each in values(entry))
        return lambda entry: any(each is not None and fits(each) for each in values(entry))

    def _test(self, field: str, operator: Token, value: Token) -> Callable[[Value], bool]:
        if field in _NUMBERS:
            return _number_test(operator.text, self._number(value))
        if operator.text not in ("=", "!="):
            raise self._refuse(operator, f"{field} is a text, which can be compared by = and != only")
        self._check_name(value, _names_of(field))
        return lambda each: fnmatchcase(str(each), value.text)

    def _number(self, value: Token) -> float:
        if not re.fullmatch(r"-?[0-9]{1,18}(\.[0-9]{1,9})?", value.text):
            raise self._refuse(value, "expected a number")
        return float(value.text)

    def _check_name(self, value: Token, names: Sequence[str]) -> None:
        if names and value.text not in names and not set("*?[") & set(value.text) and not value.text.startswith(("Unknown(", "Sasl")):
            raise self._refuse(value, unknown("filter", "value", value.text, names).reason)


def _number_test(operator: str, limit: float) -> Callable[[Value], bool]:
    tests: dict[str, Callable[[float], bool]] = {
        "=": lambda each: each == limit,
        "!=": lambda each: each == limit,  # negated by the caller
        "<": lambda each: each < limit,
        "<=": lambda each: each <= limit,
        ">": lambda each: each > limit,
        ">=": lambda each: each >= limit,
    }
    test = tests[operator]
    return lambda each: test(float(each))
