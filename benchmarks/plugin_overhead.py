"""Measures what the pytest plugin adds to each test: `python -m benchmarks.plugin_overhead`.

A generated suite is run by pytest-xdist once for each set of fixtures, the first of which is empty. The time of a test is that of its
setup, call and teardown; its CPU time, which other programs hardly influence, includes that of the cluster. The first test of each worker,
which starts the cluster, is shown separately.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
from pathlib import Path
from statistics import mean, median
from typing import NamedTuple

LIMIT_MS = 10.0
"""The most that a test may cost because of the plugin."""
VARIANTS = {
    "no fixture": ((), ()),
    "kafka_cluster": (("kafka_cluster",), ()),
    "kafka_topic": (("kafka_topic",), ()),
    "kafka_topic, kafka_wire, kafka_faults, kafka_clock": (("kafka_topic", "kafka_wire", "kafka_faults", "kafka_clock"), ()),
    "kafka_topic with --kafka-reset": (("kafka_topic",), ("--kafka-reset",)),
    "kafka_topic with --kafka-timeout": (("kafka_topic",), ("--kafka-timeout=60",)),
    "kafka_topic with --kafka-artifacts": (("kafka_topic",), ("--kafka-artifacts=files",)),
}
"""The fixtures of the tests and the options of pytest."""
_CONFTEST = """
import json, os, time
import pytest

@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_runtest_protocol(item):
    start_s, start_cpu_s = time.perf_counter(), time.process_time()
    result = yield
    with open(f"times-{os.environ['PYTEST_XDIST_WORKER']}.jsonl", "a") as file:
        print(json.dumps([(time.perf_counter() - start_s) * 1000, (time.process_time() - start_cpu_s) * 1000]), file=file)
    return result
"""


class Times(NamedTuple):
    """Milliseconds of the tests, without the first one of each worker, their CPU milliseconds, and those of the first tests."""

    wall: list[float]
    cpu: list[float]
    first: list[float]


def times(fixtures: tuple[str, ...], options: tuple[str, ...], tests: int, workers: int) -> Times:
    """Runs a suite and returns the times of its tests. Raises CalledProcessError if a test fails."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "conftest.py").write_text(_CONFTEST)
        (folder / "pytest.ini").write_text("[pytest]\n")
        body = "".join(f"def test_{number}({', '.join(fixtures)}):\n    pass\n\n" for number in range(tests))
        (folder / "test_suite.py").write_text(body)
        command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-p", "no:asyncio", f"-n{workers}", *options]
        subprocess.run(command, cwd=folder, check=True, stdout=sys.stderr)
        found = [[json.loads(line) for line in path.read_text().splitlines()] for path in folder.glob("times-*.jsonl")]
    others = [time for each in found for time in each[1:]]
    return Times([wall for wall, _ in others], [cpu for _, cpu in others], [each[0][0] for each in found])


def main() -> int:
    """Prints a table. Returns 1 if the median of tests with fixtures is more than LIMIT_MS above that of tests without, else 0."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tests", type=int, default=200, metavar="N")
    parser.add_argument("--workers", type=int, default=4, metavar="N")
    arguments = parser.parse_args()
    measured = {name: times(*variant, arguments.tests, arguments.workers) for name, variant in VARIANTS.items()}
    base = next(iter(measured.values()))
    print(f"{arguments.tests} tests, {arguments.workers} workers; milliseconds for each test\n")
    print(f"{'fixtures':<52}{'median':>8}{'added':>8}{'CPU':>8}{'added':>8}{'first':>8}")
    slow = False
    for name, found in measured.items():
        wall_ms, cpu_ms = median(found.wall), mean(found.cpu)
        added_ms, added_cpu_ms = wall_ms - median(base.wall), cpu_ms - mean(base.cpu)
        slow |= added_ms > LIMIT_MS
        print(f"{name:<52}{wall_ms:8.2f}{added_ms:8.2f}{cpu_ms:8.2f}{added_cpu_ms:8.2f}{mean(found.first):8.0f}")
    return int(slow)


if __name__ == "__main__":
    sys.exit(main())
