"""The options of a capture, as they are given on the command line, in Python and by a control."""

from __future__ import annotations

import os
from typing import NamedTuple

from ..settings.properties import InvalidConfig

PIPE = "-"
ADDRESSES = ("canonical", "real")
MIN_FILE_BYTES = 64 * 1024


class CaptureOptions(NamedTuple):
    """The file, or PIPE for the standard output; whether nodes appear as 127.0.0.n:9092; and the size at which another file begins."""

    file: str
    canonical: bool
    max_bytes: int | None

    @classmethod
    def of(cls, file: str | os.PathLike[str], addresses: str = "canonical", max_bytes: int | None = None) -> CaptureOptions:
        """Returns checked options. Raises InvalidConfig."""
        name = os.fspath(file)
        if not name:
            raise InvalidConfig("the file of a capture has no name; use a path such as orders.pcapng, or - for a pipe")
        if addresses not in ADDRESSES:
            raise InvalidConfig(f"unknown addresses {addresses!r} for a capture; use {' or '.join(ADDRESSES)}")
        if max_bytes is not None and max_bytes < MIN_FILE_BYTES:
            raise InvalidConfig(f"a capture cannot begin another file after {max_bytes} bytes; use at least {MIN_FILE_BYTES}")
        if max_bytes is not None and name == PIPE:
            raise InvalidConfig("a capture that is written to a pipe cannot begin another file; leave out the limit, or name a file")
        return cls(name, addresses == "canonical", max_bytes)
