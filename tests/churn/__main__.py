"""Clients that stay connected while objects are created and deleted and the cluster is reset: `make churn MINUTES=30 SEED=1`."""

from __future__ import annotations

import sys

from tests.long_run import begin_long_run, exit_code_of

from .run import churn


def main(argv: list[str]) -> int:
    run = begin_long_run("tests.churn", argv)
    report = churn(run.seconds, run.seed)
    changes = ", ".join(f"{count} x {kind}" for kind, count in sorted(report.changes.items()))
    print(f"{report.rounds} rounds ({changes}), {report.written} records, {report.restarts} producers started again")  # noqa: T201
    print("memory in MiB after resets:", *(f"{mib:.0f}" for _, mib in report.memory_mib))  # noqa: T201
    return exit_code_of(report.violations, run.seed)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
