"""Runs recipes as their readers do: copied into the tests of a project, with the tools of each language.

Each function runs several recipes at once, because starting the tools takes longer than a recipe. It returns the failures of each recipe by
its stem; an empty text stands for a recipe that has passed.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

import pytest

from tests import apache_kafka
from tests.cache import Unavailable, cached
from tests.recipes.recipes import failures, text

ROOT = Path(__file__).parents[2]
TIME_LIMIT_S = 250
PYTEST_INI = f"""[pytest]
timeout = {TIME_LIMIT_S}
filterwarnings =
    error
    ignore:(read|open)_text is deprecated:DeprecationWarning
"""
GO_MODULE = ROOT / "examples/services/go"
GO_PACKAGE = "github.com/odradek-kafka/odradek/bindings/go"
JAVA_PACKAGE = ROOT / "bindings/java/src/main/java/io/github/odradekkafka"
JUNIT = "junit-platform-console-standalone-1.13.4"


def run_python(stems: Sequence[str], project: Path, *, protected: bool, variables: Mapping[str, str] | None = None) -> dict[str, str]:
    (project / "pytest.ini").write_text(PYTEST_INI)
    for stem in stems:
        (project / f"test_{stem}.py").write_text(text(f"{stem}.py", protected=protected))
    report = project / "report.xml"
    done = _run(
        [sys.executable, "-m", "pytest", "-p", "no:asyncio", "-p", "no:cacheprovider", f"--junitxml={report}"], project, **(variables or {})
    )
    assert report.is_file(), done.stdout
    found = failures(report)
    return {stem: found[f"test_{stem}"] for stem in stems}


def run_go(stems: Sequence[str], project: Path, *, protected: bool) -> dict[str, str]:
    """Skips the test if Go or the client franz-go is missing."""
    if shutil.which("go") is None:
        pytest.skip("Go is not installed")
    for name in ("go.mod", "go.sum"):
        shutil.copy(GO_MODULE / name, project)
    _run(["go", "mod", "edit", f"-replace={GO_PACKAGE}={ROOT / 'bindings/go'}"], project)
    if _run(["go", "mod", "download"], project).returncode:
        pytest.skip("Go cannot download franz-go")
    for stem in stems:
        (project / f"{stem}_test.go").write_text(text(f"{stem}.go", protected=protected))
    output = _run(["go", "test", "-count=1", "-v", f"-timeout={TIME_LIMIT_S}s"], project).stdout
    results = {name: result for result, name in re.findall(r"^--- (PASS|FAIL): Test(\w+)", output, re.MULTILINE)}
    assert results.keys() == set(map(_camel_case, stems)), output
    return {stem: "" if results[_camel_case(stem)] == "PASS" else output for stem in stems}


def run_java(stems: Sequence[str], project: Path, *, protected: bool) -> dict[str, str]:
    """Runs JUnit. Skips the test if Java, its compiler, Maven or JUnit is missing."""
    java, classpath = _java()
    for name in (f"{stem}.java" for stem in stems):
        (project / name).write_text(text(name, protected=protected))
    sources = [*(f"{stem}.java" for stem in stems), *map(str, JAVA_PACKAGE.glob("*.java"))]
    compiled = _run([java, "-m", "jdk.compiler/com.sun.tools.javac.Main", "-d", "classes", *sources], project, CLASSPATH=classpath)
    assert compiled.returncode == 0, compiled.stdout
    junit = "org.junit.platform.console.ConsoleLauncher execute --class-path=classes --scan-class-path=classes --reports-dir=reports"
    done = _run([java, *apache_kafka.JVM, *junit.split()], project, CLASSPATH=classpath)
    report = project / "reports/TEST-junit-jupiter.xml"
    assert report.is_file(), done.stdout
    found = failures(report)
    return {stem: found[f"{_camel_case(stem)}Test"] for stem in stems}


def _java() -> tuple[str, str]:
    """Returns the path of Java, and the class path with Kafka's client and JUnit."""
    if missing := apache_kafka.missing():
        pytest.skip(f"{missing} is not installed")
    java = str(apache_kafka.java())
    if subprocess.run([java, "--describe-module", "jdk.compiler"], capture_output=True, check=False).returncode:
        pytest.skip("this Java has no compiler")
    try:
        junit = cached(JUNIT, _fetch_junit)
    except Unavailable as reason:
        pytest.skip(str(reason))
    return java, os.pathsep.join(f"{folder}/*" for folder in (apache_kafka.jars(), junit))


def _fetch_junit(folder: Path) -> None:
    name, _, version = JUNIT.rpartition("-")
    copy = ["dependency:copy", f"-Dartifact=org.junit.platform:{name}:{version}", f"-DoutputDirectory={folder}"]
    subprocess.run(["mvn", "-q", "-B", *copy], cwd=folder, stdout=sys.stderr, check=True)


def _camel_case(stem: str) -> str:
    return stem.title().replace("_", "")


def _run(command: Sequence[str], project: Path, **variables: str) -> subprocess.CompletedProcess[str]:
    """Runs a command in a project, in an environment where odradek is installed. The standard output includes errors."""
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
    environment = os.environ | {"PATH": path, "PYTHONPATH": str(ROOT / ".dev")} | variables
    return subprocess.run(command, cwd=project, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
