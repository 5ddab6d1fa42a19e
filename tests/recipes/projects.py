"""Runs recipes as their readers do: copied into the tests of a project, with the tools of each language.

Each function runs several recipes at once, because starting the tools takes longer than a recipe. It returns the failures of each recipe by
its stem; an empty text stands for a recipe that has passed.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

import pytest

from odradek.broker import Cluster
from tests import apache_kafka
from tests.recipes.recipes import failures, text
from tests.spark.spark_process import Unavailable, cached, installed

TIME_LIMIT_S = 250
PYTEST_INI = f"""[pytest]
timeout = {TIME_LIMIT_S}
filterwarnings =
    error
    ignore:(read|open)_text is deprecated:DeprecationWarning
"""
GO_MODULE = Path(__file__).parents[1] / "clients/franz_go"
JUNIT = "junit-platform-console-standalone-1.13.4"


def run_python(stems: Iterable[str], project: Path, *, protected: bool, variables: Mapping[str, str] | None = None) -> dict[str, str]:
    (project / "pytest.ini").write_text(PYTEST_INI)
    for stem in stems:
        (project / f"test_{stem}.py").write_text(text(f"{stem}.py", protected=protected))
    path = {"PYTHONPATH": os.pathsep.join(installed(project)), **(variables or {})}
    report = project / "report.xml"
    done = _run([sys.executable, "-m", "pytest", "-p", "no:cacheprovider", f"--junitxml={report}"], project, path)
    assert report.is_file(), done.stdout
    return {name.removeprefix("test_"): found for name, found in failures(report).items()}


def run_go(stems: Iterable[str], project: Path, *, protected: bool) -> dict[str, str]:
    """Skips the test if Go is missing or cannot build the recipes."""
    if shutil.which("go") is None:
        pytest.skip("Go is not installed")
    for name in ("go.mod", "go.sum"):
        shutil.copy(GO_MODULE / name, project)
    for stem in stems:
        (project / f"{stem}_test.go").write_text(text(f"{stem}.go", protected=protected))
    if (built := _run(["go", "test", "-c", "-o", "recipes"], project, {})).returncode:
        pytest.skip(f"Go cannot build the recipes: {built.stdout}")
    with Cluster(nodes=2, control="127.0.0.1:0") as cluster:
        return {stem: _go_failure(f"Test{_camel_case(stem)}", project, cluster) for stem in stems}


def _go_failure(name: str, project: Path, cluster: Cluster) -> str:
    done = _run(["./recipes", "-test.v", f"-test.run=^{name}$", f"-test.timeout={TIME_LIMIT_S}s"], project, _addresses(cluster))
    return "" if f"--- PASS: {name}" in done.stdout else done.stdout


def run_java(stems: Iterable[str], project: Path, *, protected: bool) -> dict[str, str]:
    """Skips the test if Java, its compiler, Maven or JUnit is missing."""
    java, classpath = _java()
    sources = [f"{stem}.java" for stem in stems]
    for name in sources:
        (project / name).write_text(text(name, protected=protected))
    compiled = _run([java, "-m", "jdk.compiler/com.sun.tools.javac.Main", "-d", "classes", *sources], project, classpath)
    assert compiled.returncode == 0, compiled.stdout
    launcher = [java, *apache_kafka.JVM, "org.junit.platform.console.ConsoleLauncher", "execute", "--class-path=classes"]
    with Cluster(nodes=2, control="127.0.0.1:0") as cluster:
        done = _run([*launcher, "--scan-class-path=classes", "--reports-dir=reports"], project, classpath | _addresses(cluster))
    report = project / "reports/TEST-junit-jupiter.xml"
    assert report.is_file(), done.stdout
    found = failures(report)
    return {stem: found[f"{_camel_case(stem)}Test"] for stem in stems}


def _java() -> tuple[str, dict[str, str]]:
    """Returns the path of Java, and the variable with the libraries of Kafka's client and of JUnit."""
    if missing := apache_kafka.missing():
        pytest.skip(f"{missing} is not installed")
    java = str(apache_kafka.java())
    if subprocess.run([java, "--describe-module", "jdk.compiler"], capture_output=True, check=False).returncode:
        pytest.skip("this Java has no compiler")
    try:
        junit = cached(JUNIT, _fetch_junit)
    except Unavailable as reason:
        pytest.skip(str(reason))
    return java, {"CLASSPATH": os.pathsep.join(f"{folder}/*" for folder in (apache_kafka.jars(), junit))}


def _fetch_junit(folder: Path) -> None:
    name, _, version = JUNIT.rpartition("-")
    artifact = f"org.junit.platform:{name}:{version}"
    subprocess.run(["mvn", "-q", "-B", "dependency:copy", f"-Dartifact={artifact}", f"-DoutputDirectory={folder}"], cwd=folder, check=True)


def _camel_case(stem: str) -> str:
    return stem.title().replace("_", "")


def _addresses(cluster: Cluster) -> dict[str, str]:
    """Returns the variables that `odradek serve --exec` sets."""
    return {"BOOTSTRAP_SERVERS": cluster.bootstrap_servers, "ODRADEK_CONTROL": str(cluster.control)}


def _run(command: Sequence[str], project: Path, variables: Mapping[str, str]) -> subprocess.CompletedProcess[str]:
    """Runs a command in a project, with `odradek` and `python3` of this environment on its path. The standard output includes errors."""
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
    environment = os.environ | {"PATH": path} | dict(variables)
    return subprocess.run(
        command, cwd=project, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False
    )
