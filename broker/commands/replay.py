"""`odradek replay`: sends the requests of a captured session to a broker, and compares the responses field by field."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Mapping
from typing import TYPE_CHECKING

from ..plurals import counted
from .options import add_command_config, address, client_security, refuse

if TYPE_CHECKING:
    from ..client.replaying import ReplayResult
    from ..wire.exchange import Exchange

EXAMPLES = """\
examples:
  odradek replay orders.pcapng --bootstrap-server 127.0.0.1:9092
  odradek replay orders.pcapng --bootstrap-server kafka:9093 --command-config client.properties
"""


def add_options(replay: argparse.ArgumentParser) -> None:
    replay.add_argument("file", metavar="FILE", help="a pcapng or pcap file; - is a pipe")
    bootstrap_help = "a broker of the cluster, of odradek or Apache Kafka, to which the requests are sent"
    replay.add_argument("--bootstrap-server", type=address, required=True, metavar="HOST:PORT", help=bootstrap_help)
    add_command_config(replay)


def run(options: argparse.Namespace, _: Mapping[str, str]) -> int:
    """Plays the session. Returns 0 if all responses were equal, 1 if one differed, and 2 if the session could not be played."""
    from ...protocol.client.line import LoginFailed
    from ..client.replaying import Replay
    from ..settings.properties import InvalidConfig
    from ..wire.reading.capture import CaptureReader
    from ..wire.reading.file_format import NotACapture
    from .capture_input import open_capture, report_problems

    try:
        security = client_security(options)
        with open_capture(options.file) as stream:
            capture = CaptureReader(stream)
            entries = list(capture.entries())
        report_problems(capture)
        with Replay(options.bootstrap_server, security) as replay:
            for exchange, found in replay.run(entries):
                _print(exchange, found)
    except NotACapture as error:
        return refuse(f"{options.file} is not a capture: {error}")
    except (InvalidConfig, ImportError) as error:
        return refuse(str(error))
    except LoginFailed as error:
        return refuse(f"authentication failed: {error}")
    except OSError as error:
        return refuse(f"{error.filename or 'the replay has failed'}: {error.strerror or error}")
    _print_outcome(replay.outcome)
    return 1 if replay.outcome.different else 0


def _print(exchange: Exchange, found: list[str]) -> None:
    print(f"{exchange.api} v{exchange.version} ({exchange.correlation_id}) of connection {exchange.connection} differs:")
    for difference in found:
        print(f"  {difference}")


def _print_outcome(outcome: ReplayResult) -> None:
    for exchange, reason in outcome.not_sent:
        print(f"{exchange.api} v{exchange.version} of connection {exchange.connection} was not sent: {reason}", file=sys.stderr)
    print(f"{counted(outcome.sent, 'request')} sent, {counted(outcome.equal, 'response')} equal, {len(outcome.different)} different")
