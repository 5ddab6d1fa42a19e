"""The command line: `odradek serve` and `odradek healthcheck`.

What a command needs is imported when it runs, so that a health check takes a few milliseconds.
"""

from __future__ import annotations

import argparse
import os
import re
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, NoReturn

from .. import __version__

if TYPE_CHECKING:
    from .listeners import ClusterConfig, TopicSpec

DEFAULT_CLUSTER_ID = "5L6g3nShT-eMCtK--X86sw"  # the one of Apache's image


def main(argv: Sequence[str] | None = None) -> int:
    """Runs a command; 0 if all went well, 1 for a cluster that is not healthy, 2 for what the caller should mend."""
    options = _parser().parse_args(argv)
    try:
        return serve(options, os.environ) if options.command == "serve" else healthcheck(options)
    except KeyboardInterrupt:
        return 0


def serve(options: argparse.Namespace, environ: Mapping[str, str]) -> int:
    """Runs a cluster until SIGTERM or Ctrl-C."""
    from . import logs
    from .config import InvalidConfig

    try:
        cluster = cluster_config(options, environ)
        topics = topic_specs(options, cluster)
    except (InvalidConfig, OSError) as error:
        return _refuse(str(error))
    logs.configure(options.log_format)
    logs.ignored_settings(cluster.ignored)

    from .server import run

    try:
        run(cluster, topics=topics, on_ready=lambda servers: print(f"bootstrap.servers={servers}", flush=True))
    except OSError as error:
        return _refuse(error.strerror or str(error))
    return 0


def healthcheck(options: argparse.Namespace) -> int:
    """Asks every advertised broker whether it answers."""
    from .healthcheck import Unhealthy, check

    try:
        check(*options.bootstrap_server)
    except Unhealthy as error:
        print(f"odradek: {error}", file=sys.stderr)
        return 1
    return 0


def cluster_config(options: argparse.Namespace, environ: Mapping[str, str]) -> ClusterConfig:
    """The cluster that the options, the environment and the files ask for; each goes before the next. InvalidConfig, OSError."""
    from .listeners import cluster_of
    from .properties import from_environment, parse_properties

    over = from_environment(environ) | dict(options.set)
    if options.listener:
        over["listeners"] = ",".join(options.listener)
    # Latin-1 is what Java reads.
    files = [parse_properties(Path(name).read_text(encoding="latin-1")) for name in options.config] or [{}]
    brokers = [_with_listeners(properties | over, options) for properties in files]
    return cluster_of(brokers, nodes=options.nodes, cluster_id=environ.get("CLUSTER_ID", DEFAULT_CLUSTER_ID))


def _with_listeners(properties: dict[str, str], options: argparse.Namespace) -> dict[str, str]:
    """Those that --host and --port describe, where nothing else says where to listen."""
    from .config import InvalidConfig
    from .listeners import DEFAULT_PORT, Endpoint

    if not properties.keys() & {"listeners", "advertised.listeners"}:
        port = DEFAULT_PORT if options.port is None else options.port
        return properties | {"listeners": str(Endpoint("PLAINTEXT", options.host, port))}
    if options.port is not None:
        raise InvalidConfig("--port has no effect where listeners are set; leave it out, or use --listener NAME://HOST:PORT")
    return properties


def topic_specs(options: argparse.Namespace, cluster: ClusterConfig) -> list[TopicSpec]:
    """The topics to begin with. InvalidConfig for one that the cluster cannot hold."""
    from .config import InvalidConfig
    from .listeners import TopicSpec

    specs = [TopicSpec.parse(text) for text in options.topic]
    for spec in specs:
        if spec.replication_factor > len(cluster.nodes):
            raise InvalidConfig(f"Topic {spec.name} asks for {spec.replication_factor} replicas, but there are {len(cluster.nodes)} nodes")
    if len({spec.name for spec in specs}) < len(specs):
        raise InvalidConfig("A topic is named twice; give each --topic a name of its own")
    return specs


def _refuse(reason: str) -> int:
    print(f"odradek: {reason}", file=sys.stderr)
    return 2


class Parser(argparse.ArgumentParser):
    """One line for a mistake, instead of the whole usage."""

    def error(self, message: str) -> NoReturn:
        """Ends the program."""
        self.exit(2, f"{self.prog}: {message}; see {self.prog} --help\n")


def _parser() -> Parser:
    parser = Parser(prog="odradek", description="A small Kafka for tests and laptops.", allow_abbrev=False)
    parser.add_argument("--version", action="version", version=f"odradek {__version__}", help="print the version")
    commands = parser.add_subparsers(dest="command", required=True, metavar="serve|healthcheck")
    run = commands.add_parser("serve", help="run a cluster until Ctrl-C", allow_abbrev=False)
    run.add_argument("--nodes", type=_nodes, metavar="N", help="how many brokers; 2, or as many as --config or the settings describe")
    run.add_argument("--port", type=_port, metavar="PORT", help="port of the first node, the next ones count up; 0: any free; 9092")
    run.add_argument("--host", default="127.0.0.1", help="address to listen on; %(default)s")
    run.add_argument("--listener", action="append", default=[], metavar="NAME://HOST:PORT", help="instead of --host and --port; repeatable")
    run.add_argument("--config", action="append", default=[], metavar="FILE", help="a server.properties; several are a node each")
    run.add_argument("--set", action="append", default=[], type=_pair, metavar="KEY=VALUE", help="a setting; goes before KAFKA_* and files")
    run.add_argument("--topic", action="append", default=[], metavar="NAME:PARTITIONS[:REPLICAS]", help="a topic to begin with")
    run.add_argument("--log-format", choices=["text", "json"], default="text", help="of the lines on stderr; %(default)s")
    check = commands.add_parser("healthcheck", help="0 if every advertised broker answers, else 1", allow_abbrev=False)
    check.add_argument("--bootstrap-server", type=_address, default="127.0.0.1:9092", metavar="HOST:PORT", help="%(default)s")
    return parser


def _nodes(text: str) -> int:
    if not re.fullmatch("[1-9][0-9]{0,2}", text):
        raise argparse.ArgumentTypeError(f"'{text}' is no number of nodes; write 1 to 999")
    return int(text)


def _port(text: str) -> int:
    if not re.fullmatch("[0-9]{1,5}", text) or int(text) > 65535:
        raise argparse.ArgumentTypeError(f"'{text}' is no port; write 0 to 65535, 0 for any free one")
    return int(text)


def _pair(text: str) -> tuple[str, str]:
    name, separator, value = text.partition("=")
    if not separator or not name:
        raise argparse.ArgumentTypeError(f"'{text}' is no setting; write key=value, such as num.partitions=4")
    return name.strip(), value


def _address(text: str) -> tuple[str, int]:
    host, _, port = text.rpartition(":")
    if not host:
        raise argparse.ArgumentTypeError(f"'{text}' is no address; write HOST:PORT, such as 127.0.0.1:9092")
    return host.strip("[]"), _port(port)
