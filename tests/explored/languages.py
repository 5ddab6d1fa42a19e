"""Services in Java and Go, compiled once and then explored as commands by `odradek explore`."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

from tests import apache_kafka
from tests.explored.corpus import ExploredService, explore_command
from tests.explored.planted import text_of

GO_MODULE = Path(__file__).parents[1] / "clients/franz_go"


def explore_go(name: str, folder: Path, *options: str, correct: bool) -> ExploredService:
    """Explores a service in Go. Raises CalledProcessError if it cannot be compiled."""
    for each in ("go.mod", "go.sum"):
        shutil.copy(GO_MODULE / each, folder)
    (folder / name).write_text(text_of(name, correct=correct))
    subprocess.run(["go", "build", "-o", "service", name], cwd=folder, check=True, capture_output=True)
    return explore_command([str(folder / "service")], folder, {}, *options)


def explore_java(name: str, folder: Path, *, correct: bool) -> ExploredService:
    """Explores a service in Java. Raises CalledProcessError if it cannot be compiled."""
    java = str(apache_kafka.java())
    classpath = {"CLASSPATH": os.pathsep.join([str(folder), f"{apache_kafka.jars()}/*"])}
    (folder / name).write_text(text_of(name, correct=correct))
    compiler = [java, "-m", "jdk.compiler/com.sun.tools.javac.Main", "-d", str(folder), name]
    subprocess.run(compiler, cwd=folder, env={**os.environ, **classpath}, check=True, capture_output=True)
    return explore_command([java, *apache_kafka.JVM, name.removesuffix(".java")], folder, classpath)
