"""Explores services: which mistakes are found, and which correct services are blamed."""

from __future__ import annotations

import json
import os
import shlex
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

ROOT = Path(__file__).parents[2]
BUDGET = "120s"


class ExploredService(NamedTuple):
    """The end of an exploration: why it was not possible, how many faults were tried, and those that broke the service.

    A damage that the service has not noticed is one of the failures.
    """

    problem: str
    runs: int
    left: int
    seconds: float
    failures: Mapping[str, str]

    @property
    def is_blamed(self) -> bool:
        """Whether a fault breaks the service."""
        return bool(self.failures)


def explore_test(name: str, text: str, folder: Path, *options: str) -> ExploredService:
    """Writes a test into a folder and explores it with pytest. Returns what was found."""
    file, report = folder / f"test_{name}.py", folder / f"{name}.json"
    file.write_text(text)
    report.unlink(missing_ok=True)
    (folder / "pytest.ini").write_text("[pytest]\n")
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:asyncio", "-p", "no:cacheprovider", "--kafka-explore"]
    environment = os.environ | {"PYTHONPATH": str(ROOT / ".dev"), "PYSPARK_PYTHON": sys.executable}
    environment.pop("PYTEST_XDIST_WORKER", None)
    done = subprocess.run(
        [*command, f"--kafka-explore-report={report.name}", f"--kafka-explore-budget={BUDGET}", *options, file.name],
        cwd=folder,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    if not report.is_file():
        raise AssertionError(done.stdout + done.stderr)
    return service_of(json.loads(report.read_text()))


def explore_command(command: Sequence[str], folder: Path, environment: Mapping[str, str], *options: str) -> ExploredService:
    """Explores a command with `odradek explore`, in a folder and with additional variables and options. Returns what was found."""
    program = [
        str(Path(sys.executable).parent / "odradek"),
        "explore",
        "--topic",
        "orders:1",
        "--output",
        "json",
        "--budget",
        BUDGET,
        *options,
        "--exec",
        shlex.join(command),
    ]
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
    variables = {**os.environ, "PATH": path, "PYTHONPATH": str(ROOT / ".dev"), **environment}
    done = subprocess.run(program, cwd=folder, env=variables, capture_output=True, text=True, check=False)
    if not done.stdout.startswith("{"):
        raise AssertionError(done.stdout + done.stderr)
    return service_of([json.loads(done.stdout)])


def service_of(explorations: list[dict[str, Any]]) -> ExploredService:
    """Returns what was found at all tests of a file."""
    return ExploredService(
        "; ".join(each["problem"] for each in explorations if each["problem"]),
        sum(each["runs"] for each in explorations),
        sum(each["left"] for each in explorations),
        sum(each["seconds"] for each in explorations),
        {
            failure["trial"]: f"{failure['failed']}/{failure['runs']} {failure['message']}"
            for each in explorations
            for failure in each["failures"]
        }
        | {damage: f"no test noticed that {words}" for each in explorations for damage, words in each["unnoticed"].items()},
    )
