"""Chooses the function for CRC-32C: that of the compiled package `crc32c`, one in numpy without the package, one in Python without both.

The package is missing in the zip application and in Spark workers that received odradek as a zip file. Importing it takes 32 ms, so this
module is imported when the first checksum is computed (`records.py`).
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
        pass
    else:
        return crc32c
    function, name = _without_package()
    text = f"The package crc32c is not installed: checksums of record batches are computed in {name}, which is slower. pip install crc32c"
    logging.getLogger("odradek.protocol").warning(text)
    return function


def _without_package() -> tuple[Callable[[Buffer], int], str]:
    try:
        from .numpy_crc32c import crc32c
    except ImportError:
        from .portable_crc32c import crc32c

        return crc32c, "Python"
    return crc32c, "numpy"


crc32c = _fastest_installed()
