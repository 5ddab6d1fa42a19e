"""The Python that Spark's workers run: `python3` from PATH unless PYSPARK_PYTHON says otherwise, whatever interpreter the driver runs."""

from __future__ import annotations

import logging
import os
import shutil
import sys
from pathlib import Path

logger = logging.getLogger("odradek.spark_sink")


def choose_interpreter() -> None:
    """Has the workers of a local Spark run this interpreter where PYSPARK_PYTHON is unset; elsewhere only warns if they run another one.

    A virtual environment that is not activated is not on PATH, so workers would not find what is installed in it. Which interpreters
    the nodes of a cluster have is not known here.
    """
    try:
        from pyspark import SparkContext
    except ImportError:  # a client of Spark Connect alone: the server chooses
        return
    context = SparkContext._active_spark_context
    if context is None or "PYSPARK_PYTHON" in os.environ:
        return
    if (context.master or "").startswith("local"):
        os.environ["PYSPARK_PYTHON"] = context.pythonExec = sys.executable
    else:
        _warn_of_another(context.pythonExec)


def _warn_of_another(name: str) -> None:
    """Unless the interpreter that is found by this name is of the same environment, where `python` and `python3` are the same."""
    found = shutil.which(name)
    if found is None or Path(found).parent != Path(sys.executable).parent:
        logger.warning(
            "PYSPARK_PYTHON is not set: Spark's Python workers run %s, which is %s here, and not this interpreter, %s. If they do not find "
            "odradek, set PYSPARK_PYTHON before the session is made.",
            name,
            found or "not on PATH",
            sys.executable,
        )
