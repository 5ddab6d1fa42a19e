"""CRC-32C: the compiled function, or one in numpy where the package `crc32c` is not installed, as on a Spark worker that has us as a zip.

To import this takes 32 ms where the package is there.
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .records import Buffer


def _fastest() -> Callable[[Buffer], int]:
    try:
        from crc32c import crc32c
    except ImportError:
        from . import numpy_crc32c

        text = "The package crc32c is not installed: checksums of record batches are computed in numpy, which is slower. pip install crc32c"
        logging.getLogger("odradek.protocol").warning(text)
        return numpy_crc32c.crc32c
    return crc32c


crc32c = _fastest()
