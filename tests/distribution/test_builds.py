"""The zip application runs without any package, and the files of a release are built reproducibly.

The executable needs downloads and a minute: the workflow of a release builds it twice and runs the tests of the command line with it.
"""

from __future__ import annotations

import hashlib
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from distribution.builds import Build, build_python_packages, build_zip_application, write_checksums

pytestmark = pytest.mark.sockets  # in child processes
EPOCH_S = 1_800_000_000


def build_of(source: Path, folder: Path) -> Build:
    (folder / "dist").mkdir(parents=True)
    return Build(source, folder / "dist", folder, "0.0.0", EPOCH_S)


@pytest.fixture(scope="module")
def application(wheel: Path, source: Path, tmp_path_factory: pytest.TempPathFactory) -> str:
    """Returns the command of the zip application, for an interpreter that finds no installed packages."""
    build = build_of(source, tmp_path_factory.mktemp("application"))
    build_zip_application(build, wheel)
    return shlex.join([sys.executable, "-I", "-S", str(build.results / "odradek.pyz")])


def run(command: str, folder: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(["sh", "-c", command], cwd=folder, env={"PATH": "/usr/bin:/bin"}, capture_output=True, text=True, check=False)


def test_zip_application_serves_records_without_packages(application: str, tmp_path: Path) -> None:
    session = f"echo hello | {application} produce orders && {application} consume orders"
    serve = (
        f"{application} serve --port 0 --topic orders:1 --quiet --log-level WARN --exec {shlex.quote(shlex.join(['sh', '-c', session]))}"
    )
    done = run(serve, tmp_path)
    assert (done.returncode, done.stdout.splitlines()[-1]) == (0, "hello"), done.stderr
    (line,) = [each for each in done.stderr.splitlines() if "WARN" in each]
    assert "checksums of record batches are computed in Python" in line


def test_zip_application_serves_the_page_and_refuses_codecs(application: str, tmp_path: Path) -> None:
    (tmp_path / "page.py").write_text(
        "import os, urllib.request\nprint(b'<title>' in urllib.request.urlopen('http://' + os.environ['ODRADEK_CONTROL'] + '/').read())\n"
    )
    serve = f"{application} serve --port 0 --control 127.0.0.1:0 --quiet --exec {shlex.quote(f'{sys.executable} page.py')}"
    assert run(serve, tmp_path).stdout == "True\n"
    session = shlex.join(["sh", "-c", f"echo hello | {application} produce orders --compression zstd"])
    done = run(f"{application} serve --port 0 --topic orders:1 --quiet --exec {shlex.quote(session)}", tmp_path)
    assert done.returncode != 0 and "zstd needs the package cramjam" in done.stderr


@pytest.mark.slow
def test_python_packages_are_equal_byte_by_byte(source: Path, tmp_path: Path) -> None:
    pytest.importorskip("build", reason="build is installed by `make dist` and `make test-all`")
    sums = []
    for name in ("one", "two"):
        build = build_of(source, tmp_path / name)
        build_zip_application(build, build_python_packages(build))
        write_checksums(build.results)
        sums.append((build.results / "SHA256SUMS").read_text())
    assert sums[0] == sums[1] and sums[0].count("\n") == 3
    digest, name = sums[0].splitlines()[-1].split("  ")
    assert hashlib.sha256((tmp_path / "one/dist" / name).read_bytes()).hexdigest() == digest
