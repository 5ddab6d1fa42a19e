"""The example projects in Java (JUnit 5) and Go, whose tests drive a cluster over HTTP."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from odradek import Cluster
from tests import apache_kafka

PROJECTS = Path(__file__).parents[2] / "examples/order_processing"
NOT_DOWNLOADED = re.compile(r"Could not (transfer|resolve)|Unknown host|dial tcp|no such host|Connection (refused|timed out)")
TESTS = 4

pytestmark = [pytest.mark.clients, pytest.mark.slow]


@pytest.fixture
def cluster() -> Iterator[Cluster]:
    with Cluster(nodes=2, control="127.0.0.1:0") as cluster:
        yield cluster


def run(command: list[str], project: str, folder: Path, cluster: Cluster) -> str:
    """Returns the output of the tests of a project. Skips the test if a library of the project cannot be downloaded."""
    copy = shutil.copytree(PROJECTS / project, folder / project)
    environment = os.environ | {"ODRADEK_CONTROL": str(cluster.control)}
    done = subprocess.run(command, cwd=copy, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    if done.returncode and (problem := NOT_DOWNLOADED.search(done.stdout)):
        pytest.skip(f"a library cannot be downloaded: {problem[0]}")
    assert done.returncode == 0, done.stdout
    return done.stdout


def test_junit_project_passes(cluster: Cluster, tmp_path: Path) -> None:
    java = apache_kafka.java()
    if java is None or shutil.which("mvn") is None:
        pytest.skip("Java and Maven are not installed")
    if subprocess.run([java, "--describe-module", "jdk.compiler"], capture_output=True).returncode:
        pytest.skip("this Java has no compiler")
    output = run(["mvn", "-q", "-B", "test", "-Dsurefire.printSummary=true", "-Dstyle.color=never"], "java", tmp_path, cluster)
    (report,) = (tmp_path / "java/target/surefire-reports").glob("*.txt")
    assert f"Tests run: {TESTS}, Failures: 0, Errors: 0, Skipped: 0" in report.read_text(), output


def test_go_project_passes(cluster: Cluster, tmp_path: Path) -> None:
    if shutil.which("go") is None:
        pytest.skip("Go is not installed")
    output = run(["go", "test", "-v", "./..."], "go", tmp_path, cluster)
    assert output.count("--- PASS: Test") == TESTS, output
