"""`make bindings`: what takes too long for the tests of the packages. NAMES="parallel jest" limits it; figures are printed."""

from __future__ import annotations

import argparse
import re
import shlex
import sys
import tempfile
from collections.abc import Callable, Mapping
from pathlib import Path

from .building import SERVICES, NotDownloadedError, copy_maven_projects
from .parallel_classes import measure_durations, run_parallel_classes
from .tools import LOST_RESPONSE, explore, kill_maven, maven_test, run_framework, run_node_project

CLASSES = 50
FIGURE = re.compile(r"^figure: (.*)$", re.MULTILINE)


def parallel(folder: Path) -> list[str]:
    """Runs classes of JUnit in parallel."""
    figures = FIGURE.findall(run_parallel_classes(folder, CLASSES))
    assert int(figures[-1].rpartition(" ")[2]) >= CLASSES // 2, figures
    return [f"{CLASSES} classes with a cluster each and {CLASSES} with shared clusters passed", figures[-1]]


def durations(folder: Path) -> list[str]:
    """Measures starts, stops and resets in JUnit."""
    return FIGURE.findall(measure_durations(folder))


def maven_killed(folder: Path) -> list[str]:
    """Kills Maven with SIGKILL."""
    return [f"no broker listened {kill_maven(folder):.1f} s after the end of Maven"]


def maven_explored(folder: Path) -> list[str]:
    """Explores a test with Maven."""
    copy_maven_projects(folder, {"service": SERVICES / "java"})
    return [explore(shlex.join(maven_test("service", "OrdersTest#orderReachesTheShop")), folder, "--only", LOST_RESPONSE)]


def quarkus(folder: Path) -> list[str]:
    """Runs the example with Quarkus."""
    return [run_framework("quarkus", folder)]


def micronaut(folder: Path) -> list[str]:
    """Runs the example with Micronaut."""
    return [run_framework("micronaut", folder)]


def jest(folder: Path) -> list[str]:
    """Runs the tests of a service with Jest."""
    return [run_node_project("jest", folder)]


def vitest(folder: Path) -> list[str]:
    """Runs the tests of a service with Vitest."""
    return [run_node_project("vitest", folder)]


CHECKS: Mapping[str, Callable[[Path], list[str]]] = {
    each.__name__: each for each in (parallel, durations, maven_killed, maven_explored, quarkus, micronaut, jest, vitest)
}


def main() -> int:
    """Returns 0 if all checks pass."""
    parser = argparse.ArgumentParser(prog="python -m tests.bindings")
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"checks to run: {', '.join(CHECKS)} (default: all)")
    failed = 0
    for name in parser.parse_args().names or CHECKS:
        try:
            with tempfile.TemporaryDirectory() as folder:
                lines = CHECKS[name](Path(folder))
        except (AssertionError, NotDownloadedError) as error:
            failed += 1
            lines = [f"FAILED: {error}"]
        for line in lines:
            print(f"{name}: {line}", flush=True)  # noqa: T201
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
