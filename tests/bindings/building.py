"""Copies the packages in bindings/ and projects that use them, and runs the tools that build and test them, which find this odradek."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterable, Mapping
from pathlib import Path

from tests import apache_kafka

ROOT = Path(__file__).parents[2]
BINDINGS, EXAMPLES = ROOT / "bindings", ROOT / "examples"
SERVICES = EXAMPLES / "services"
NOT_DOWNLOADED = re.compile(r"Could not (transfer|resolve)|Unknown host|dial tcp|no such host|network request to \S+ failed|ENOTFOUND")
TIMEOUT_S = 280
MAVEN = ("mvn", "--batch-mode", "-Dstyle.color=never")
ALL_MODULES = """\
<project xmlns="http://maven.apache.org/POM/4.0.0">
  <modelVersion>4.0.0</modelVersion>
  <groupId>tests</groupId>
  <artifactId>all</artifactId>
  <version>1</version>
  <packaging>pom</packaging>
  <modules>
%s
  </modules>
</project>
"""


class NotDownloadedError(Exception):
    """A library is not in the caches, and its registry cannot be reached."""


def environment() -> dict[str, str]:
    """Returns the variables of a shell without colours in which this odradek is installed and no cluster runs."""
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
    given = {name: value for name, value in os.environ.items() if name not in ("ODRADEK", "ODRADEK_CONTROL", "NODE_TEST_CONTEXT")}
    return given | {"PATH": path, "PYTHONPATH": str(ROOT / ".dev"), "NO_COLOR": "1"}


def run(command: Iterable[str], folder: Path) -> str:
    """Returns the output of a command. Raises AssertionError if it fails, and NotDownloadedError if that is for lack of a network."""
    pipe, output = subprocess.PIPE, subprocess.STDOUT
    done = subprocess.run([*command], cwd=folder, env=environment(), stdout=pipe, stderr=output, text=True, timeout=TIMEOUT_S, check=False)
    if done.returncode and (problem := NOT_DOWNLOADED.search(done.stdout)):
        raise NotDownloadedError(f"a library cannot be downloaded: {problem[0]}")
    assert done.returncode == 0, done.stdout
    return done.stdout


def missing_for_java() -> str | None:
    """Returns why Maven cannot build a project here, or None."""
    java = apache_kafka.java()
    if java is None or shutil.which("mvn") is None:
        return "Java and Maven are not installed"
    if subprocess.run([java, "--describe-module", "jdk.compiler"], capture_output=True, check=False).returncode:
        return "this Java has no compiler"
    return None


def copy_maven_projects(folder: Path, projects: Mapping[str, Path]) -> None:
    """Copies the package and projects into a folder as modules of one project, so that they use this package and not an installed one."""
    for name, source in {"package": BINDINGS / "java", **projects}.items():
        shutil.copytree(source, folder / name, ignore=shutil.ignore_patterns("target"), dirs_exist_ok=True)
    modules = (f"    <module>{name}</module>" for name in ("package", *projects))
    (folder / "pom.xml").write_text(ALL_MODULES % "\n".join(modules))


def copy_beside_package(folder: Path, package: Path, project: Path) -> Path:
    """Copies a package and a project that names it by a relative path. Returns the folder of the project."""
    for source in (package, project):
        shutil.copytree(source, folder / source.relative_to(ROOT), ignore=shutil.ignore_patterns("node_modules"), dirs_exist_ok=True)
    return folder / project.relative_to(ROOT)
