"""The command line: `odradek serve` and `odradek healthcheck`.

Each command imports its modules when it runs, so that a health check, which needs few of them, starts quickly.
"""

from __future__ import annotations

import argparse
import os
import re
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

from .. import __version__

if TYPE_CHECKING:
    from .network.server import Server
    from .settings.cluster_config import ClusterConfig, TopicSpec
    from .snapshots.cluster import State

DEFAULT_CLUSTER_ID = "5L6g3nShT-eMCtK--X86sw"  # the default of the apache/kafka image
EXAMPLES = """\
examples:
  odradek serve                                      two nodes at 127.0.0.1:9092 and 127.0.0.1:9093
  odradek serve --nodes 1 --topic orders:4           one node with a topic of four partitions
  odradek serve --port 0                             free ports; the first line of output contains them
"""
SERVE_EXAMPLES = """\
examples:
  odradek serve --nodes 3 --topic orders:4:3 --set num.partitions=3
  odradek serve --config server.properties
  odradek serve --listener INTERNAL://0.0.0.0:29092 --listener EXTERNAL://0.0.0.0:9092 \\
                --set advertised.listeners=INTERNAL://kafka:29092,EXTERNAL://localhost:9092

KAFKA_* variables are settings, as in Kafka's container images: KAFKA_NUM_PARTITIONS=3.
KAFKA_CREATE_TOPICS=orders:4:1 creates topics, as --topic does.
"""
HEALTHCHECK_EXAMPLES = """\
examples:
  odradek healthcheck                                the listeners in KAFKA_LISTENERS, by default 127.0.0.1:9092
  odradek healthcheck --bootstrap-server kafka:9092  every broker of a cluster, at its advertised address
"""


def main(argv: Sequence[str] | None = None) -> int:
    """Runs a command. Returns 0 for success, 1 for an unhealthy cluster, and 2 for an error in the options or settings."""
    parser = _parser()
    options = parser.parse_args(argv)
    if options.command is None:
        parser.print_help()
        return 0
    try:
        return serve(options, os.environ) if options.command == "serve" else healthcheck(options, os.environ)
    except KeyboardInterrupt:
        return 0


def serve(options: argparse.Namespace, environ: Mapping[str, str]) -> int:
    """Runs a cluster until SIGTERM or Ctrl-C."""
    from . import logs, terminal
    from .settings.properties import InvalidConfig

    from .snapshots.state_file import load

    try:
        saved = None if options.load is None else load(Path(options.load))
        cluster = cluster_config(options, environ) if saved is None else saved_config(saved, options, environ)
        topics = topic_specs(options, environ, cluster)
    except OSError as error:
        return _refuse(f"cannot load {options.load}: {error.strerror or error}")
    except ValueError as error:
        return _refuse(str(error))
    logs.configure(options.log_format)
    logs.ignored_settings(cluster.ignored)

    from .network.server import run

    interactive = options.log_format == "text" and sys.stderr.isatty()
    if interactive:
        terminal.hold_start_up_lines()

    def ready(server: Server) -> None:
        print(f"bootstrap.servers={server.bootstrap_servers}", flush=True)
        if interactive:
            terminal.show(server.config, server.bootstrap_servers)

    try:
        run(cluster, topics=topics, state=saved, on_ready=ready)
    except OSError as error:
        return _refuse(error.strerror or str(error))
    return 0


def healthcheck(options: argparse.Namespace, environ: Mapping[str, str]) -> int:
    """Checks every advertised broker of a cluster or, without --bootstrap-server, the listeners that the environment configures."""
    from .healthcheck import Unhealthy, check, check_listeners
    from .settings.properties import InvalidConfig

    try:
        if options.bootstrap_server is None:
            check_listeners(environ)
        else:
            check(*options.bootstrap_server)
    except InvalidConfig as error:
        return _refuse(str(error))
    except Unhealthy as error:
        print(f"odradek: {error}", file=sys.stderr)
        return 1
    return 0


def cluster_config(options: argparse.Namespace, environ: Mapping[str, str]) -> ClusterConfig:
    """Returns the configured cluster. Options take precedence over the environment, which takes precedence over files.

    Raises InvalidConfig.
    """
    from dataclasses import replace

    from .settings.cluster_config import cluster_of
    from .settings.environment import settings_of
    from .settings.properties import parse_properties
    from .settings.spelling import check_scope

    check_scope(dict(options.set))
    settings = settings_of(environ)
    overrides = settings | dict(options.set)
    if options.listener:
        overrides["listeners"] = ",".join(options.listener)
    files = [parse_properties(_read(name)) for name in options.config] or [{}]
    brokers = [_with_listeners(properties | overrides, options) for properties in files]
    nodes = options.nodes or (1 if len(files) == 1 and not options.listener and _has_listeners(settings) else None)
    cluster = cluster_of(brokers, nodes=nodes, cluster_id=environ.get("CLUSTER_ID", DEFAULT_CLUSTER_ID))
    return replace(cluster, max_memory_bytes=options.max_memory)


def saved_config(saved: State, options: argparse.Namespace, environ: Mapping[str, str]) -> ClusterConfig:
    """Returns the configuration of a saved cluster. Options take precedence over the environment, which takes precedence over the file.

    Raises InvalidConfig.
    """
    from dataclasses import replace

    from .settings.endpoints import LOOPBACK
    from .settings.environment import settings_of
    from .settings.properties import InvalidConfig
    from .settings.spelling import check_scope
    from .snapshots.loading import loaded_config

    if options.nodes or options.config:
        raise InvalidConfig("--nodes and --config cannot be combined with --load, because the file contains the nodes")
    check_scope(dict(options.set))
    settings = settings_of(environ) | dict(options.set)
    if options.listener:
        settings["listeners"] = ",".join(options.listener)
    listeners = [{} for _ in saved["nodes"]]
    if options.port is not None or options.host is not None:
        port = 9092 if options.port is None else options.port
        addresses = [f"{options.host or LOOPBACK}:{port and port + shift}" for shift in range(len(listeners))]
        listeners = [{"listeners": f"PLAINTEXT://{address}"} for address in addresses]
    return replace(loaded_config(saved, [settings | each for each in listeners]), max_memory_bytes=options.max_memory)


def _read(name: str) -> str:
    from .settings.properties import InvalidConfig

    try:
        return Path(name).read_text(encoding="latin-1")  # Java reads properties in this encoding
    except OSError as error:
        raise InvalidConfig(f"cannot read --config {name}: {error.strerror or error}; give the path of a server.properties") from None


def _has_listeners(environment: Mapping[str, str]) -> bool:
    """Returns whether the environment configures listeners. One node is then the default, because a Kafka container is one broker."""
    from .settings.endpoints import NEW_NAMES, with_listeners_of_old_names

    return not with_listeners_of_old_names(environment).keys().isdisjoint(NEW_NAMES)


def _with_listeners(settings: Mapping[str, str], options: argparse.Namespace) -> dict[str, str]:
    """Returns the settings with the listener of --host and --port, unless the settings contain listeners."""
    from .settings.endpoints import LOOPBACK, NEW_NAMES, OLD_NAMES, with_listeners_of_old_names
    from .settings.properties import InvalidConfig

    if options.port is not None and not settings.keys().isdisjoint(NEW_NAMES):
        raise InvalidConfig("--port cannot be combined with listeners; remove it, or use --listener NAME://HOST:PORT")
    host = options.host or (LOOPBACK if settings.keys().isdisjoint(OLD_NAMES) else None)
    named = {"host.name": host, "port": options.port}
    return with_listeners_of_old_names({**settings, **{name: str(value) for name, value in named.items() if value is not None}})


def topic_specs(options: argparse.Namespace, environ: Mapping[str, str], cluster: ClusterConfig) -> list[TopicSpec]:
    """Returns the topics that --topic and KAFKA_CREATE_TOPICS list. Raises InvalidConfig for a topic that the cluster cannot hold."""
    from .cluster.startup_topics import check_topics, created_topics
    from .settings.cluster_config import TopicSpec

    specs = [TopicSpec.parse(text) for text in options.topic] + created_topics(environ)
    check_topics(specs, len(cluster.nodes))
    return specs


def _refuse(reason: str) -> int:
    print(f"odradek: {reason}", file=sys.stderr)
    return 2


class Parser(argparse.ArgumentParser):
    """A parser that prints errors in one line instead of the whole usage, and does not reformat epilogs."""

    def __init__(self, **options: Any) -> None:
        super().__init__(formatter_class=argparse.RawDescriptionHelpFormatter, allow_abbrev=False, **options)

    def error(self, message: str) -> NoReturn:
        """Prints the error and exits with code 2."""
        self.exit(2, f"{self.prog}: {message}; see {self.prog} --help\n")


def _parser() -> Parser:
    parser = Parser(prog="odradek", description="A small Kafka for tests and laptops.", epilog=EXAMPLES)
    parser.add_argument("--version", action="version", version=f"odradek {__version__}", help="print the version")
    commands = parser.add_subparsers(dest="command", title="commands", metavar="serve|healthcheck")
    _add_serve(commands.add_parser("serve", help="run a cluster until Ctrl-C", epilog=SERVE_EXAMPLES))
    help_text = "exit with 0 if the brokers answer, otherwise with 1"
    check = commands.add_parser("healthcheck", help=help_text, epilog=HEALTHCHECK_EXAMPLES)
    check.add_argument(
        "--bootstrap-server",
        type=_address,
        metavar="HOST:PORT",
        help="check every broker of this cluster (default: check the listeners of the environment)",
    )
    return parser


def _add_serve(run: argparse.ArgumentParser) -> None:
    run.add_argument("--nodes", type=_nodes, metavar="N", help="number of brokers (default: 2; 1 if KAFKA_* contains listeners)")
    run.add_argument(
        "--port", type=_port, help="port of the first node; further nodes use the following ports; 0: free ports (default: 9092)"
    )
    run.add_argument("--host", help="address to listen on (default: 127.0.0.1)")
    run.add_argument(
        "--listener", action="append", default=[], metavar="NAME://HOST:PORT", help="a listener, instead of --host and --port; repeatable"
    )
    run.add_argument("--config", action="append", default=[], metavar="FILE", help="a server.properties; one per node; repeatable")
    run.add_argument(
        "--set",
        action="append",
        default=[],
        type=_pair,
        metavar="KEY=VALUE",
        help="a setting; takes precedence over KAFKA_* and --config; repeatable",
    )
    run.add_argument(
        "--topic", action="append", default=[], metavar="NAME:PARTITIONS[:REPLICAS]", help="create this topic at startup; repeatable"
    )
    run.add_argument(
        "--load", metavar="FILE", help="start with the state that was saved in this file, by default on the ports that it contains"
    )
    run.add_argument("--max-memory", type=_size, metavar="SIZE", help="memory limit for all logs, such as 512m (default: no limit)")
    run.add_argument("--log-format", choices=["text", "json"], default="text", help="format of the log on stderr (default: %(default)s)")


def _nodes(text: str) -> int:
    if not re.fullmatch("[1-9][0-9]{0,2}", text):
        raise argparse.ArgumentTypeError(f"invalid number of nodes '{text}': use 1 to 999")
    return int(text)


def _port(text: str) -> int:
    if not re.fullmatch("[0-9]{1,5}", text) or int(text) > 65535:
        raise argparse.ArgumentTypeError(f"invalid port '{text}': use 0 to 65535")
    return int(text)


def _size(text: str) -> int:
    match = re.fullmatch("([1-9][0-9]{0,15})([kmgt]?)", text.lower())
    if match is None:
        raise argparse.ArgumentTypeError(f"invalid size '{text}': use bytes, or k, m, g or t as in 512m")
    return int(match[1]) << 10 * " kmgt".index(match[2] or " ")


def _pair(text: str) -> tuple[str, str]:
    name, separator, value = text.partition("=")
    if not separator or not name:
        raise argparse.ArgumentTypeError(f"invalid setting '{text}': use key=value, such as num.partitions=4")
    return name.strip(), value


def _address(text: str) -> tuple[str, int]:
    host, _, port = text.rpartition(":")
    if not host:
        raise argparse.ArgumentTypeError(f"invalid address '{text}': use HOST:PORT, such as 127.0.0.1:9092")
    return host.strip("[]"), _port(port)
