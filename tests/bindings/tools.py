"""Build tools and test runners around tests with clusters: they are run, killed and explored."""

from __future__ import annotations

import re
import socket
import subprocess
import time
from pathlib import Path

from .building import BINDINGS, EXAMPLES, MAVEN, SERVICES, copy_beside_package, copy_maven_projects, environment, run

ENDLESS = """\
import io.github.odradekkafka.*;
import org.junit.jupiter.api.Test;

@OdradekTest(nodes = 1)
class EndlessTest {
    @Test
    void waits(Odradek kafka) throws Exception {
        System.out.println("address=" + kafka.getBootstrapServers());
        Thread.currentThread().join();
    }
}
"""
LOST_RESPONSE = "Produce#1@producer:lost-response"
END_TIMEOUT_S = 20
MAVEN_RESULT = re.compile(r"Tests run: .*")
NODE_RESULT = re.compile(r"^ *(Tests:? .* passed.*)$", re.MULTILINE)


def kill_maven(folder: Path) -> float:
    """Kills Maven during a test. Returns the seconds after which no broker listened any more; raises AssertionError if one remains."""
    copy_maven_projects(folder, {"service": SERVICES / "java"})
    (folder / "service/src/test/java/EndlessTest.java").write_text(ENDLESS)
    with subprocess.Popen(maven_test("service", "EndlessTest"), cwd=folder, env=environment(), stdout=subprocess.PIPE, text=True) as maven:
        assert maven.stdout is not None
        addresses = (found[1] for line in maven.stdout if (found := re.search(r"address=(\S+)", line)))
        address = next(addresses)
        maven.kill()
    begin = time.monotonic()
    while listens(address):
        assert time.monotonic() < begin + END_TIMEOUT_S, f"the broker still listens at {address}"
    return time.monotonic() - begin


def listens(address: str) -> bool:
    host, _, port = address.rpartition(":")
    with socket.socket() as client:
        return client.connect_ex((host, int(port))) == 0


def explore(command: str, folder: Path, *options: str) -> str:
    """Explores a command and returns the line of its result. Raises AssertionError if it does not survive, or cannot be explored."""
    lines = run(["odradek", "explore", *options, "--exec", command], folder).splitlines()
    return [line for line in lines if line.startswith("kafka explore: ")][-1]  # remarks follow it


def maven_test(project: str, test: str) -> list[str]:
    """Returns the command that runs a class of tests of one project among several, which the package has to be built for."""
    return [*MAVEN, "test", "--projects", project, "--also-make", f"-Dtest={test}", "-Dsurefire.failIfNoSpecifiedTests=false"]


def run_framework(name: str, folder: Path) -> str:
    """Runs the test of an example with a framework for Java, and returns its result."""
    copy_maven_projects(folder, {name: EXAMPLES / name})
    return str(MAVEN_RESULT.findall(run(maven_test(name, "ShopTest"), folder))[-1])


def run_node_project(name: str, folder: Path) -> str:
    """Runs the tests of a service in Node, and returns the line with their number."""
    service = copy_beside_package(folder, BINDINGS / "node", SERVICES / name)
    run(["npm", "install", "--no-audit", "--no-fund"], service)
    (line,) = NODE_RESULT.findall(run(["npm", "test"], service))
    return str(line)
