"""Chooses the function for CRC-32C: that of the compiled package `crc32c`, or one in numpy if the package is not installed.

The package is missing in Spark workers that received odradek as a zip file. Importing it takes 32 ms, so this module is imported
when the first checksum is computed (`records.py`).
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .records import Buffer


def _fastest_installed() -> Callable[[Buffer], int]:
    try:
        from crc32c import crc32c
    except ImportError:
        from . import numpy_crc32c

        text = "The package crc32c is not installed: checksums of record batches are computed in numpy, which is slower. pip install crc32c"
        logging.getLogger("odradek.protocol").warning(text)
        return numpy_crc32c.crc32c
    return crc32c


crc32c = _fastest_installed()
