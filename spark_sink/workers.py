"""Spark's Python workers: their interpreter, and the cost of Python's garbage collection in them.

By default the interpreter is `python3` from PATH, whichever interpreter the driver runs. The variable PYSPARK_PYTHON takes precedence.
"""

from __future__ import annotations

import gc
import itertools
import logging
import os
import shutil
import sys
from pathlib import Path

logger = logging.getLogger("odradek.spark_sink")


def choose_interpreter() -> None:
    """Makes the workers of a local Spark run this interpreter when PYSPARK_PYTHON is unset; on a cluster, only warns of a different one.

    Workers would not find the packages of a virtual environment that is not activated, because it is not on PATH. On a cluster nothing is
    chosen, because the nodes may not have this interpreter.
    """
    try:
        from pyspark import SparkContext
    except ImportError:  # only the client of Spark Connect is installed: the server chooses
        return
    context = SparkContext._active_spark_context
    if context is None or "PYSPARK_PYTHON" in os.environ:
        return
    if (context.master or "").startswith("local"):
        os.environ["PYSPARK_PYTHON"] = context.pythonExec = sys.executable
    else:
        _warn_of_difference(context.pythonExec)


def _warn_of_difference(name: str) -> None:
    # `python` and `python3` in the folder of this interpreter are the same executable.
    found = shutil.which(name)
    if found is None or Path(found).parent != Path(sys.executable).parent:
        logger.warning(
            "PYSPARK_PYTHON is not set: Spark's Python workers run %s, which is %s here, and not this interpreter, %s. If they do not find "
            "odradek, set PYSPARK_PYTHON before the session is created.",
            name,
            found or "not on PATH",
            sys.executable,
        )


TASKS_WITH_IMPORTS = 3
"""Imported modules are frozen at each of the first three tasks of a worker, because Spark imports modules even after the first one."""
_tasks = itertools.count()


def freeze_imported_modules() -> None:
    """Excludes the objects of imported modules from garbage collection, which takes 7 ms and more without that."""
    if next(_tasks) < TASKS_WITH_IMPORTS:
        gc.freeze()
