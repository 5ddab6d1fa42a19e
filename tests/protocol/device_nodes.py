"""Device nodes for tests of files that are not regular."""

from __future__ import annotations

import os
import stat
from pathlib import Path

import pytest


def device(path: Path, minor: int = 3) -> Path:
    """Makes a device node: 3 is the number of /dev/null, 5 that of /dev/zero."""
    try:
        os.mknod(path, stat.S_IFCHR | 0o666, os.makedev(1, minor))
    except PermissionError:
        pytest.skip("only root can make device nodes")
    return path
