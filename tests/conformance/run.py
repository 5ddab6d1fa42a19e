"""Runs a suite against a fresh cluster.

The files of a suite are fetched and prepared once, in the user's cache directory. The log of each run is beside them.
"""

from __future__ import annotations

import os
import re
import shlex
import shutil
import signal
import subprocess
import time
import venv
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import NamedTuple

from odradek import Cluster, __version__
from tests import apache_kafka
from tests.apache_kafka import ApacheKafka

from .results import APACHE_KAFKA, ODRADEK, Result
from .suite import SETTINGS, Suite

ROOT = Path(__file__).parents[2]
ADAPTERS = Path(__file__).with_name("adapters")
CACHE = Path(os.environ.get("XDG_CACHE_HOME", "~/.cache"), "odradek", "conformance").expanduser()
BROKER = ("__init__.py", "broker", "protocol", "storage")
MAX_REASON_LENGTH = 160


class CannotRun(Exception):
    """A suite cannot run on this machine; the message says what is missing."""


def run(suite: Suite, broker: str = ODRADEK, cache: Path = CACHE) -> Result:
    """Runs a suite and returns the result. Raises CannotRun if the machine lacks a program, and ValueError if no test has run."""
    place = prepared(suite, cache)
    report, seconds = _executed(suite, place, broker)
    outcomes = suite.framework.outcomes(report)
    version, commit = (__version__, current_commit()) if broker == ODRADEK else (apache_kafka.VERSION, "")
    return Result(
        suite=suite.name,
        version=suite.version,
        broker=broker,
        broker_version=version,
        commit=commit,
        date=datetime.now(UTC).date().isoformat(),
        seconds=seconds,
        command=shown_command(suite),
        passed=outcomes.passed,
        failed=tuple(sorted(outcomes.failed)),
        skipped={test: readable(reason, place) for test, reason in sorted(outcomes.skipped.items())},
    )


def _executed(suite: Suite, place: Path, broker: str) -> tuple[Path, int]:
    """Runs the command of a suite against a cluster. Returns its report, which is its output if it writes no other, and the seconds."""
    suffix = broker.replace(" ", "-")
    report, log = place / f"report-{suffix}", place / f"log-{suffix}.txt"
    report.unlink(missing_ok=True)
    with started(suite, broker) as addresses, log.open("wb") as output:
        names = names_of(suite, place, addresses, report)
        command, environment = filled_in(suite, names)
        begin = time.monotonic()
        _execute(command, names["source"], environment, output.fileno(), suite.time_limit_s)
        seconds = round(time.monotonic() - begin)
    return (report if report.is_file() else log), seconds


class Addresses(NamedTuple):
    """The bootstrap servers of a cluster, and the URL of its schema registry, "" if it has none."""

    bootstrap_servers: str = ""
    schema_registry_url: str = ""


@contextmanager
def started(suite: Suite, broker: str) -> Iterator[Addresses]:
    """Starts a cluster on ports that the kernel chooses."""
    settings = {**SETTINGS, **suite.settings}
    if broker == APACHE_KAFKA:
        with ApacheKafka(nodes=suite.nodes, settings=settings, first_id=suite.first_id) as kafka:
            yield Addresses(kafka.bootstrap_servers)
    else:
        with Cluster(nodes=suite.nodes, settings={**settings, "node.id": suite.first_id}) as cluster:
            yield Addresses(cluster.bootstrap_servers, cluster.start_schema_registry())


def prepared(suite: Suite, cache: Path) -> Path:
    """Returns the directory of a suite, in which it is fetched and prepared once."""
    missing = [program for program in (*suite.source.needs, *suite.needs) if shutil.which(program) is None]
    if missing:
        raise CannotRun(f"needs {', '.join(missing)}")
    place, done = cache / f"{suite.name}-{suite.version}", cache / f"{suite.name}-{suite.version}" / "prepared"
    if done.exists():
        return place
    shutil.rmtree(place, ignore_errors=True)
    place.mkdir(parents=True)
    suite.source.fetch(suite.version, place / "source")
    if suite.packages:
        venv.create(place / "venv", with_pip=True)
        subprocess.run([place / "venv" / "bin" / "python", "-m", "pip", "install", "--quiet", *suite.packages], check=True)
    names = names_of(suite, place, Addresses(), place / "report")
    for command in suite.prepare:
        subprocess.run([part.format_map(names) for part in command], cwd=names["source"], check=True)
    done.touch()
    return place


def names_of(suite: Suite, place: Path, addresses: Addresses, report: Path) -> dict[str, str]:
    """Returns the texts that names in commands and variables of a suite stand for."""
    host, _, port = addresses.bootstrap_servers.partition(",")[0].rpartition(":")
    paths = {"source": place / "source", "adapters": ADAPTERS, "python": place / "venv" / "bin" / "python", "report": report}
    texts = {**addresses._asdict(), "host": host, "port": port}
    return {**texts, **{name: str(path) for name, path in paths.items()}}


def filled_in(suite: Suite, names: Mapping[str, str]) -> tuple[list[str], dict[str, str]]:
    """Returns the command and the variables of a run."""
    command = [part.format_map(names) for part in suite.command]
    if suite.left_out:
        command += suite.framework.leaving_out(suite.left_out)
    return command, {name: value.format_map(names) for name, value in suite.environment.items()}


def shown_command(suite: Suite) -> str:
    """Returns the command as the page shows it: names stand for the paths and addresses of a run."""
    variables = [f"{name}={value}" for name, value in suite.environment.items()]
    command = [shlex.quote(part) if " " in part else part for part in suite.command]
    return " ".join([*variables, *command]).replace("\n", "\\n").replace("{", "<").replace("}", ">")


def readable(reason: str, place: Path) -> str:
    """Returns the first line of a suite's reason, without the path of its directory."""
    line = reason.strip().partition("\n")[0].removeprefix("Skipped: ").replace(f"{place}/source/", "")
    return re.sub(r"\s+", " ", line)[:MAX_REASON_LENGTH]


def current_commit() -> str:
    """Returns the short hash of the last commit that changed the broker; it ends with "+" if there are later changes."""
    commit = _git("log", "-1", "--format=%h", "--abbrev=10", "--", *BROKER)
    return f"{commit}+" if _git("status", "--porcelain", "--", *BROKER) else commit


def _git(*arguments: str) -> str:
    return subprocess.run(["git", *arguments], cwd=ROOT, check=True, capture_output=True, text=True).stdout.strip()


def _execute(command: Sequence[str], folder: str, environment: Mapping[str, str], output: int, time_limit_s: int) -> None:
    """Runs the command of a suite, whose exit code says no more than its report. A run that takes too long is ended."""
    inherited = {name: value for name, value in os.environ.items() if not name.startswith("PYTHON")}  # such as the path of our own tests
    variables = {**inherited, **environment}
    # The command gets a process group of its own, because some commands leave processes behind.
    process = subprocess.Popen(command, cwd=folder, env=variables, stdout=output, stderr=subprocess.STDOUT, start_new_session=True)
    try:
        process.wait(time_limit_s)
    finally:
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()
