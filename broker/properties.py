"""Settings from outside: Java's .properties text and `KAFKA_*` environment variables."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

# What the start scripts of the images read themselves, and what is no setting of a broker.
NOT_SETTINGS = re.compile(
    r"KAFKA_(HEAP_OPTS|OPTS|JVM_PERFORMANCE_OPTS|GC_LOG_OPTS|JMX_.*|(TOOLS_)?LOG4J_.*|DEBUG|HOME|VERSION|CLUSTER_ID|CLASSPATH)|KAFKA_"
)
ENTRY = re.compile(r"((?:\\.|[^\\\s=:])*)[ \t\f]*(?:[=:][ \t\f]*)?(.*)", re.DOTALL)
ESCAPE = re.compile(r"\\(u[0-9a-fA-F]{4}|.)", re.DOTALL)
ESCAPED = {"t": "\t", "n": "\n", "r": "\r", "f": "\f"}


def parse_properties(text: str) -> dict[str, str]:
    """The pairs of a .properties file, by the rules of java.util.Properties.load; a later one of the same name wins."""
    entries = (ENTRY.fullmatch(line) for line in _logical_lines(text))
    return {_unescaped(entry[1]): _unescaped(entry[2]) for entry in entries if entry}


def _logical_lines(text: str) -> Iterator[str]:
    """Lines without indentation, comments and blank ones; one that ends in an odd number of backslashes goes on in the next."""
    pending: str | None = None
    for natural in re.split(r"\r\n|\r|\n", text):
        line = natural.lstrip(" \t\f")
        if pending is None and (not line or line[0] in "#!"):
            continue
        line = (pending or "") + line
        if (len(line) - len(line.rstrip("\\"))) % 2:
            pending = line[:-1]
        else:
            pending = None
            yield line
    if pending:
        yield pending


def _unescaped(text: str) -> str:
    def character(match: re.Match[str]) -> str:
        code = match[1]
        return chr(int(code[1:], 16)) if len(code) == 5 else ESCAPED.get(code, code)

    return ESCAPE.sub(character, text)


def from_environment(environ: Mapping[str, str]) -> dict[str, str]:
    """Settings named by `KAFKA_*`, by the rule of the apache/kafka and cp-kafka images: `_` is a dot, `__` is `_`, `___` is `-`."""
    separators = {1: ".", 2: "_", 3: "-"}
    return {
        re.sub("_{1,3}", lambda match: separators[len(match[0])], name[len("KAFKA_") :].lower()): value
        for name, value in environ.items()
        if name.startswith("KAFKA_") and not NOT_SETTINGS.fullmatch(name)
    }
