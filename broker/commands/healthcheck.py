"""`odradek healthcheck`: its options, and its exit codes."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Mapping

from .options import add_command_config, addresses, client_security, refuse

EXAMPLES = """\
examples:
  odradek healthcheck                                the listeners in KAFKA_LISTENERS, by default 127.0.0.1:9092
  odradek healthcheck --bootstrap-server kafka:9092  every broker of a cluster, at its advertised address
  odradek healthcheck --command-config client.properties
                                                     with TLS and SASL, by the settings of Kafka's own programs
"""


def add_options(check: argparse.ArgumentParser) -> None:
    check.add_argument(
        "--bootstrap-server",
        type=addresses,
        metavar="HOST:PORT,...",
        help="check every broker of this cluster (default: check the listeners of the environment)",
    )
    add_command_config(check)


def run(options: argparse.Namespace, environ: Mapping[str, str]) -> int:
    """Checks every advertised broker of a cluster or, without --bootstrap-server, the listeners that the environment configures."""
    from ..client.healthcheck import Unhealthy, check, check_listeners
    from ..settings.properties import InvalidConfig

    try:
        security = client_security(options)
        if options.bootstrap_server is None:
            check_listeners(environ, security)
        else:
            for host, port in options.bootstrap_server:
                check(host, port, security)
    except (InvalidConfig, ImportError) as error:
        return refuse(str(error))
    except Unhealthy as error:
        print(f"odradek: {error}", file=sys.stderr)
        return 1
    return 0
