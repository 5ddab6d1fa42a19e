"""The capture file that a command reads, and what it reports of it."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

from ..plurals import counted
from ..wire.reading.capture import CaptureReader

PIPE = "-"


@contextmanager
def open_capture(name: str) -> Iterator[BinaryIO]:
    """Opens a capture file, or the standard input. Raises OSError."""
    if name == PIPE:
        yield sys.stdin.buffer
    else:
        with Path(name).open("rb") as stream:
            yield stream


def report_problems(capture: CaptureReader) -> None:
    """Prints a line for what could not be read of a capture."""
    if capture.problem is not None:
        print(f"odradek: {capture.problem}", file=sys.stderr)
    if capture.encrypted:
        connections = counted(capture.encrypted, "connection")
        print(f"odradek: {connections} with TLS cannot be read; odradek serve --capture writes decrypted captures", file=sys.stderr)
