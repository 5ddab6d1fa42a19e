"""Mixed load of real clients while nodes fail and return: `make soak MINUTES=30 SEED=1`."""

from __future__ import annotations

import statistics
import sys

from tests.long_run import begin_long_run, exit_code_of

from .run import soak


def main(argv: list[str]) -> int:
    run = begin_long_run("tests.soak", argv)
    report = soak(run.seconds, run.seed)
    print(f"{report.written} records acknowledged, {report.read} read, {report.failures} failures of nodes")  # noqa: T201
    tenth = max(1, len(report.memory_mib) // 10)
    parts = [statistics.median(report.memory_mib[at : at + tenth]) for at in range(0, len(report.memory_mib), tenth)]
    print("memory of the cluster in MiB:", *(f"{part:.0f}" for part in parts))  # noqa: T201
    return exit_code_of(report.violations, run.seed)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
