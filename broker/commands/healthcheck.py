"""`odradek healthcheck`: its options, and its exit codes."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Mapping

from .cluster_access import given_servers
from .options import add_command_config, addresses, client_security, refuse

EXAMPLES = """\
examples:
  odradek healthcheck                                the cluster of BOOTSTRAP_SERVERS if that is set, otherwise
                                                     the listeners in KAFKA_LISTENERS, by default 127.0.0.1:9092
  odradek healthcheck --bootstrap-server kafka:9092  every broker of a cluster, at its advertised address
  odradek healthcheck --command-config client.properties
                                                     with TLS and SASL, by the settings of Kafka's own programs
"""


def add_options(check: argparse.ArgumentParser) -> None:
    check.add_argument(
        "--bootstrap-server",
        type=addresses,
        metavar="HOST:PORT,...",
        help="check every broker of this cluster (default: BOOTSTRAP_SERVERS, otherwise the listeners of the environment)",
    )
    add_command_config(check)


def run(options: argparse.Namespace, environ: Mapping[str, str]) -> int:
    """Checks every advertised broker of a cluster or, if neither option nor BOOTSTRAP_SERVERS names one, the configured listeners."""
    from ..client.healthcheck import Unhealthy, check, check_listeners
    from ..settings.properties import InvalidConfig

    try:
        security = client_security(options)
        servers = given_servers(options, environ)
        for host, port in servers:
            check(host, port, security)
        if not servers:
            check_listeners(environ, security)
    except (InvalidConfig, ImportError) as error:
        return refuse(str(error))
    except Unhealthy as error:
        print(f"odradek: {error}", file=sys.stderr)
        return 1
    return 0
