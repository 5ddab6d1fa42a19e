"""Settings as text: Java's .properties files, and the values that a Python program passes."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

SettingValue = str | int | float | bool

ENTRY = re.compile(r"((?:\\.|[^\\\s=:])*)[ \t\f]*(?:[=:][ \t\f]*)?(.*)", re.DOTALL)
ESCAPE = re.compile(r"\\(u[0-9a-fA-F]{4}|.)", re.DOTALL)
ESCAPED = {"t": "\t", "n": "\n", "r": "\r", "f": "\f"}


MAX_FILE_BYTES = 1024 * 1024


class InvalidConfig(ValueError):
    """A setting has an invalid name or value. Where Kafka rejects it too, the message is Kafka's."""


def read_properties(path: str) -> dict[str, str]:
    """Returns the pairs of a .properties file or pipe of at most MAX_FILE_BYTES. Raises OSError."""
    from ...protocol.regular_files import read_bounded

    return parse_properties(read_bounded(path, MAX_FILE_BYTES).decode("latin-1"))  # Java reads properties in this encoding


def parse_properties(text: str) -> dict[str, str]:
    """Returns the pairs of a .properties file, by the rules of java.util.Properties.load. If a name is repeated, its last value applies."""
    entries = (ENTRY.fullmatch(line) for line in _logical_lines(text))
    return {_unescape(entry[1]): _unescape(entry[2]) for entry in entries if entry}


def _logical_lines(text: str) -> Iterator[str]:
    """Yields lines without indentation, skipping comments and blank lines.

    A line that ends with an odd number of backslashes is continued.
    """
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


def _unescape(text: str) -> str:
    def character(match: re.Match[str]) -> str:
        code = match[1]
        return chr(int(code[1:], 16)) if len(code) == 5 else ESCAPED.get(code, code)

    return ESCAPE.sub(character, text)


def as_text(name: str, value: SettingValue) -> str:
    """Returns a setting's value as written in server.properties. Raises TypeError for a value that is not a string, number or boolean."""
    if not isinstance(value, str | int | float):
        raise TypeError(f"setting {name} must be a str, int, float or bool, not {value!r}")
    return str(value).lower() if isinstance(value, bool) else str(value)


PREFIX, BITNAMI_PREFIX = "KAFKA_", "KAFKA_CFG_"
SEPARATORS = {1: ".", 2: "_", 3: "-"}
# Variables that configure the start scripts of the images, and those that Kubernetes sets for a service named kafka.
NOT_SETTINGS = re.compile(
    r"KAFKA_(HEAP_OPTS|OPTS|JVM_PERFORMANCE_OPTS|GC_LOG_OPTS|JMX_.*|(TOOLS_)?LOG4J_.*|DEBUG|HOME|VERSION|CLUSTER_ID|CLASSPATH"
    r"|CREATE_TOPICS(_SEPARATOR)?|SERVICE_(HOST|PORT).*|PORT_[0-9]+_.*)|KAFKA_"
)
SERVICE_LINK = "tcp://"  # Kubernetes sets KAFKA_PORT to such a URL, which is not a port.


def settings_of(environ: Mapping[str, str]) -> dict[str, str]:
    """Returns the settings in `KAFKA_*` variables. `KAFKA_CFG_*` takes precedence over `KAFKA_*`.

    In a variable's name `_` stands for a dot, `__` for an underscore and `___` for a hyphen.
    """
    variables = {name: value for name, value in environ.items() if name.startswith(PREFIX) and not value.startswith(SERVICE_LINK)}
    plain = (name for name in variables if not name.startswith(BITNAMI_PREFIX) and not NOT_SETTINGS.fullmatch(name))
    bitnami = (name for name in variables if name.startswith(BITNAMI_PREFIX))
    return {_setting(name, PREFIX): variables[name] for name in plain} | {
        _setting(name, BITNAMI_PREFIX): variables[name] for name in bitnami
    }


def _setting(variable: str, prefix: str) -> str:
    return re.sub("_{1,3}", lambda match: SEPARATORS[len(match[0])], variable.removeprefix(prefix).lower())
