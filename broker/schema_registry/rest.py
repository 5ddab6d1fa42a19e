"""The REST interface without HTTP: a call with its path, query and body, the route that answers it, and the answer.

A route is a function with `@route("GET /subjects/{subject}/versions")`. Contexts in the path (`/contexts/{context}/subjects/...`) and
aliases of subjects are replaced before, as Confluent's ContextFilter and AliasFilter do.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple, TypeVar
from urllib.parse import parse_qs, unquote

from .errors import RegistryError
from .records import Json
from .registry import SchemaRegistry
from .subjects import ALL_CONTEXTS

T = TypeVar("T")

MAX_QUERY_FIELDS = 1000
MAX_ID_DIGITS = 10
MAX_VALUES = 200_000
"""The most values in a body. Decoding more would take long, and no schema needs them."""


@dataclass(frozen=True, slots=True)
class Call:
    """A request: the parts of its path, the parameters of its query, and its body, which is empty if there is none."""

    method: str
    path: tuple[str, ...]
    query: dict[str, list[str]]
    body: bytes = b""

    @classmethod
    def of(cls, method: str, target: str, body: bytes) -> Call:
        """Returns the call with a path and query as they were sent. Raises RegistryError for an invalid query."""
        path, _, query = target.partition("?")
        parts = [unquote(part) for part in path.removeprefix("/").split("/")]
        while parts and not parts[-1]:
            parts.pop()
        try:
            parsed = parse_qs(query, keep_blank_values=True, max_num_fields=MAX_QUERY_FIELDS)
        except ValueError as error:
            raise RegistryError(400, f"the query is invalid: {error}") from None
        return cls(method, tuple(parts), parsed, body)

    @property
    def named_subject(self) -> str:
        """The subject that the path names, "" if it names none."""
        names = ("subjects", "config", "mode")
        place = next((number for number, part in enumerate(self.path) if part in names), len(self.path)) + 1
        return self.path[place] if place < len(self.path) else ""

    @property
    def named_id(self) -> int | None:
        """The id of the schema that the path names, None if it names none."""
        place = next((number for number, part in enumerate(self.path) if part == "ids" and self.path[number - 1] == "schemas"), -1) + 1
        text = self.path[place] if 0 < place < len(self.path) else ""
        return int(text) if text.isascii() and text.isdigit() and len(text) <= MAX_ID_DIGITS else None

    @property
    def subject(self) -> str:
        """The subject of a call that may compare schemas, "" for other calls."""
        return self.named_subject if self.method == "POST" else ""

    def flag(self, name: str) -> bool:
        """Returns whether a parameter is "true"."""
        return self.text(name).lower() == "true"

    def text(self, name: str, default: str = "") -> str:
        """Returns the first value of a parameter."""
        return self.query.get(name, [default])[0]

    def page(self, items: Sequence[T], default_limit: int | None = None) -> Sequence[T]:
        """Returns the items that the parameters offset and limit select. A limit that is no positive number stands for the default."""
        offset, limit = self._number("offset", 0), self._number("limit", -1)
        if limit <= 0 or (default_limit is not None and limit > default_limit):
            limit = len(items) if default_limit is None else default_limit
        return items[max(offset, 0) :][:limit]

    def _number(self, name: str, default: int) -> int:
        return integer(self.text(name, str(default)))

    def json(self) -> Json:
        """Returns the body, which must be a JSON object. Raises RegistryError."""
        if not self.body:
            raise RegistryError(422, "the request must have a body, a JSON object")
        if self.body.count(b",") + self.body.count(b"[") + self.body.count(b"{") > MAX_VALUES + self.body.count(b'\\"'):
            raise RegistryError(400, f"the body has more than {MAX_VALUES} values")
        try:
            value = json.loads(self.body)
        except (ValueError, RecursionError) as error:
            raise RegistryError(400, f"the body is not JSON: {error}") from None
        if not isinstance(value, dict):
            raise RegistryError(400, f"the body must be a JSON object, not {type(value).__name__}")
        return value


class Answer(NamedTuple):
    """The answer to a call: a text is sent as it is, another body as JSON, and None stands for no body."""

    status: int
    body: Any

    def encode(self) -> bytes:
        """Returns the body in UTF-8."""
        if self.body is None:
            return b""
        return (self.body if isinstance(self.body, str) else json.dumps(self.body, separators=(",", ":"), ensure_ascii=False)).encode(
            "utf-8", "surrogatepass"
        )


Handler = Callable[..., Any]


class Route(NamedTuple):
    """A path with names in braces, and the function that answers calls of one method."""

    method: str
    path: tuple[str, ...]
    handler: Handler

    def match(self, path: Sequence[str]) -> dict[str, str] | None:
        """Returns the values of the names in the path, None if it is another path."""
        if len(path) != len(self.path):
            return None
        values = {}
        for wanted, given in zip(self.path, path, strict=True):
            if wanted.startswith("{"):
                values[wanted[1:-1]] = given
            elif wanted != given:
                return None
        return values


ROUTES: dict[tuple[str, int], list[Route]] = {}
"""The routes by the first part of their path and the number of parts."""


def route(declared: str) -> Callable[[Handler], Handler]:
    """Returns a decorator that declares a function as the answer to a method and path, such as "GET /subjects"."""
    method, _, path = declared.partition(" ")
    parts = tuple(filter(None, path.split("/")))

    def declare(handler: Handler) -> Handler:
        ROUTES.setdefault((parts[0] if parts else "", len(parts)), []).append(Route(method, parts, handler))
        return handler

    return declare


def answer(registry: SchemaRegistry, call: Call) -> Answer:
    """Returns the answer to a call. Its changes are written to the topic of the registry, but not committed."""
    try:
        call = _with_alias(registry, _with_context(call))
        found = [(each, values) for each in _candidates(call.path) if (values := each.match(call.path)) is not None]
        if not found:
            raise RegistryError(404, "HTTP 404 Not Found")
        for each, values in found:
            if each.method == call.method:
                result = each.handler(registry, call, **values)
                return result if isinstance(result, Answer) else Answer(200, result)
        raise RegistryError(405, "HTTP 405 Method Not Allowed")
    except RegistryError as error:
        return refusal(error)


def refusal(error: RegistryError) -> Answer:
    """Returns the answer for an error."""
    return Answer(error.status, {"error_code": error.error_code, "message": error.message})


def _candidates(path: Sequence[str]) -> list[Route]:
    return ROUTES.get((path[0] if path else "", len(path)), [])


def integer(text: str) -> int:
    """Returns the number in a path or query. Raises RegistryError for another text, for which JAX-RS finds no route."""
    try:
        number = int(text) if text.isascii() and len(text) <= 11 else None
    except ValueError:
        number = None
    if number is None or not -(1 << 31) <= number < 1 << 31:
        raise RegistryError(404, "HTTP 404 Not Found")
    return number


def _with_context(call: Call) -> Call:
    """Returns a call whose subjects name the context that its path begins with."""
    if len(call.path) < 2 or call.path[0] != "contexts":
        return call
    prefix = _context_prefix(call.path[1])
    rest = list(call.path[2:])
    if not rest:
        return replace(call, path=("contexts", prefix))
    places = [0] if rest[0] in ("config", "mode") else [number for number, part in enumerate(rest) if part == "subjects"][:1]
    for place in places:
        if place + 1 < len(rest):
            rest[place + 1] = _qualify(rest[place + 1], prefix)
        elif place == 0 and rest[0] != "subjects":
            rest.append(prefix or ":.:")
    query = dict(call.query)
    if rest[:2] == ["schemas", "ids"]:
        query["subject"] = [_qualify(call.text("subject"), prefix)]
    elif rest in (["schemas"], ["subjects"]):
        query["subjectPrefix"] = [_qualify(call.text("subjectPrefix"), prefix)]
    elif rest[0].startswith("associations") and call.method != "GET":
        query["context"] = [prefix]
    return replace(call, path=tuple(rest), query=query)


def _context_prefix(context: str) -> str:
    """Returns the prefix of the subjects of a context, which may be given with or without its dot and colons."""
    name = context.removeprefix(":").removesuffix(":")
    if ":" in name:
        raise RegistryError(400, f"Context name '{context}' cannot contain a colon")
    name = name if name.startswith(".") else f".{name}"
    return "" if name == "." else f":{name}:"


def _qualify(subject: str, prefix: str) -> str:
    return subject if subject.startswith((":.", ALL_CONTEXTS)) else prefix + subject


def _with_alias(registry: SchemaRegistry, call: Call) -> Call:
    """Returns a call in which the subject for which an alias stands takes its place."""
    path = call.path
    if "subjects" not in path[:-1] or path[0] == "associations":
        return call
    place = path.index("subjects") + 1
    subject = registry.settings.alias(path[place])
    return call if subject == path[place] else replace(call, path=(*path[:place], subject, *path[place + 1 :]))
