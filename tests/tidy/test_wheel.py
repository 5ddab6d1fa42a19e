"""The wheel, installed beside a project that has its own `storage` and `broker`."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]
PROGRAM = """
import broker, storage
assert (broker.WHOSE, storage.WHOSE) == ("theirs", "theirs")
import odradek.broker
assert odradek.broker.__file__.startswith(INSTALLED), odradek.broker.__file__
import importlib.util
assert importlib.util.find_spec("pyspark_odradek").origin.startswith(INSTALLED)
from odradek.broker import Cluster
import socket
with Cluster(nodes=2, topics={"orders": 4}) as cluster:
    for address in cluster.bootstrap_servers.split(","):
        host, port = address.split(":")
        socket.create_connection((host, int(port))).close()
print("served", len(cluster.bootstrap_servers.split(",")))
"""


def test_the_wheel_works_beside_packages_of_the_same_names(tmp_path: Path) -> None:
    # From a copy: building leaves files behind in the tree it builds from.
    tracked = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, check=True).stdout.decode().split("\0")
    for name in filter(None, tracked):
        if (ROOT / name).is_file() and not name.startswith((".dev", "tests", "benchmarks")):
            (tmp_path / "source" / name).parent.mkdir(parents=True, exist_ok=True)
            (tmp_path / "source" / name).write_bytes((ROOT / name).read_bytes())
    python = [sys.executable, "-m"]
    build = [
        *python,
        "pip",
        "wheel",
        "--quiet",
        "--no-deps",
        "--no-build-isolation",
        "-w",
        str(tmp_path / "dist"),
        str(tmp_path / "source"),
    ]
    subprocess.run(build, check=True, capture_output=True)
    (wheel,) = (tmp_path / "dist").glob("odradek-*.whl")
    installed = tmp_path / "installed"
    subprocess.run([*python, "pip", "install", "--quiet", "--no-deps", "--target", str(installed), str(wheel)], check=True)
    assert (installed / "odradek/broker/py.typed").exists()
    assert not (installed / "storage").exists()

    project = tmp_path / "project"
    for name in ("broker", "storage"):
        (project / name).mkdir(parents=True)
        (project / name / "__init__.py").write_text('WHOSE = "theirs"\n')
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    program = f"INSTALLED = {str(installed)!r}\n{PROGRAM}"
    done = subprocess.run(
        [sys.executable, "-c", program],
        cwd=project,
        env={**environment, "PYTHONPATH": f"{project}{os.pathsep}{installed}"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.stdout, done.returncode) == ("served 2\n", 0), done.stderr
