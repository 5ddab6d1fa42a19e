"""The options of long runs with real clients, and the report of violations, which their commands share."""

from __future__ import annotations

import argparse
import logging
from collections.abc import Sequence
from random import randrange
from typing import NamedTuple


class LongRun(NamedTuple):
    """The options of a run, which `make` repeats with its seed."""

    seconds: float
    seed: int


def begin_long_run(program: str, arguments: Sequence[str]) -> LongRun:
    """Reads and prints the options, and silences the clients, which log a warning for each connection that ends."""
    parser = argparse.ArgumentParser(prog=f"python -m {program}")
    parser.add_argument("--minutes", type=float, default=30)
    parser.add_argument("--seed", type=int, default=randrange(1 << 32))
    options = parser.parse_args(arguments)
    for client in ("aiokafka", "kafka"):
        logging.getLogger(client).setLevel(logging.CRITICAL)
    print(f"{options.minutes:g} minutes, seed {options.seed}", flush=True)  # noqa: T201
    return LongRun(options.minutes * 60, options.seed)


def exit_code_of(violations: Sequence[str], seed: int) -> int:
    """Prints the violations and their number. Returns 1 if there are any, otherwise 0."""
    print(*violations, f"{len(violations)} violations, seed {seed}", sep="\n")  # noqa: T201
    return 1 if violations else 0
