"""Chooses the function for CRC-32C: that of the compiled package `crc32c`, one in numpy without the package, one in Python without both.

The package is missing in the zip application and in Spark workers that received odradek as a zip file. This module is imported when the
first checksum is computed (`records.py`), because a start needs none.
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from importlib.machinery import PathFinder
from importlib.util import find_spec, module_from_spec
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .records import Buffer


def _fastest_installed() -> Callable[[Buffer], int]:
    try:
        return _compiled()
    except ImportError:
        pass
    function, name = _without_package()
    text = f"The package crc32c is not installed: checksums of record batches are computed in {name}, which is slower. pip install crc32c"
    logging.getLogger("odradek.protocol").warning(text)
    return function


def _compiled() -> Callable[[Buffer], int]:
    """Returns the function of the package. Raises ImportError if it is not installed.

    Of the package, only the extension module is loaded, because its `__init__` asks importlib.metadata for its version, whose import takes
    longer than that of a whole consumer group. Where the extension module is not found, the package is imported.
    """
    package = find_spec("crc32c")
    extension = None if package is None else PathFinder.find_spec("crc32c._crc32c", package.submodule_search_locations)
    if extension is None or extension.loader is None:
        from crc32c import crc32c

        return crc32c
    module = module_from_spec(extension)
    extension.loader.exec_module(module)
    function: Callable[[Buffer], int] = module.crc32c
    return function


def _without_package() -> tuple[Callable[[Buffer], int], str]:
    try:
        from .numpy_crc32c import crc32c
    except ImportError:
        from .portable_crc32c import crc32c

        return crc32c, "Python"
    return crc32c, "numpy"


crc32c = _fastest_installed()
