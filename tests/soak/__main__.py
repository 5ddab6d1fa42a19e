"""Mixed load of real clients while nodes fail and return: `make soak MINUTES=30 SEED=1`."""

from __future__ import annotations

import argparse
import logging
import statistics
import sys
from random import randrange

from .run import soak


def main(argv: list[str]) -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.soak")
    parser.add_argument("--minutes", type=float, default=30)
    parser.add_argument("--seed", type=int, default=randrange(1 << 32))
    options = parser.parse_args(argv)
    for client in ("aiokafka", "kafka"):
        logging.getLogger(client).setLevel(logging.CRITICAL)  # they log a warning for each node that stops
    print(f"{options.minutes:g} minutes, seed {options.seed}", flush=True)  # noqa: T201
    report = soak(options.minutes * 60, options.seed)
    print(f"{report.written} records acknowledged, {report.read} read, {report.failures} failures of nodes")  # noqa: T201
    tenth = max(1, len(report.memory_mib) // 10)
    parts = [statistics.median(report.memory_mib[at : at + tenth]) for at in range(0, len(report.memory_mib), tenth)]
    print("memory of the cluster in MiB:", *(f"{part:.0f}" for part in parts))  # noqa: T201
    print(*report.violations, f"{len(report.violations)} violations, seed {options.seed}", sep="\n")  # noqa: T201
    return 1 if report.violations else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
