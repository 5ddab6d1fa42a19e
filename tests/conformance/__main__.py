"""Runs suites of other projects against odradek and records the results: `make conformance`, or `SUITES="kafka-python aiokafka"` for some.

`--broker "Apache Kafka"` runs them against Apache Kafka, to see which tests fail there, too.
"""

from __future__ import annotations

import argparse
import subprocess
import sys

from . import results
from .run import CannotRun, run
from .suites import SUITES


def main(arguments: list[str]) -> int:
    """Returns 0 if each suite has run, whatever its tests say; 1 if one could not run."""
    parser = argparse.ArgumentParser(prog="python -m tests.conformance", description=__doc__)
    parser.add_argument(
        "suites", nargs="*", default=list(SUITES), choices=SUITES, metavar="suite", help=f"all by default: {', '.join(SUITES)}"
    )
    parser.add_argument("--broker", choices=results.BROKERS, default=results.ODRADEK)
    options = parser.parse_args(arguments)
    failures = 0
    for name in options.suites:
        try:
            result = run(SUITES[name], options.broker)
        except (CannotRun, ValueError, OSError, subprocess.SubprocessError) as error:
            print(f"{name}: {error}", file=sys.stderr)  # noqa: T201
            failures += 1
            continue
        results.add(result)
        counts = f"{result.passed} passed, {len(result.failed)} failed, {len(result.skipped)} skipped in {result.seconds} s"
        print(f"{name} {result.version} against {options.broker}: {counts}", *result.failed, sep="\n  ")  # noqa: T201
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
