"""Clients that stay connected while objects are created and deleted and the cluster is reset: `make churn MINUTES=30 SEED=1`."""

from __future__ import annotations

import argparse
import logging
import sys
from random import randrange

from .run import churn


def main(argv: list[str]) -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.churn")
    parser.add_argument("--minutes", type=float, default=30)
    parser.add_argument("--seed", type=int, default=randrange(1 << 32))
    options = parser.parse_args(argv)
    for client in ("aiokafka", "kafka"):
        logging.getLogger(client).setLevel(logging.CRITICAL)  # they log a warning for each connection that ends
    print(f"{options.minutes:g} minutes, seed {options.seed}", flush=True)  # noqa: T201
    report = churn(options.minutes * 60, options.seed)
    changes = ", ".join(f"{count} x {kind}" for kind, count in sorted(report.changes.items()))
    print(f"{report.rounds} rounds ({changes}), {report.written} records, {report.restarts} producers started again")  # noqa: T201
    print("memory in MiB after resets:", *(f"{mib:.0f}" for _, mib in report.memory_mib))  # noqa: T201
    print(*report.violations, f"{len(report.violations)} violations, seed {options.seed}", sep="\n")  # noqa: T201
    return 1 if report.violations else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
