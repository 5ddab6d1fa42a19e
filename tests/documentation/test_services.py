"""The tests of services in examples/services/, run as docs/testing-a-service.md says: with `odradek serve --exec`."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests import apache_kafka

from .listings import ROOT

SERVICES = ROOT / "examples" / "services"
PAGE = ROOT / "docs" / "testing-a-service.md"
TIMEOUT_S = 240
pytestmark = [pytest.mark.sockets, pytest.mark.clients, pytest.mark.slow]


def run_beside_a_cluster(command: str, folder: Path) -> str:
    """Runs a command in a folder beside a cluster. Returns its output, and raises AssertionError if it fails."""
    python = [sys.executable, "-c", "import sys; from odradek.broker.cli import main; sys.exit(main())"]
    environ = os.environ | {"PYTHONPATH": os.pathsep.join([str(ROOT / ".dev"), str(ROOT)])}
    arguments = [*python, "serve", "--port", "0", "--topic", "orders:4", "--exec", command]
    done = subprocess.run(arguments, cwd=folder, env=environ, capture_output=True, text=True, timeout=TIMEOUT_S)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def test_service_in_node_reads_its_order(tmp_path: Path) -> None:
    if shutil.which("npm") is None:
        pytest.skip("Node is not installed")
    folder = shutil.copytree(SERVICES / "node", tmp_path / "node")
    if subprocess.run(["npm", "install", "--no-audit", "--no-fund"], cwd=folder, capture_output=True, timeout=TIMEOUT_S).returncode:
        pytest.skip("npm cannot install kafkajs; the registry may be out of reach")
    assert "# pass 1" in run_beside_a_cluster("npm test", folder)


def test_service_in_go_reads_its_order() -> None:
    if shutil.which("go") is None:
        pytest.skip("Go is not installed")
    if subprocess.run(["go", "mod", "download"], cwd=SERVICES / "go", capture_output=True, timeout=TIMEOUT_S).returncode:
        pytest.skip("Go cannot download franz-go; the module proxy may be out of reach")
    assert run_beside_a_cluster("go test -count=1 ./...", SERVICES / "go").startswith("ok")


def test_service_in_java_reads_its_order(tmp_path: Path) -> None:
    if apache_kafka.java() is None or shutil.which("mvn") is None:
        pytest.skip("Java and Maven are not installed")
    folder = shutil.copytree(SERVICES / "java", tmp_path / "java")
    if subprocess.run(["mvn", "--batch-mode", "test-compile"], cwd=folder, capture_output=True, timeout=TIMEOUT_S).returncode:
        pytest.skip("Maven cannot compile the test; its repository may be out of reach, or this Java has no compiler")
    output = run_beside_a_cluster("mvn --batch-mode -Dstyle.color=never test", folder)
    assert "Tests run: 1, Failures: 0, Errors: 0, Skipped: 0" in output


def test_page_includes_each_service() -> None:
    text = PAGE.read_text(encoding="utf-8")
    for name in ("node/orders.test.mjs", "go/orders_test.go", "java/src/test/java/OrdersTest.java", "java/pom.xml"):
        assert f"```{{literalinclude}} ../examples/services/{name}\n" in text
