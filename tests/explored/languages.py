"""Recipes in Java and Go, compiled once and then explored as commands by `odradek explore`."""

from __future__ import annotations

import os
import shlex
import shutil
import subprocess
from pathlib import Path

from tests import apache_kafka
from tests.explored.corpus import ExploredService, explore_command
from tests.explored.recipes import recipe_of
from tests.recipes.projects import GO_MODULE, junit_classpath


def explore_go(name: str, folder: Path, *, correct: bool) -> ExploredService:
    """Explores a recipe in Go. Raises CalledProcessError if it cannot be compiled."""
    for each in ("go.mod", "go.sum"):
        shutil.copy(GO_MODULE / each, folder)
    (folder / "recipe_test.go").write_text(recipe_of(name, correct=correct))
    subprocess.run(["go", "test", "-c", "-o", "recipe"], cwd=folder, check=True, capture_output=True)
    return explore_command([str(folder / "recipe"), "-test.timeout=60s"], folder, {})


def explore_java(name: str, folder: Path, *, correct: bool) -> ExploredService:
    """Explores a recipe in Java. Raises CalledProcessError if it cannot be compiled."""
    java, classpath = junit_classpath()
    (folder / name).write_text(recipe_of(name, correct=correct))
    environment = {"CLASSPATH": classpath}
    compiler = [java, "-m", "jdk.compiler/com.sun.tools.javac.Main", "-d", "classes", name]
    subprocess.run(compiler, cwd=folder, env=os.environ | environment, check=True, capture_output=True)
    launcher = "org.junit.platform.console.ConsoleLauncher execute --disable-banner --class-path=classes --scan-class-path=classes"
    return explore_command([java, *apache_kafka.JVM, *shlex.split(launcher)], folder, environment)
