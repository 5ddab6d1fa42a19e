"""The cases, a module for each family."""

from __future__ import annotations

from collections.abc import Callable

from ..script import Cases
from . import produce

FAMILIES: dict[str, Callable[[], Cases]] = {"produce": produce.cases}
"""What makes the cases of a family, by its name."""
