"""`odradek explore`: looks for faults under which a command does not succeed. Each run gets a cluster of its own.

The command learns the address of the cluster from BOOTSTRAP_SERVERS, and that of its controls from ODRADEK_CONTROL. Exit code 0 says that
it has passed; any other says that it has failed.
"""

from __future__ import annotations

import argparse
import json
import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from random import SystemRandom
from typing import IO, TYPE_CHECKING

from .options import node_count, pair, refuse
from .serve import command_of, seed_files

if TYPE_CHECKING:
    from ..cluster.startup_topics import TopicOptions
    from ..embedding.cluster import Cluster
    from ..exploring.plan import Trial
    from ..exploring.search import SearchOptions
    from ..exploring.verdicts import Evidence, Exploration, RunResult
    from ..settings.cluster_config import TopicSpec

EXAMPLES = """\
examples:
  odradek explore --exec 'mvn -q test -Dtest=OrdersTest'
  odradek explore --topic orders:4 --budget 5m --exec 'go test ./orders'
  odradek explore --only 'OffsetCommit#1@billing:lost-response' --exec 'go test ./orders'

exit codes: 0 if the command passes with every fault, 1 if it does not, 2 if it cannot be explored, 130 after Ctrl-C
"""
REPRODUCE = "odradek explore --only '{0}' --exec ..."
INTERRUPTED = 130
MIN_LIMIT_S = 30.0
SLOWDOWN = 5
"""How many times as long as without faults a run may take, if --timeout does not say how long."""
MAX_OUTPUT_BYTES = 256 * 1024
MESSAGE_LINES = 3
_TELLING = ("assert", "error", "expected", "fail", "exception")


def add_options(explore: argparse.ArgumentParser) -> None:
    explore.add_argument("--exec", required=True, metavar="COMMAND", help="the command that runs the test")
    explore.add_argument("--nodes", type=node_count, default=2, metavar="N", help="number of brokers (default: 2)")
    explore.add_argument(
        "--topic", action="append", default=[], metavar="NAME:PARTITIONS[:REPLICAS]", help="a topic of each cluster; repeatable"
    )
    explore.add_argument("--set", action="append", default=[], type=pair, metavar="KEY=VALUE", help="a broker setting; repeatable")
    explore.add_argument(
        "--data", action="append", default=[], metavar="DIR|FILE|PATTERN", help="topics and records of each cluster; repeatable"
    )
    explore.add_argument("--as-version", metavar="VERSION", help="emulate this release of Kafka, from 2.1 to 4.3 (default: 4.3)")
    explore.add_argument("--only", metavar="POINT", help="run the command with this fault only, as the summary names it")
    explore.add_argument("--without", action="append", default=[], metavar="FAULT", help="leave out this fault; repeatable")
    explore.add_argument("--also", action="append", default=[], metavar="FAULT", help="try this rare fault too; repeatable")
    explore.add_argument("--budget", type=_seconds, metavar="TIME", help="how long to explore, such as 5m (default: 10m)", default=600.0)
    explore.add_argument("--depth", type=int, choices=(1, 2), default=1, help="2: also try pairs of faults (default: 1)")
    explore.add_argument("--seed", type=int, help="the seed from which pairs are drawn (default: a new one)")
    explore.add_argument("--timeout", type=_seconds, metavar="TIME", help="how long a run may take (default: 5 times as long as without)")
    explore.add_argument("--report", metavar="FILE", help="write a page about what was found")
    explore.add_argument("--artifacts", metavar="DIR", help="keep the captures of the runs that fail in this folder")
    explore.add_argument("--output", choices=("text", "json"), default="text", help="how to print what was found (default: text)")


def run(options: argparse.Namespace, environ: Mapping[str, str]) -> int:
    """Explores the command. Returns the exit code."""
    from ..exploring.search import Search
    from ..settings.properties import InvalidConfig

    try:
        command = command_of(options)
        search_options = _search_options(options)
        runner = CommandRunner(command, options, environ)
        runner.new_cluster()  # refuses invalid options before the first run
    except (InvalidConfig, ValueError, TypeError) as error:
        return refuse(str(error))
    search = Search(" ".join(command), runner.run, search_options, time.monotonic, _progress)
    try:
        found = search.explore()
    except KeyboardInterrupt:
        _print(search.found, options)
        return INTERRUPTED
    except OSError as error:
        return refuse(f"{error.filename or command[0]}: {error.strerror or error}")
    _print(found, options)
    return 2 if found.problem else 1 if found.failures or (options.only and found.unreached) else 0


def _search_options(options: argparse.Namespace) -> SearchOptions:
    """Raises InvalidControl for an invalid point, and ValueError for a fault that does not exist."""
    from ..exploring.plan import trial_of
    from ..exploring.points import parse_specifications
    from ..exploring.search import SearchOptions
    from ..exploring.table import FAULTS

    if wrong := [name for name in (*options.without, *options.also) if name not in FAULTS]:
        raise ValueError(f"there is no fault {wrong[0]!r}; the faults are {', '.join(FAULTS)}")
    seed = SystemRandom().randrange(2**32) if options.seed is None else options.seed
    only = () if options.only is None else (trial_of(parse_specifications(options.only, FAULTS)),)
    return SearchOptions(options.budget, options.depth, seed, only=only, without=tuple(options.without), also=tuple(options.also))


class CommandRunner:
    """Runs the command, each time beside a cluster of its own."""

    def __init__(self, command: Sequence[str], options: argparse.Namespace, environ: Mapping[str, str]) -> None:
        from ..settings.cluster_config import TopicSpec

        self._command = command
        self._environ = environ
        self._options = options
        self._topics: list[TopicSpec] = [TopicSpec.parse(text) for text in options.topic]
        self._data = seed_files(options)
        self._slowest_s = 0.0
        self._artifacts = None if options.artifacts is None else Path(options.artifacts)

    def new_cluster(self) -> Cluster:
        """Returns a cluster with the options of the command line, which is not started. Raises ValueError for an invalid one."""
        from ..embedding.cluster import Cluster

        return Cluster(
            nodes=self._options.nodes,
            topics={each.name: _options_of(each) for each in self._topics},
            settings=dict(self._options.set),
            data=self._data,
            as_version=self._options.as_version,
            control="127.0.0.1:0",
        )

    def run(self, trial: Trial | None) -> RunResult:
        """Runs the command with the faults of a trial, or without any."""
        with self.new_cluster() as cluster, tempfile.TemporaryFile() as output:
            faults = [] if trial is None else [cluster.fault_at(str(each)) for each in trial.specifications]
            capture = self._begin_capture(cluster, trial)
            begun_s = time.monotonic()
            code = self._run_beside(cluster, output)
            if trial is None:
                self._slowest_s = max(self._slowest_s, time.monotonic() - begun_s)
            result = _result(cluster, code, _tail(output), trial, reached=all(fault.hits for fault in faults))
            return _with_capture(cluster, capture, result)

    def _begin_capture(self, cluster: Cluster, trial: Trial | None) -> Path | None:
        if trial is None or self._artifacts is None:
            return None
        self._artifacts.mkdir(parents=True, exist_ok=True)
        name = "".join(each if each.isalnum() else "-" for each in trial.text)
        path = self._artifacts / f"{name[:120]}.pcapng"
        cluster.start_capture(path)
        return path

    def _run_beside(self, cluster: Cluster, output: IO[bytes]) -> int | None:
        """Returns the exit code of the command, None if it was ended because it took too long."""
        variables = {**self._environ, "BOOTSTRAP_SERVERS": cluster.bootstrap_servers, "ODRADEK_CONTROL": str(cluster.control)}
        usual_s = SLOWDOWN * self._slowest_s if self._slowest_s else self._options.budget  # the first run may have to compile
        limit_s = self._options.timeout or max(MIN_LIMIT_S, usual_s)
        process = subprocess.Popen(
            self._command, env=variables, stdin=subprocess.DEVNULL, stdout=output, stderr=subprocess.STDOUT, start_new_session=True
        )
        try:
            return process.wait(limit_s)
        except subprocess.TimeoutExpired:
            return None
        finally:
            _end(process)


def _options_of(topic: TopicSpec) -> TopicOptions:
    """Returns the options of a topic; the cluster has a default for a number that is not given."""
    from ..cluster.startup_topics import TopicOptions

    options = TopicOptions()
    if topic.partitions > 0:
        options["partitions"] = topic.partitions
    if topic.replication_factor > 0:
        options["replication_factor"] = topic.replication_factor
    return options


def _end(process: subprocess.Popen[bytes]) -> None:
    """Ends what is left of the process and of those that it has started, which would use the ports of the next cluster."""
    try:
        os.killpg(process.pid, signal.SIGKILL)
    except ProcessLookupError:
        return
    finally:
        process.wait()


def _result(cluster: Cluster, code: int | None, output: str, trial: Trial | None, *, reached: bool) -> RunResult:
    from ..exploring.verdicts import RunOutcome, RunResult

    if trial is None:
        from ..exploring.points import points_of
        from ..exploring.topology import topology_of

        outcome = RunOutcome.HUNG if code is None else RunOutcome.PASSED if code == 0 else RunOutcome.FAILED
        points = tuple(points_of(cluster.wire.since()))
        return RunResult(outcome, _message(output), output, points, topology_of(cluster.topics(), len(cluster.nodes())))
    if not reached:
        return RunResult(RunOutcome.UNREACHED)
    if code == 0:
        return RunResult(RunOutcome.PASSED)
    outcome = RunOutcome.HUNG if code is None else RunOutcome.FAILED
    return RunResult(outcome, _message(output), output, evidence=_evidence(cluster))


def _evidence(cluster: Cluster) -> Evidence:
    from ..exploring.verdicts import MAX_FINDINGS, Evidence

    doctor = tuple(f"{each.name}: {each.problem}" for each in cluster.doctor()[:MAX_FINDINGS])
    return Evidence(doctor, cluster.wire.diagram("html"), cluster.wire.story())


def _with_capture(cluster: Cluster, capture: Path | None, result: RunResult) -> RunResult:
    """Returns the result with the name of the capture, which is deleted unless the run has failed."""
    from dataclasses import replace

    from ..exploring.verdicts import RunOutcome

    if capture is None:
        return result
    cluster.stop_capture()
    if result.outcome in (RunOutcome.PASSED, RunOutcome.UNREACHED):
        capture.unlink(missing_ok=True)
        return result
    return replace(result, evidence=replace(result.evidence, files=(f"file: {capture}",)))


def _tail(output: IO[bytes]) -> str:
    """Returns the end of the output of a command."""
    size = output.seek(0, os.SEEK_END)
    output.seek(max(0, size - MAX_OUTPUT_BYTES))
    return output.read().decode(errors="replace")


def _message(output: str) -> str:
    """Returns the lines that say what went wrong: the last ones that sound like an error, otherwise the last ones."""
    lines = [line.strip() for line in output.splitlines() if line.strip()]
    telling = [line for line in lines if any(word in line.lower() for word in _TELLING)]
    return "\n".join((telling or lines)[-MESSAGE_LINES:])


def _progress(text: str) -> None:
    if sys.stderr.isatty():
        sys.stderr.write(f"\r\x1b[K{text[:160]}")
        sys.stderr.flush()


def _print(found: Exploration, options: argparse.Namespace) -> None:
    if sys.stderr.isatty():
        sys.stderr.write("\r\x1b[K")
    if options.output == "json":
        print(json.dumps(found.as_json(), indent=1))
    else:
        print(found.summary(REPRODUCE))
    if options.report is not None:
        from ..exploring.page import page_of_explorations

        Path(options.report).write_text(page_of_explorations([found], REPRODUCE), encoding="utf-8", errors="backslashreplace")


def _seconds(text: str) -> float:
    """Returns the seconds that an option names. Raises ArgumentTypeError for another text."""
    from ..exploring.search import parse_seconds

    try:
        return parse_seconds(text)
    except ValueError as error:
        raise argparse.ArgumentTypeError(str(error)) from None
