"""Compares odradek with the brokers that this machine can run: a table of medians and ratios, and on request a report with a chart.

Run: `make bench`, or `python -m benchmarks --quick --rows produce,start`. Needs Linux, for /proc. The peers are librdkafka's mock cluster
and, where their tools are installed, Apache Kafka (Java and Maven) and franz-go's kfake (Go). The floor is the least that bulk Produce can
cost (`floor.py`).

The brokers take turns within every round. Ratios are therefore more reliable than absolute figures, which drift with the load of the
machine; the figures of CPU time per broker vary least.

The rows of `growth.py` are measured only if `--rows growth` asks for them, because their figures are drawn rather than compared.

To add a row, write a function that takes a `Broker` and returns figures by row, and add a `Measure` with its rows to `measures.py`.
"""

from __future__ import annotations

import argparse
import sys
from contextlib import ExitStack
from pathlib import Path

from . import growth
from .brokers import BROKERS, available_brokers
from .measures import MEASURES
from .report import Report, write_report
from .rows import Measure, Results, Row
from .table import table


def main() -> None:
    options = _parser().parse_args()
    wanted = options.rows.split(",") if options.rows else [""]
    known = [*MEASURES, *growth.MEASURES] if options.rows else MEASURES
    measures = [measure for measure in known if any(_is_wanted(row, wanted) for row in measure.rows)]
    if not measures:
        raise SystemExit("no row has such a name; the rows are: " + ", ".join(row.name for measure in known for row in measure.rows))
    rows = [row for measure in measures for row in measure.rows if _is_wanted(row, wanted)]
    results, names = _measure(measures, 1 if options.quick else options.rounds)
    print(*table(rows, names, results.medians), sep="\n")
    print(*results.failures, sep="\n")
    if options.report is not None:
        write_report(options.report, Report.of_this_machine(rows, names, results))
        print(f"the report is in {options.report}")


def _measure(measures: list[Measure], rounds: int) -> tuple[Results, list[str]]:
    """Returns the results, and the names of the brokers in the order of the columns."""
    results = Results()
    with ExitStack() as stack:
        brokers = [stack.enter_context(start()) for start in available_brokers()]
        for number in range(rounds):
            for measure in measures:
                print(f"\r\033[Kround {number + 1}: {measure.rows[0].name}", end="", file=sys.stderr, flush=True)
                for broker in brokers:
                    results.take(measure, broker)
    print("\r\033[K", end="", file=sys.stderr, flush=True)
    found = {broker.name for broker in brokers}
    return results, [name for name in BROKERS if name in found]


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description="Compare odradek with other brokers: medians and ratios.")
    parser.add_argument("--quick", action="store_true", help="run one round")
    parser.add_argument("--rounds", type=int, default=3, help="number of rounds; default: %(default)s")
    parser.add_argument("--rows", metavar="TEXT,...", help="run only the rows whose names start with one of these texts")
    parser.add_argument(
        "--report",
        metavar="FOLDER",
        nargs="?",
        type=Path,
        const=Path("bench-report"),
        help="write report.md with its charts to this folder; default: %(const)s",
    )
    return parser


def _is_wanted(row: Row, wanted: list[str]) -> bool:
    return any(row.name.startswith(text) for text in wanted)


if __name__ == "__main__":
    main()
