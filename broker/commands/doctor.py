"""`odradek doctor`: looks for mistakes of clients in the record of a running cluster, or in a capture file."""

from __future__ import annotations

import argparse
import sys
from argparse import ArgumentTypeError
from collections.abc import Mapping
from typing import TYPE_CHECKING

from .options import add_control_options, control_address, refuse

if TYPE_CHECKING:
    from ..wire.doctor.finding import Description

FOUND = 1
EXAMPLES = """\
examples:
  odradek doctor --control 127.0.0.1:9099     mistakes in the last exchanges of a running cluster
  odradek doctor session.pcapng               mistakes in a capture file
  odradek doctor session.pcapng --json        the same for programs

The exit code is 0 without findings, 1 with findings, and 2 if the examination was impossible.
"""


def add_options(doctor: argparse.ArgumentParser) -> None:
    file_help = "a pcapng or pcap file, instead of a running cluster; - is a pipe"
    doctor.add_argument("file", nargs="?", metavar="FILE", help=file_help)
    add_control_options(doctor)
    doctor.add_argument("--json", action="store_true", help="print the findings as JSON")


def run(options: argparse.Namespace, environ: Mapping[str, str]) -> int:
    """Prints the findings. Returns 0 without any, 1 with some, and 2 if there was nothing to examine."""
    try:
        findings = _in_file(options.file) if options.file is not None else _in_cluster(options, environ)
    except (ArgumentTypeError, ValueError) as error:
        return refuse(str(error))
    import json

    from ..wire.doctor.finding import as_text

    sys.stdout.write(json.dumps(findings, indent=2) + "\n" if options.json else as_text(findings))
    return FOUND if findings else 0


def _in_cluster(options: argparse.Namespace, environ: Mapping[str, str]) -> list[Description]:
    """Returns the findings of a running cluster. Raises ValueError if it does not answer."""
    import json

    from ..controls import wire  # noqa: F401  (declares the control)
    from ..controls.declaration import CONTROLS
    from .ctl_client import NoControlAnswer, send

    token = options.control_token or environ.get("ODRADEK_CONTROL_TOKEN")
    try:
        answer = send(*control_address(options.control, environ), token, CONTROLS["doctor",], [], {})
    except NoControlAnswer as error:
        raise ValueError(str(error)) from None
    if answer.status >= 400:
        raise ValueError(answer.detail)
    findings: list[Description] = json.loads(answer.body)
    return findings


def _in_file(name: str) -> list[Description]:
    """Returns the findings in a capture. Raises ValueError if it cannot be read."""
    from ..wire.doctor.examination import examine
    from ..wire.doctor.finding import describe
    from ..wire.reading.capture import CaptureReader
    from ..wire.reading.file_format import NotACapture
    from .capture_input import open_capture, report_problems

    try:
        with open_capture(name) as stream:
            capture = CaptureReader(stream)
            findings = [describe(finding) for finding in examine(capture.entries())]
    except NotACapture as error:
        raise ValueError(f"{name} is not a capture: {error}") from None
    except OSError as error:
        raise ValueError(f"cannot read {name}: {error.strerror or error}") from None
    report_problems(capture)
    return findings
