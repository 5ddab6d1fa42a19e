"""The parser of the commands, and the types of their options. Errors are one line on stderr, and the exit code is 2."""

from __future__ import annotations

import argparse
import re
import sys
from collections.abc import Iterable, Mapping
from functools import partial
from typing import TYPE_CHECKING, Any, NoReturn

if TYPE_CHECKING:
    from ...protocol.client.settings import ClientSecurity
    from ..client.offsets import Start
    from ..client.schema_registry import SchemaRegistryClient

DEFAULT_CONTROL = "127.0.0.1:9099"
"""The address of the control listener for commands that are not given one."""
CONTROL_HELP = f"address of the control listener (default: ODRADEK_CONTROL, or {DEFAULT_CONTROL})"
REGISTRY_VARIABLE, DEFAULT_REGISTRY = "SCHEMA_REGISTRY_URL", "http://127.0.0.1:8081"
SCHEMA_FORMATS = ("avro", "json", "protobuf")
DIAGRAM_HAS_NO_LINES = "--json and --verbose have no effect on a diagram; leave out --format or these options"


class Parser(argparse.ArgumentParser):
    """A parser that prints errors in one line instead of the whole usage, and does not reformat epilogs."""

    def __init__(self, **options: Any) -> None:
        # argparse also creates formatters for each option. With a width, they do not import the module that finds the terminal's.
        super().__init__(formatter_class=partial(argparse.RawDescriptionHelpFormatter, width=80), allow_abbrev=False, **options)

    def format_help(self) -> str:
        """Returns the help in the width of the terminal."""
        self.formatter_class = argparse.RawDescriptionHelpFormatter
        return super().format_help()

    def parse_known_args(self, args: Any = None, namespace: Any = None) -> Any:
        """Returns what argparse returns. An unknown option ends the process with the nearest one, because commands leave none to others."""
        found, rest = super().parse_known_args(args, namespace)
        if rest and rest[0].startswith("-"):
            name = rest[0].partition("=")[0]
            self.error(f"unknown option {name}{_suggestion(name, self._option_string_actions)}")
        return found, rest

    @property
    def actions(self) -> list[argparse.Action]:
        """The options and arguments. An action with a dictionary as `choices` contains commands with their parsers."""
        return self._actions

    def _check_value(self, action: argparse.Action, value: Any) -> None:
        """Raises ArgumentError for a value that is none of the choices, with the nearest one."""
        if action.choices is not None and value not in action.choices:
            names = [str(each) for each in action.choices]
            hint = _suggestion(str(value), names) or f"; use one of {', '.join(names)}"
            what = "command" if isinstance(action.choices, dict) else "value"
            raise argparse.ArgumentError(None if what == "command" else action, f"unknown {what} {value!r}{hint}")

    def error(self, message: str) -> NoReturn:
        """Prints the error and exits with code 2."""
        self.exit(2, f"{self.prog}: {message}; see {self.prog} --help\n")


def _suggestion(name: str, known: Iterable[str]) -> str:
    from difflib import get_close_matches

    near = get_close_matches(name, list(known), 1)
    return f"; did you mean {near[0]}?" if near else ""


def refuse(reason: str) -> int:
    """Prints the reason why a command cannot run. Returns the exit code."""
    print(f"odradek: {reason}", file=sys.stderr)
    return 2


def node_count(text: str) -> int:
    if not re.fullmatch("[1-9][0-9]{0,2}", text):
        raise argparse.ArgumentTypeError(f"invalid number of nodes '{text}': use 1 to 999")
    return int(text)


def port(text: str) -> int:
    if not re.fullmatch("[0-9]{1,5}", text) or int(text) > 65535:
        raise argparse.ArgumentTypeError(f"invalid port '{text}': use 0 to 65535")
    return int(text)


def count(text: str) -> int:
    if not re.fullmatch("[0-9]{1,9}", text):
        raise argparse.ArgumentTypeError(f"invalid number '{text}': use 0 to 999999999")
    return int(text)


def moment(text: str) -> int:
    """Returns a time in milliseconds since the Unix epoch, which is given so or in ISO 8601. Raises ArgumentTypeError."""
    from datetime import datetime

    if text.isdecimal():
        return int(text)
    try:
        return round(datetime.fromisoformat(text).timestamp() * 1000)
    except ValueError:
        raise argparse.ArgumentTypeError(f"{text} is no time; write one such as 2026-01-31T12:00:00+00:00, or milliseconds") from None


def size(text: str) -> int:
    match = re.fullmatch("([1-9][0-9]{0,15})([kmgt]?)", text.lower())
    if match is None:
        raise argparse.ArgumentTypeError(f"invalid size '{text}': use bytes, or k, m, g or t as in 512m")
    return int(match[1]) << 10 * " kmgt".index(match[2] or " ")


def feature(text: str) -> tuple[str, int]:
    name, _, level = text.partition("=")
    if not name or not re.fullmatch("[0-9]{1,5}", level):
        raise argparse.ArgumentTypeError(f"invalid feature '{text}': use NAME=LEVEL, such as share.version=1")
    return name, int(level)


def pair(text: str) -> tuple[str, str]:
    name, separator, value = text.partition("=")
    if not separator or not name:
        raise argparse.ArgumentTypeError(f"invalid setting '{text}': use key=value, such as num.partitions=4")
    return name.strip(), value


def address(text: str) -> tuple[str, int]:
    host, _, digits = text.rpartition(":")
    if not host:
        raise argparse.ArgumentTypeError(f"invalid address '{text}': use HOST:PORT, such as 127.0.0.1:9092")
    return host.strip("[]"), port(digits)


def add_control_options(command: argparse.ArgumentParser) -> None:
    """Adds the options of a command that talks to a control listener."""
    command.add_argument("--control", metavar="HOST:PORT", help=CONTROL_HELP)
    command.add_argument("--control-token", metavar="TOKEN", help="token of the control listener (default: ODRADEK_CONTROL_TOKEN)")


def control_address(given: str | None, environ: Mapping[str, str]) -> tuple[str, int]:
    """Returns the address of the control listener: the given one, that of the environment, or the default. Raises ArgumentTypeError."""
    return address(given or environ.get("ODRADEK_CONTROL") or DEFAULT_CONTROL)


def start(text: str) -> Start:
    from ..client.offsets import Start

    try:
        return Start.parse(text)
    except ValueError as error:
        raise argparse.ArgumentTypeError(str(error)) from None


def addresses(text: str) -> list[tuple[str, int]]:
    return [address(each.strip()) for each in text.split(",") if each.strip()] or [address(text)]


def add_cluster_options(command: argparse.ArgumentParser, output: str = "table", *parts: argparse.ArgumentParser) -> None:
    """Adds the options of a command that talks to a Kafka cluster, and of its parts. `output` is the default format of its output."""
    help_text = "brokers of the cluster (default: BOOTSTRAP_SERVERS, or 127.0.0.1:9092)"
    for parser in (command, *parts):
        # The parser of a part must not replace what was given before its name by a default.
        absent: Any = None if parser is command else argparse.SUPPRESS
        parser.add_argument("--bootstrap-server", type=addresses, default=absent, metavar="HOST:PORT,...", help=help_text)
        add_command_config(parser, default=absent)
        output_default = output if parser is command else argparse.SUPPRESS
        output_help = f"format of the output (default: {output})"
        parser.add_argument("--output", choices=(output, "json"), default=output_default, help=output_help)


def add_registry_option(command: argparse.ArgumentParser, default: Any = None) -> None:
    """Adds the options with which commands reach a schema registry. The second names the registry, because brokers have another CA."""
    url_help = f"URL of the schema registry, also with user and password (default: {REGISTRY_VARIABLE}, or {DEFAULT_REGISTRY})"
    command.add_argument("--schema-registry", metavar="URL", default=default, help=url_help)
    ca_help = "certificates to trust in the schema registry, as PEM (default: those of the system)"
    command.add_argument("--registry-ca-file", metavar="FILE", default=default, help=ca_help)


def registry_client(options: argparse.Namespace, environ: Mapping[str, str]) -> SchemaRegistryClient:
    """Returns a client of the registry in the option, in the environment, or at the default address. Raises ValueError."""
    from ..client.schema_registry import SchemaRegistryClient

    url = options.schema_registry or environ.get(REGISTRY_VARIABLE) or DEFAULT_REGISTRY
    return SchemaRegistryClient(url, options.registry_ca_file)


def add_command_config(command: argparse.ArgumentParser, default: Any = None) -> None:
    """Adds the option --command-config, as Kafka's own programs have it."""
    help_text = "a client.properties with security.protocol, sasl.* and ssl.*"
    command.add_argument("--command-config", default=default, metavar="FILE", help=help_text)


def client_security(options: argparse.Namespace) -> ClientSecurity | None:
    """Returns the security settings in the file of --command-config, None without it. Raises InvalidConfig."""
    if options.command_config is None:
        return None
    from ...protocol.client.settings import ClientSecurity
    from ..settings.properties import InvalidConfig, read_properties

    try:
        properties = read_properties(options.command_config)
        return ClientSecurity.of(properties)
    except OSError as error:
        raise InvalidConfig(f"cannot read --command-config {options.command_config}: {error.strerror or error}") from None
    except ValueError as error:
        raise InvalidConfig(f"--command-config {options.command_config}: {error}") from None


def add_trace_options(command: argparse.ArgumentParser) -> None:
    """Adds the options that select and format the entries of the record."""
    command.add_argument("--filter", metavar="FILTER", help="show only these, such as 'api=Produce and error'")
    command.add_argument("--verbose", action="store_true", help="show the fields of requests and responses too")
    command.add_argument("--json", action="store_true", help="print one JSON object per line")


def add_format_option(command: argparse.ArgumentParser) -> None:
    """Adds the option of sequence diagrams."""
    formats = ["text", "mermaid", "svg", "html"]
    command.add_argument("--format", choices=formats, help="print a sequence diagram at the end, instead of entries as they come")
