"""`odradek serve`: its options, and the cluster that they, the environment and files configure."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Mapping
from importlib.util import find_spec
from typing import TYPE_CHECKING

from ..process.garbage import no_collection
from .log_dirs import add_log_dir_options, data_directory, log_dirs
from .options import add_trace_options, count, feature, node_count, pair, port, refuse, size

if TYPE_CHECKING:
    from pathlib import Path

    from ..controls.http.access import ControlAddress
    from ..directories.source import ImportSource
    from ..network.server import Server, ServerOptions
    from ..process.tracing import Tracer
    from ..registry_edge.access import RegistryAddress
    from ..settings.cluster_config import ClusterConfig, TopicSpec
    from ..settings.schema_registry import RegistrySettings
    from ..wire.capture_options import CaptureOptions
    from .ready_file import ReadyFile

PIPE = "-"  # as in wire/capture_options.py
LOG_LEVELS = ("DEBUG", "INFO", "WARN", "ERROR")
DEFAULT_CLUSTER_ID = "5L6g3nShT-eMCtK--X86sw"  # the default of the apache/kafka image
EXAMPLES = """\
examples:
  odradek serve --nodes 3 --topic orders:4:3 --set num.partitions=3
  odradek serve --config server.properties
  odradek serve --load orders.odradek
  odradek serve --data fixtures --exec 'pytest -q'
  odradek serve --listener INTERNAL://0.0.0.0:29092 --listener EXTERNAL://0.0.0.0:9092 \\
                --set advertised.listeners=INTERNAL://kafka:29092,EXTERNAL://localhost:9092

KAFKA_* variables are settings, as in Kafka's container images: KAFKA_NUM_PARTITIONS=3.
KAFKA_CREATE_TOPICS=orders:4:1 creates topics, as --topic does.
"""


def run(options: argparse.Namespace, environ: Mapping[str, str]) -> int:
    """Runs a cluster until SIGTERM or Ctrl-C."""
    with no_collection():
        return _run(options, environ)


def _run(options: argparse.Namespace, environ: Mapping[str, str]) -> int:
    from .. import logs
    from ..control_errors import InvalidControl
    from ..process import terminal
    from ..settings.properties import InvalidConfig

    try:
        server_options = _server_options(options, environ)
        trace = None if not _is_traced(options) else _tracer(options)
        command = command_of(options)
        ready_file = _ready_file(options)
    except (InvalidConfig, InvalidControl) as error:
        return refuse(str(error))
    logs.configure(options.log_format, options.log_level or ("ERROR" if options.quiet else "INFO"))
    logs.log_ignored_settings(server_options.config.ignored)
    logs.warn_of_unknown_settings(server_options.config.unknown)
    if find_spec("crc32c") is None:
        from ...protocol.batches import checksum  # noqa: F401  (warns now, rather than at the first record)

    from ..process.serving import run as run_cluster

    greets = options.log_format == "text" and not options.quiet
    if greets and sys.stderr.isatty():
        logs.hold_start_up_lines()

    def ready(server: Server, control_listener: str | None) -> None:
        lines = _addresses(server, control_listener)
        if not command:  # because its output would be mixed with these lines
            output = sys.stderr if options.capture == PIPE else sys.stdout
            output.write(lines)  # at once, because the log may be written at the same time
            output.flush()
        if ready_file is not None:
            ready_file.write(lines)
        if greets:
            logs.show(terminal.greeting(server.config, server.bootstrap_servers, control_listener, server.schema_registry_url))

    try:
        return run_cluster(server_options, command=command, trace=trace, exit_with_parent=options.exit_with_parent, on_ready=ready)
    except OSError as error:
        logs.flush()
        return refuse(f"{error.filename}: {error.strerror}" if error.filename else error.strerror or str(error))
    except (InvalidConfig, ImportError) as error:  # of TLS: an invalid key store, or a missing extra
        return refuse(str(error))
    finally:
        if ready_file is not None:
            ready_file.remove()


def _server_options(options: argparse.Namespace, environ: Mapping[str, str]) -> ServerOptions:
    """Returns what the cluster starts with. Raises InvalidConfig or InvalidControl."""
    from ..network.server import ServerOptions
    from .saved import saved_config, saved_state

    registry, registry_settings = schema_registry(options, environ)
    saved, source, data_dir = saved_state(options), log_dirs(options), data_directory(options, environ)
    cluster = cluster_config(options, environ, source) if saved is None else saved_config(saved, options, environ)
    cluster = with_record(cluster, options)
    return ServerOptions(
        cluster,
        topic_specs(options, environ, cluster),
        seed_files(options),
        source,
        data_dir,
        saved,
        control=control_address(options, environ),
        capture=capture_options(options),
        schema_registry=registry,
        registry_settings=registry_settings,
    )


def _ready_file(options: argparse.Namespace) -> ReadyFile | None:
    if options.ready_file is None:
        return None
    from .ready_file import ReadyFile

    return ReadyFile(options.ready_file)


def _addresses(server: Server, control_listener: str | None) -> str:
    """Returns the lines that programs read when the cluster is ready."""
    lines = [f"bootstrap.servers={server.bootstrap_servers}"]
    if control_listener is not None:
        lines.append(f"control={control_listener}")
    if server.security.generated_tls is not None:
        lines.append(f"ssl.ca.location={server.security.generated_tls.ca_file}")
    if server.schema_registry_url is not None:
        lines.append(f"schema.registry.url={server.schema_registry_url}")
    return "\n".join([*lines, ""])


def seed_files(options: argparse.Namespace) -> list[Path]:
    """Returns the files of seed data. Raises InvalidConfig if --data names none."""
    if not options.data:
        return []
    from ..seed_data.reading import files_of

    return files_of(options.data)


def command_of(options: argparse.Namespace) -> list[str]:
    """Returns the command of --exec with its arguments, [] without the option. Raises InvalidConfig if it cannot be split into words."""
    if options.exec is None:
        return []
    import shlex

    from ..settings.properties import InvalidConfig

    try:
        words = shlex.split(options.exec)
    except ValueError as error:
        raise InvalidConfig(f"--exec: {error} in {options.exec}") from None
    if not words:
        raise InvalidConfig("--exec needs a command, such as 'pytest -q'")
    return words


def cluster_config(options: argparse.Namespace, environ: Mapping[str, str], source: ImportSource | None = None) -> ClusterConfig:
    """Returns the configured cluster. Options take precedence over the environment, which takes precedence over files.

    With a source, the nodes are those of its log directories. Raises InvalidConfig.
    """
    from dataclasses import replace

    from ..security.startup import Security, parse_user
    from ..settings.cluster_config import cluster_of
    from ..settings.properties import settings_of
    from ..settings.spelling import at_broker_level

    settings = settings_of(environ)
    overrides = settings | (dict(options.set) if options.ignore_unknown_settings else at_broker_level(dict(options.set)))
    if options.listener:
        overrides["listeners"] = ",".join(options.listener)
    files = [_read_config(name) for name in options.config] or [{}]
    security = Security(options.tls == "auto", dict(map(parse_user, options.user)), options.acl)
    brokers = [security.settings(_with_listeners(given := properties | overrides, options), given) for properties in files]
    nodes = options.nodes or (1 if len(files) == 1 and not options.listener and _has_listeners(settings) else None)
    cluster_id = environ.get("CLUSTER_ID", DEFAULT_CLUSTER_ID) if source is None else source.cluster_id
    cluster = cluster_of(
        brokers,
        nodes=nodes,
        identities=() if source is None else [source.settings_of(node_id) for node_id in sorted(source.nodes)],
        cluster_id=cluster_id,
        as_version=options.as_version,
        ignore_unknown_settings=options.ignore_unknown_settings,
    )
    features = dict(options.feature)
    if features:
        from ..cluster.features import check_levels

        check_levels(features, cluster.release)
    cluster = replace(
        cluster,
        max_memory_bytes=options.max_memory,
        features=features,
        keeps_data=options.data_dir is not None,
        memory_limit_bytes=options.memory_limit,
    )
    return security.apply_to(cluster)


def with_record(cluster: ClusterConfig, options: argparse.Namespace) -> ClusterConfig:
    """Returns the cluster with the limits of the record that the options set."""
    from dataclasses import replace

    given = {"exchanges": options.record_exchanges, "bytes": options.record_bytes}
    return replace(cluster, record=cluster.record._replace(**{name: value for name, value in given.items() if value is not None}))


def _is_traced(options: argparse.Namespace) -> bool:
    """Returns whether exchanges are printed. Raises InvalidConfig for options that have no effect."""
    from ..settings.properties import InvalidConfig

    if not options.trace and (options.filter is not None or options.verbose or options.json):
        raise InvalidConfig("--filter, --verbose and --json have no effect without --trace")
    if options.trace and options.record_exchanges == 0:
        raise InvalidConfig("--trace needs the record, which --record-exchanges 0 switches off")
    return bool(options.trace)


def _tracer(options: argparse.Namespace) -> Tracer:
    from ..process.tracing import Tracer
    from ..wire.filters import parse_filter

    return Tracer(parse_filter(options.filter or ""), verbose=options.verbose, as_json=options.json)


def _read_config(name: str) -> dict[str, str]:
    from ..settings.properties import InvalidConfig, read_properties

    try:
        return read_properties(name)
    except OSError as error:
        raise InvalidConfig(f"cannot read --config {name}: {error.strerror or error}; give the path of a server.properties") from None


def _has_listeners(environment: Mapping[str, str]) -> bool:
    """Returns whether the environment configures listeners. One node is then the default, because a Kafka container is one broker."""
    from ..settings.endpoints import NEW_NAMES, with_listeners_of_old_names

    return not with_listeners_of_old_names(environment).keys().isdisjoint(NEW_NAMES)


def _with_listeners(settings: Mapping[str, str], options: argparse.Namespace) -> dict[str, str]:
    """Returns the settings with the listener of --host and --port, unless the settings contain listeners."""
    from ..settings.endpoints import LOOPBACK, NEW_NAMES, OLD_NAMES, with_listeners_of_old_names
    from ..settings.properties import InvalidConfig

    if options.port is not None and not settings.keys().isdisjoint(NEW_NAMES):
        raise InvalidConfig("--port cannot be combined with listeners; remove it, or use --listener NAME://HOST:PORT")
    host = options.host or (LOOPBACK if settings.keys().isdisjoint(OLD_NAMES) else None)
    named = {"host.name": host, "port": options.port}
    return with_listeners_of_old_names({**settings, **{name: str(value) for name, value in named.items() if value is not None}})


def topic_specs(options: argparse.Namespace, environ: Mapping[str, str], cluster: ClusterConfig) -> list[TopicSpec]:
    """Returns the topics that --topic and KAFKA_CREATE_TOPICS list. Raises InvalidConfig for a topic that the cluster cannot hold."""
    from ..cluster.startup_topics import check_topics, topics_to_create
    from ..settings.cluster_config import TopicSpec

    specs = [TopicSpec.parse(text) for text in options.topic] + topics_to_create(environ)
    check_topics(specs, len(cluster.nodes), cluster.setting_rows)
    return specs


def control_address(options: argparse.Namespace, environ: Mapping[str, str]) -> ControlAddress | None:
    """Returns the address and the token of the control listener, None if there is to be none. Raises InvalidConfig."""
    from ..settings.properties import InvalidConfig

    if options.control is None:
        if options.control_token is not None:
            raise InvalidConfig("--control-token has no effect without --control HOST:PORT")
        return None

    from ..controls.http.access import ControlAddress

    token = environ.get("ODRADEK_CONTROL_TOKEN") if options.control_token is None else options.control_token
    return ControlAddress.parse(options.control, token)


def schema_registry(options: argparse.Namespace, environ: Mapping[str, str]) -> tuple[RegistryAddress | None, RegistrySettings]:
    """Returns the address of the schema registry, None if there is to be none, and its settings, which are removed from `options.set`.

    Raises InvalidConfig.
    """
    from ..settings.schema_registry import LISTENERS, RegistrySettings, address_in, registry_settings_of, split_settings

    given = registry_settings_of(environ)
    overrides, options.set = split_settings(options.set)
    settings = RegistrySettings.of(given | overrides)
    text = options.schema_registry or (address_in(given[LISTENERS]) if LISTENERS in given else None)
    if text is None:
        return None, settings

    from ..registry_edge.access import RegistryAddress

    return RegistryAddress.parse(text), settings


def capture_options(options: argparse.Namespace) -> CaptureOptions | None:
    """Returns the options of the capture, None if there is to be none. Raises InvalidConfig."""
    from ..settings.properties import InvalidConfig

    if options.capture is None:
        if options.capture_addresses is not None or options.capture_max_bytes is not None:
            raise InvalidConfig("--capture-addresses and --capture-max-bytes have no effect without --capture FILE")
        return None

    from ..wire.capture_options import CaptureOptions

    if options.capture == PIPE and options.exec:
        raise InvalidConfig("--capture - and --exec both write to the standard output; write the capture to a file")
    return CaptureOptions.of(options.capture, options.capture_addresses or "canonical", options.capture_max_bytes)


def add_options(run: argparse.ArgumentParser) -> None:
    run.add_argument("--nodes", type=node_count, metavar="N", help="number of brokers (default: 2; 1 if KAFKA_* contains listeners)")
    run.add_argument(
        "--port", type=port, help="port of the first node; further nodes use the following ports; 0: free ports (default: 9092)"
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
        type=pair,
        metavar="KEY=VALUE",
        help="a setting; takes precedence over KAFKA_* and --config; repeatable",
    )
    run.add_argument(
        "--ignore-unknown-settings",
        action="store_true",
        help="ignore misspelt settings with a warning, as Kafka does (default: refuse them)",
    )
    run.add_argument(
        "--topic", action="append", default=[], metavar="NAME:PARTITIONS[:REPLICAS]", help="create this topic at startup; repeatable"
    )
    _add_state_options(run)
    add_log_dir_options(run)
    _add_security_options(run)
    run.add_argument("--max-memory", type=size, metavar="SIZE", help="memory limit for all logs, such as 512m (default: no limit)")
    run.add_argument(
        "--as-version",
        metavar="VERSION",
        help="emulate this release of Kafka, from 2.1 to 4.3, or wireshark-4.0 for versions that Wireshark 4.0 knows (default: 4.3)",
    )
    run.add_argument(
        "--feature",
        action="append",
        default=[],
        type=feature,
        metavar="NAME=LEVEL",
        help="finalize this level of a feature, such as share.version=1 (default: the highest levels); repeatable",
    )
    _add_lifetime_options(run)
    run.add_argument(
        "--control", metavar="HOST:PORT", help="serve controls over HTTP at this address, for odradek ctl and other programs (default: off)"
    )
    run.add_argument(
        "--control-token",
        metavar="TOKEN",
        help="require this token for controls, needed unless the address is a loopback address (default: ODRADEK_CONTROL_TOKEN)",
    )
    registry_help = "serve a schema registry at this address (default: that in SCHEMA_REGISTRY_LISTENERS, otherwise off)"
    run.add_argument("--schema-registry", metavar="HOST:PORT", help=registry_help)
    _add_capture_options(run)
    _add_record_options(run)
    _add_log_options(run)


def _add_lifetime_options(run: argparse.ArgumentParser) -> None:
    run.add_argument("--ready-file", metavar="FILE", help="write the lines of standard output to this file too, while the cluster runs")
    run.add_argument(
        "--exec", metavar="COMMAND", help="run this command with BOOTSTRAP_SERVERS set, stop when it ends, and return its exit code"
    )
    run.add_argument(
        "--exit-with-parent",
        action="store_true",
        help="stop when standard input ends, as it does when the program that holds the other end of a pipe ends",
    )


def _add_state_options(run: argparse.ArgumentParser) -> None:
    run.add_argument(
        "--data",
        action="append",
        default=[],
        metavar="DIR|FILE|PATTERN",
        help="start with the topics and records in .jsonl and .csv files; repeatable",
    )
    run.add_argument(
        "--load", metavar="FILE", help="start with the state that was saved in this file, by default on the ports that it contains"
    )
    run.add_argument(
        "--trust", action="store_true", help="with --load: use the addresses, files and URLs in the settings of the file (default: refuse)"
    )


def _add_record_options(run: argparse.ArgumentParser) -> None:
    run.add_argument(
        "--record-exchanges", type=count, metavar="N", help="how many requests are recorded, for odradek trace; 0: none (default: 10000)"
    )
    run.add_argument("--record-bytes", type=size, metavar="SIZE", help="memory limit of the recorded bytes (default: 16m)")
    run.add_argument("--trace", action="store_true", help="print a line for each request and response, as odradek trace does")
    add_trace_options(run)


def _add_log_options(run: argparse.ArgumentParser) -> None:
    run.add_argument("--log-format", choices=["text", "json"], default="text", help="format of the log on stderr (default: %(default)s)")
    level_help = f"lowest level of the entries in the log: {', '.join(LOG_LEVELS)} (default: INFO; ERROR with --quiet)"
    run.add_argument("--log-level", type=str.upper, choices=LOG_LEVELS, metavar="LEVEL", help=level_help)
    run.add_argument("--quiet", action="store_true", help="print only bootstrap.servers and the other addresses, and errors")


def _add_capture_options(run: argparse.ArgumentParser) -> None:
    capture_help = "write what clients and brokers send to a pcapng file for Wireshark and odradek explain; - is a pipe"
    run.add_argument("--capture", metavar="FILE", help=capture_help)
    run.add_argument(
        "--capture-addresses",
        choices=["canonical", "real"],
        help="in captures, show node n as 127.0.0.n:9092, or with its real address (default: canonical)",
    )
    rotation_help = "size at which a capture begins another file and keeps the one before, such as 100m (default: no limit)"
    run.add_argument("--capture-max-bytes", type=size, metavar="SIZE", help=rotation_help)


def _add_security_options(run: argparse.ArgumentParser) -> None:
    run.add_argument("--tls", choices=["auto"], help="serve TLS with a CA and certificates that are created at startup")
    user_help = "a user of PLAIN and SCRAM; clients must authenticate; repeatable"
    run.add_argument("--user", action="append", default=[], metavar="NAME:PASSWORD", help=user_help)
    acl_help = "an access control entry such as User:alice:allow:read,describe:topic:orders; without one, access is denied; repeatable"
    run.add_argument("--acl", action="append", default=[], metavar="ACL", help=acl_help)
