"""Runs a scenario with many seeds: `make simulate SEEDS=20000`, `make simulate SCENARIO=service`."""

from __future__ import annotations

import argparse
import logging
import os
import sys

from odradek.simulation.hash_seed import fix_hash_seed
from odradek.simulation.report import report_of
from odradek.simulation.seeds import Summary, Test, run_seed, run_seeds
from odradek.simulation.shrinking import shrink
from tests.campaign.scenario import scenario
from tests.campaign.service import service, service_without_idempotence

SCENARIOS = {"campaign": scenario, "service": service, "service-without-idempotence": service_without_idempotence}
SEEDS = 20_000
LINES_EVERY = 100


def main() -> int:
    """Returns 0 if all seeds pass, otherwise 1 after the report of the lowest one that fails."""
    parser = argparse.ArgumentParser(prog="make simulate", description="Runs a scenario in virtual time under faults.")
    parser.add_argument("--scenario", choices=SCENARIOS, default="campaign", help="what is run (default: campaign)")
    parser.add_argument("--seeds", type=int, default=SEEDS, help=f"the number of seeds (default: {SEEDS})")
    parser.add_argument("--seed", type=int, help="the only seed")
    arguments = parser.parse_args()
    fix_hash_seed()
    logging.disable()  # the report has what happened, and clients log each connection that fails
    name: str = arguments.scenario
    if arguments.seed is not None:
        return report(name, arguments.seed)
    summary = run_seeds(SCENARIOS[name], arguments.seeds, None, show, os.cpu_count() or 1)
    print(summary)
    return 0 if summary.failed is None else report(name, summary.failed[0])


def show(summary: Summary) -> None:
    if summary.seeds % LINES_EVERY == 0 or sys.stdout.isatty():
        print(summary, end="\r" if sys.stdout.isatty() else "\n", flush=True)


def report(name: str, seed: int) -> int:
    """Runs a seed of a scenario, and shows its error and the report if it fails."""
    test: Test = SCENARIOS[name]
    failing = run_seed(test, seed)
    if failing.error is None:
        print(f"seed {seed} passes: trace {failing.trace[:16]}, {failing.now_s:.0f} virtual seconds, {len(failing.faults)} faults")
        return 0
    command = f"make simulate SCENARIO={name} SEED={seed}"
    print(f"{type(failing.error).__name__}: {failing.error}\n{report_of(failing, shrink(test, failing), command)}")
    return 1


sys.exit(main())
