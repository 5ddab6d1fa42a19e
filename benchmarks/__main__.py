"""Compares odradek with librdkafka's mock cluster and, when Java and Maven are installed, with Apache Kafka: a table of medians and ratios.

Run: `make bench`, or `python -m benchmarks --quick --rows produce,start`. Needs Linux, for /proc.

The brokers take turns within every round. Ratios are therefore more reliable than absolute figures, which drift with the load of the
machine; the figures of CPU time per broker vary least.
"""

from __future__ import annotations

import argparse
import sys
from contextlib import ExitStack
from statistics import median

from .brokers import KAFKA, MOCK, ODRADEK, Broker, available_brokers
from .measures import MEASURES, Measure, Row, Target

Results = dict[tuple[str, str], list[float]]
"""Figures of all rounds by row and broker."""


def main() -> None:
    options = _parser().parse_args()
    wanted = options.rows.split(",") if options.rows else [""]
    measures = [measure for measure in MEASURES if any(_is_wanted(row, wanted) for row in measure.rows)]
    if not measures:
        raise SystemExit("no row has such a name; the rows are: " + ", ".join(row.name for measure in MEASURES for row in measure.rows))
    results: Results = {}
    failures: dict[str, None] = {}
    with ExitStack() as stack:
        brokers = [stack.enter_context(start()) for start in available_brokers()]
        for number in range(1 if options.quick else options.rounds):
            for measure in measures:
                print(f"\r\033[Kround {number + 1}: {measure.rows[0].name}", end="", file=sys.stderr, flush=True)
                for broker in brokers:
                    _take(measure, broker, results, failures)
    print("\r\033[K", end="", file=sys.stderr, flush=True)
    _print_table([row for measure in measures for row in measure.rows if _is_wanted(row, wanted)], results)
    for failure in failures:
        print(failure)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description="Compare odradek with other brokers: medians and ratios.")
    parser.add_argument("--quick", action="store_true", help="run one round")
    parser.add_argument("--rounds", type=int, default=3, help="number of rounds; default: %(default)s")
    parser.add_argument("--rows", metavar="TEXT,...", help="run only the rows whose names start with one of these texts")
    return parser


def _is_wanted(row: Row, wanted: list[str]) -> bool:
    return any(row.name.startswith(text) for text in wanted)


def _take(measure: Measure, broker: Broker, results: Results, failures: dict[str, None]) -> None:
    """Adds the figures of one measure. A failed measure leaves its cell empty and adds a line below the table."""
    try:
        figures = measure.run(broker)
    except Exception as error:
        failures[f"{measure.rows[0].name}, {broker.name}: {error}"] = None
        return
    for row, figure in figures.items():
        results.setdefault((row, broker.name), []).append(figure)


def _print_table(rows: list[Row], results: Results) -> None:
    medians = {key: median(figures) for key, figures in results.items()}
    print(f"{'':<38}{'':<6}{ODRADEK:>9}{MOCK:>9}{KAFKA:>9}{'/ mock':>9}{'/ Kafka':>9}  target")
    for row in rows:
        ours, *peers = [medians.get((row.name, name)) for name in (ODRADEK, MOCK, KAFKA)]
        figures = "".join(f"{_figure(figure):>9}" for figure in (ours, *peers))
        ratios = "".join(f"{ours / peer:>9.2f}" if ours and peer else f"{'-':>9}" for peer in peers)
        targets = "; ".join(_verdict(row, target, medians) for target in row.targets)
        print(f"{row.name:<38}{row.unit:<6}{figures}{ratios}  {targets}".rstrip())


def _figure(figure: float | None) -> str:
    """Formats a figure with three significant digits, or as an integer from 100 on."""
    if figure is None:
        return "-"
    return f"{figure:.0f}" if figure >= 100 else f"{figure:.3g}"


def _verdict(row: Row, target: Target, medians: dict[tuple[str, str], float]) -> str:
    text = f"{'>=' if target.at_least else '<='} {target.limit:g}" + (f" x {target.peer}" if target.peer else "")
    ours, peer = medians.get((row.name, ODRADEK)), medians.get((row.name, target.peer or ODRADEK))
    if ours is None or peer is None:
        return f"{text}: unknown"
    limit = target.limit * peer if target.peer else target.limit
    return f"{text}: {'met' if (ours >= limit if target.at_least else ours <= limit) else 'MISSED'}"


if __name__ == "__main__":
    main()
