"""Makes Python's garbage collection cheap in Spark's workers, which run it after every task."""

from __future__ import annotations

import gc
import itertools

TASKS_WITH_IMPORTS = 3
"""Imported modules are frozen at each of the first three tasks of a worker, because Spark imports modules even after the first one."""
_tasks = itertools.count()


def freeze_imported_modules() -> None:
    """Excludes the objects of imported modules from garbage collection, which takes 7 ms and more without that."""
    if next(_tasks) < TASKS_WITH_IMPORTS:
        gc.freeze()
