"""The options with which commands reach a Kafka cluster, and what they have in common: their errors, exit codes and output."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from .options import addresses, client_security, refuse

if TYPE_CHECKING:
    from ...protocol.client.line import Address
    from ..client.cluster_client import ClusterClient

VARIABLE, DEFAULT_SERVER = "BOOTSTRAP_SERVERS", "127.0.0.1:9092"
FAILED = 1


def bootstrap_servers(options: argparse.Namespace, environ: Mapping[str, str]) -> list[Address]:
    """Returns the addresses in the option, in the environment, or the default. Raises InvalidConfig."""
    return given_servers(options, environ) or addresses(DEFAULT_SERVER)


def given_servers(options: argparse.Namespace, environ: Mapping[str, str]) -> list[Address]:
    """Returns the addresses in the option or in the environment, [] if neither has any. Raises InvalidConfig."""
    from ..settings.properties import InvalidConfig

    if options.bootstrap_server is not None:
        return list(options.bootstrap_server)
    try:
        return addresses(environ[VARIABLE]) if environ.get(VARIABLE) else []
    except argparse.ArgumentTypeError as error:
        raise InvalidConfig(f"{VARIABLE}: {error}") from None


def with_client(options: argparse.Namespace, environ: Mapping[str, str], work: Callable[[ClusterClient], object]) -> int:
    """Does the work of a command with a client. Returns 0, 1 if the cluster cannot be reached or refuses, and 2 for a mistake."""
    from ...protocol.errors import KafkaError
    from ...protocol.schema import ProtocolError
    from ..client.cluster_client import ClientError, ClusterClient
    from ..settings.properties import InvalidConfig

    try:
        with ClusterClient(bootstrap_servers(options, environ), client_security(options)) as client:
            work(client)
    except (InvalidConfig, ImportError) as error:
        return refuse(str(error))
    except (ClientError, KafkaError, ProtocolError) as error:
        print(f"odradek: {error}", file=sys.stderr)
        return FAILED
    return 0


def show(value: object, options: argparse.Namespace, environ: Mapping[str, str]) -> None:
    """Prints a result as a table or as JSON."""
    from json import dumps

    from ..process.terminal import has_colours
    from .tables import as_table

    plain = _plain(value)
    if options.output == "json":
        print(dumps(plain, ensure_ascii=False))
    else:
        sys.stdout.write(as_table(plain, colours=has_colours(sys.stdout, environ)))


def show_each(values: Sequence[object], options: argparse.Namespace, environ: Mapping[str, str]) -> None:
    """Prints descriptions: tables with an empty line in between, or one list of JSON."""
    if options.output == "json":
        show(values, options, environ)
        return
    for number, value in enumerate(values):
        if number:
            print()
        show(value, options, environ)


def _plain(value: object) -> Any:
    from dataclasses import asdict, is_dataclass

    if isinstance(value, list):
        return [_plain(each) for each in value]
    return asdict(value) if is_dataclass(value) and not isinstance(value, type) else value
