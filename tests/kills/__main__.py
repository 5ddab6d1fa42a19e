"""Kills a cluster under load: `make kills KILLS=300 SEED=1`."""

from __future__ import annotations

import argparse
import statistics
import sys
import tempfile
from pathlib import Path
from random import SystemRandom

from tests.long_run import exit_code_of

from .run import kill_repeatedly


def main(argv: list[str]) -> int:
    parser = argparse.ArgumentParser("tests.kills")
    parser.add_argument("--kills", type=int, default=300)
    parser.add_argument("--seed", type=int, default=SystemRandom().getrandbits(32))
    options = parser.parse_args(argv)
    print(f"seed {options.seed}", flush=True)  # noqa: T201
    folder = Path(tempfile.mkdtemp(prefix="odradek-kills-"))
    outcome = kill_repeatedly(options.kills, options.seed, folder)
    starts = f"{statistics.median(outcome.starts_s):.2f} s to start, {max(outcome.starts_s):.2f} s at most"
    print(f"{outcome.written} records acknowledged, {outcome.read} read, {outcome.kills} kills, {starts}; {folder}")  # noqa: T201
    return exit_code_of(outcome.violations, options.seed)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
