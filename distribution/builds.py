"""The files of a release: wheel, source archive, zip application, executable, software bill of materials, and checksums.

Each follows from the commit and the versions that pyproject.toml names, so that two builds on the same system are equal byte by byte. The
time in all of them is that of the commit.
"""

from __future__ import annotations

import os
import platform
import shutil
import subprocess
import sys
import tarfile
from collections.abc import Mapping, Sequence
from hashlib import sha256
from pathlib import Path
from typing import NamedTuple

from .archives import contents, write_tar, write_zip

MAIN = b"""\
import sys

from odradek.broker.cli import main

sys.exit(main())
"""
RESTORED = b"""\
import os

# PyInstaller lets the executable find its own libraries by this variable, which the commands of --exec must not inherit.
former = os.environ.pop("LD_LIBRARY_PATH_ORIG", "")
os.environ.pop("LD_LIBRARY_PATH", None)
if former:
    os.environ["LD_LIBRARY_PATH"] = former

"""
ZIP_LEFT_OUT = ("odradek/spark_sink/", "odradek/plugin/", "pyspark_odradek/", "odradek-")
"""Parts of the wheel that need packages which the zip application does not have: the data source for Spark, and the plugin for pytest."""
COLLECTED = ("broker", "protocol", "storage")
"""Packages of which the executable contains every module, because commands, handlers and messages are imported by name."""
LEFT_OUT = ("numpy", "pyarrow", "pyspark", "trio", "pytest", "setuptools", "tkinter", "odradek.spark_sink", "odradek.plugin")


class Build(NamedTuple):
    """The inputs that all steps of a build share. `source` is an export of the commit, without files that git does not track."""

    source: Path
    results: Path
    scratch: Path
    version: str
    epoch_s: int

    @property
    def environment(self) -> dict[str, str]:
        """The variables with which programs build the same files again."""
        return os.environ | {"SOURCE_DATE_EPOCH": str(self.epoch_s), "PYTHONHASHSEED": "0", "PYTHONPATH": ""}


def run(words: Sequence[str | Path], build: Build, folder: Path | None = None) -> None:
    """Runs a program, which prints to the standard error. Raises CalledProcessError if it fails."""
    subprocess.run(words, cwd=folder or build.scratch, env=build.environment, check=True, stdout=sys.stderr)


def build_python_packages(build: Build) -> Path:
    """Builds the wheel and the source archive, and returns the path of the wheel."""
    packages = build.scratch / "packages"
    run([sys.executable, "-m", "build", "--wheel", "--sdist", "--no-isolation", "--outdir", packages, "."], build, build.source)
    (wheel,) = packages.glob("*.whl")
    (sdist,) = packages.glob("*.tar.gz")
    write_zip(build.results / wheel.name, contents(wheel), build.epoch_s)
    with tarfile.open(sdist) as archive:
        archive.extractall(build.scratch / "sdist", filter="data")
    name = sdist.name.removesuffix(".tar.gz")
    write_tar(build.results / sdist.name, build.scratch / "sdist" / name, name, build.epoch_s)
    return build.results / wheel.name


def build_zip_application(build: Build, wheel: Path) -> None:
    """Builds odradek.pyz, which any Python runs without installation. Its dependencies are compiled, and therefore not in it."""
    files = {name: content for name, content in contents(wheel).items() if not name.startswith(ZIP_LEFT_OUT)}
    write_zip(build.results / "odradek.pyz", files | {"__main__.py": MAIN}, build.epoch_s, head=b"#!/usr/bin/env python3\n")


def build_executable(build: Build, wheel: Path) -> None:
    """Builds the folder with the executable for this system, and the bill of materials of the environment that is in it."""
    python = build.scratch / "environment/bin/python"
    run([sys.executable, "-m", "venv", build.scratch / "environment"], build)
    run([python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", f"odradek[executable] @ {wheel.as_uri()}"], build)
    write_bill_of_materials(build, python, wheel)
    main = build.scratch / "main.py"
    main.write_bytes(RESTORED + MAIN)
    options = ["--log-level", "WARN", "--noconfirm", "--onedir", "--name", "odradek", "--collect-data", "odradek.broker.controls.http"]
    options += [word for name in COLLECTED for word in ("--collect-submodules", f"odradek.{name}")]
    options += [word for name in LEFT_OUT for word in ("--exclude-module", name)]
    run([python, "-m", "PyInstaller", *options, main], build)
    folder = build.scratch / "dist/odradek"
    for record in folder.rglob("*.dist-info/RECORD"):
        record.unlink()  # it contains the checksums of files that pip writes with the path of the environment
    name = f"odradek-{build.version}-{platform.system().lower()}-{platform.machine().lower()}"
    write_tar(build.results / f"{name}.tar.gz", folder, "odradek", build.epoch_s)


def write_bill_of_materials(build: Build, python: Path, wheel: Path) -> None:
    """Writes the packages of an environment with their versions and licences as CycloneDX, without a serial number and a time."""
    target = build.results / "odradek.cdx.json"
    options: list[str | Path] = ["--output-reproducible", "--output-format", "JSON", "--output-file", target]
    run([sys.executable, "-m", "cyclonedx_py", "environment", *options, python], build)
    target.write_text(target.read_text().replace(wheel.as_uri(), wheel.name))


def write_checksums(results: Path) -> None:
    """Writes SHA256SUMS, which `sha256sum --check` reads."""
    files = sorted(each for each in results.iterdir() if each.name != "SHA256SUMS")
    (results / "SHA256SUMS").write_text("".join(f"{sha256(each.read_bytes()).hexdigest()}  {each.name}\n" for each in files))


def export(repository: Path, folder: Path) -> None:
    """Extracts the commit, because a build leaves files behind and would include files that git does not track."""
    archive = folder.with_suffix(".tar")
    subprocess.run(["git", "archive", "--output", archive, "HEAD"], cwd=repository, check=True)
    with tarfile.open(archive) as opened:
        opened.extractall(folder, filter="data")


def commit_time_s(repository: Path) -> int:
    log = subprocess.run(["git", "log", "-1", "--format=%ct"], cwd=repository, check=True, capture_output=True, text=True)
    return int(log.stdout)


def build_all(build: Build, *, with_executable: bool) -> Mapping[str, int]:
    """Builds the files of a release and returns their sizes in bytes by their names."""
    shutil.rmtree(build.results, ignore_errors=True)
    build.results.mkdir(parents=True)
    wheel = build_python_packages(build)
    build_zip_application(build, wheel)
    if with_executable:
        build_executable(build, wheel)
    write_checksums(build.results)
    return {each.name: each.stat().st_size for each in sorted(build.results.iterdir())}
