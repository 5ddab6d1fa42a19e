"""Compares odradek's Spark source with Spark's own Kafka connector in one session, with odradek as the broker.

Run: `python -m benchmarks.spark --quick`. Needs Java, and the first time Maven and the network.

The sources take turns within every round, and the first round is not counted. The ratios of the medians are therefore more reliable than
absolute figures, which drift with the load of the machine. "tuned" is the connector with larger fetches and Spark's newer API (V2), neither
of which is its default. In the row of log directories, "default" is odradek's own read through the broker.
"""

from __future__ import annotations

import argparse
import itertools
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from functools import partial
from pathlib import Path
from statistics import median
from typing import Any, NamedTuple

from odradek.protocol.batches.compression import Compression
from tests.spark.official_connector import both_sources
from tests.spark.spark_process import SparkProcess

from . import spark_queries as queries
from .brokers import Broker, odradek
from .spark_topics import Shape, create_topic, delete_topic, fill, fill_exactly, write_directory


class Peer(NamedTuple):
    """A source and its options."""

    name: str
    source: str
    options: Mapping[str, Any]


OURS = Peer("odradek", "odradek", {})
DEFAULT = Peer("default", "kafka", {})
TUNED = Peer("tuned", "kafka", {"kafka.max.poll.records": 50_000, "kafka.max.partition.fetch.bytes": 8 << 20})
EAGER = Peer("tuned", "kafka", {"kafka.fetch.max.wait.ms": 10})
"""The connector tuned for single records."""
FROM_BROKER = Peer("default", "odradek", {})
"""odradek's read through a broker, to which the row of log directories compares."""


class Bench(NamedTuple):
    """The session and the broker of a run; a quick run uses a tenth of the sizes."""

    session: SparkProcess
    broker: Broker
    quick: bool

    def size(self, full: int) -> int:
        return full // 10 if self.quick else full

    def options(self, topic: str, peer: Peer, **more: Any) -> dict[str, Any]:
        common = {"kafka.bootstrap.servers": self.broker.bootstrap_servers, "subscribe": topic, "startingOffsets": "earliest"}
        return common | dict(peer.options) | more


Figure = Callable[[Peer], float]
"""Measures one figure of a peer; called once per round."""


class Row(NamedTuple):
    """A line of the table.

    `default` and `tuned` limit the ratio of odradek's figure to those peers': lower limits for rates, upper limits for times.
    """

    name: str
    unit: str
    prepare: Callable[[Bench], AbstractContextManager[Figure]]
    default: float
    tuned: float | None = None
    peers: tuple[Peer, ...] = (OURS, DEFAULT, TUNED)

    @property
    def is_rate(self) -> bool:
        return self.unit.endswith("/s")

    def verdict(self, name: str, ratio: float | None) -> str:
        limit = self.default if name == DEFAULT.name else self.tuned
        if limit is None or ratio is None:
            return ""
        met = ratio >= limit if self.is_rate else ratio <= limit
        return f"{'>=' if self.is_rate else '<='} {limit:g}: {'met' if met else 'MISSED'}"


_numbers = itertools.count()


@contextmanager
def new_topic(broker: Broker, partitions: int = 2) -> Iterator[str]:
    """Yields a topic that is deleted afterwards, because the broker keeps its records in memory."""
    name = f"bench-{next(_numbers)}"
    create_topic(broker, name, partitions)
    yield name
    delete_topic(broker, name)


@contextmanager
def reading(bench: Bench, *, shape: Shape, count: int) -> Iterator[Figure]:
    """Measures batch reads, in millions of rows per second."""
    with new_topic(bench.broker) as topic:
        rows = fill(bench.broker, topic, range(2), shape, bench.size(count) // 2)
        more = {"includeHeaders": True} if shape.headers else {}
        if (found := bench.session.run(queries.count, OURS.source, bench.options(topic, OURS, **more))) != rows:
            raise RuntimeError(f"{rows} rows were written, {found} read")

        def figure(peer: Peer) -> float:
            bench.session.run(queries.use_v2, peer is TUNED)
            return rows / bench.session.run(queries.read, peer.source, bench.options(topic, peer, **more), 1) / 1e6

        yield figure


@contextmanager
def reading_directory(bench: Bench, *, shape: Shape, count: int) -> Iterator[Figure]:
    """Measures batch reads of one partition from a log directory and through the broker, in millions of rows per second."""
    with new_topic(bench.broker, 1) as topic, tempfile.TemporaryDirectory() as directory:
        rows = fill(bench.broker, topic, [0], shape, bench.size(count))
        if (written := write_directory(Path(directory), topic, [0], shape, rows)) != rows:
            raise RuntimeError(f"{rows} rows are in the broker, {written} in the directory")
        stored = {"path": directory, "subscribe": topic}

        def figure(peer: Peer) -> float:
            options = bench.options(topic, peer) if peer is FROM_BROKER else stored
            return rows / bench.session.run(queries.read, peer.source, options, 1) / 1e6

        yield figure


@contextmanager
def reading_little(bench: Bench) -> Iterator[Figure]:
    """Measures batch reads of 1,200 rows, in milliseconds."""
    with new_topic(bench.broker) as topic:
        fill_exactly(bench.broker, topic, range(2), Shape(100, 100), records=150, batches=4)

        def figure(peer: Peer) -> float:
            bench.session.run(queries.use_v2, peer is TUNED)
            return bench.session.run(queries.read, peer.source, bench.options(topic, peer), bench.size(50)) * 1000

        yield figure


@contextmanager
def micro_batches(bench: Bench, *, partitions: int) -> Iterator[Figure]:
    """Measures triggers with 100 rows from each partition, in milliseconds."""
    with new_topic(bench.broker, partitions) as topic:
        triggers = queries.WARM_TRIGGERS + bench.size(80)
        fill_exactly(bench.broker, topic, range(partitions), Shape(100, 100), records=100, batches=triggers)

        def figure(peer: Peer) -> float:
            options = bench.options(topic, peer, maxOffsetsPerTrigger=100 * partitions)
            return bench.session.run(queries.triggers, peer.source, options) * 1000

        yield figure


@contextmanager
def catching_up(bench: Bench) -> Iterator[Figure]:
    """Measures reads of a backlog in ten triggers, in millions of rows per second."""
    with new_topic(bench.broker) as topic:
        rows = fill(bench.broker, topic, range(2), Shape(100, 100), bench.size(5_000_000))

        def figure(peer: Peer) -> float:
            options = bench.options(topic, peer, maxOffsetsPerTrigger=rows // 10)
            return rows / bench.session.run(queries.catch_up, peer.source, options) / 1e6

        yield figure


@contextmanager
def arriving(bench: Bench) -> Iterator[Figure]:
    """Measures the milliseconds from the production of a record until foreachBatch receives it."""

    def figure(peer: Peer) -> float:
        with new_topic(bench.broker, 1) as topic:
            return bench.session.run(queries.latency, peer.source, bench.options(topic, peer), bench.size(50)) * 1000

    yield figure


@contextmanager
def writing(bench: Bench) -> Iterator[Figure]:
    """Measures batch writes, in millions of rows per second."""
    rows = bench.size(2_000_000)

    def figure(peer: Peer) -> float:
        with new_topic(bench.broker) as topic:
            options = {"kafka.bootstrap.servers": bench.broker.bootstrap_servers, "topic": topic}
            return rows / bench.session.run(queries.write, peer.source, options, rows) / 1e6

    yield figure


def _reading(name: str, shape: Shape, count: int, default: float, tuned: float) -> Row:
    return Row(f"batch read, {name}", "M/s", partial(reading, shape=shape, count=count), default, tuned)


ROWS = (
    _reading("100 B", Shape(100, 100), 4_000_000, 2.3, 1.1),
    _reading("1 KiB", Shape(1024, 1024), 800_000, 2.0, 1.3),
    _reading("20-180 B + key", Shape(20, 180, key=True), 3_000_000, 2.5, 1.4),
    _reading("20-180 B + key + 2 headers", Shape(20, 180, key=True, headers=2), 1_500_000, 2.5, 1.5),
    _reading("lz4, 20-180 B + key", Shape(20, 180, key=True, compression=Compression.LZ4), 3_000_000, 2.0, 1.2),
    _reading("zstd, 20-180 B + key", Shape(20, 180, key=True, compression=Compression.ZSTD), 3_000_000, 1.8, 1.0),
    Row(
        "log directory, 100 B / through a broker",
        "M/s",
        partial(reading_directory, shape=Shape(100, 100), count=4_000_000),
        1.5,
        peers=(OURS, FROM_BROKER),
    ),
    Row("batch read, 1,200 rows", "ms", reading_little, 0.25, peers=(OURS, DEFAULT)),
    Row("micro-batch, 2 x 100 rows", "ms", partial(micro_batches, partitions=2), 1.05, peers=(OURS, DEFAULT)),
    Row("micro-batch, 8 x 100 rows", "ms", partial(micro_batches, partitions=8), 0.95, peers=(OURS, DEFAULT)),
    Row("catching up in 10 triggers", "M/s", catching_up, 1.4, 1.0),
    Row("produce to foreachBatch, p50", "ms", arriving, 0.2, 1.0, peers=(OURS, DEFAULT, EAGER)),
    Row("batch write, 100 B + key", "M/s", writing, 1.5, peers=(OURS, DEFAULT)),
)


def main() -> None:
    options = _parser().parse_args()
    wanted = tuple(options.rows.split(",")) if options.rows else ("",)
    rows = [row for row in ROWS if any(text in row.name for text in wanted)]
    if not rows:
        raise SystemExit("no row has such a name; the rows are: " + ", ".join(row.name for row in ROWS))
    with tempfile.TemporaryDirectory() as directory, odradek() as broker, both_sources(Path(directory)) as session:
        bench = Bench(session, broker, options.quick)
        print(
            f"{'':<40}{'':<5}" + "".join(f"{peer.name:>9}" for peer in (OURS, DEFAULT, TUNED)) + f"{'/ default':>12}{'/ tuned':>9}  target"
        )
        for row in rows:
            _print_row(row, _medians(row, bench, 1 if options.quick else options.rounds))


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.spark", description="Compare odradek's Spark source with Spark's own connector."
    )
    parser.add_argument("--quick", action="store_true", help="run one round with a tenth of the records, as a check that everything works")
    parser.add_argument("--rounds", type=int, default=5, help="number of rounds after the first; default: %(default)s")
    parser.add_argument("--rows", metavar="TEXT,...", help="run only the rows whose names contain one of these texts")
    return parser


def _medians(row: Row, bench: Bench, rounds: int) -> dict[str, float]:
    """Returns the median of each peer by name. A peer that fails has none, and the reason is printed."""
    figures: dict[str, list[float]] = {}
    peers = list(row.peers)
    with row.prepare(bench) as figure:
        for number in range(rounds + 1):
            for peer in tuple(peers):
                print(f"\r\033[Kround {number}: {row.name}, {peer.name}", end="", file=sys.stderr, flush=True)
                try:
                    figures.setdefault(peer.name, []).append(figure(peer))
                except RuntimeError as error:
                    peers.remove(peer)
                    figures.pop(peer.name, None)
                    print(f"\r\033[K{row.name}, {peer.name}: {str(error).splitlines()[-1]}", file=sys.stderr)
    print("\r\033[K", end="", file=sys.stderr, flush=True)
    return {name: median(taken[1:]) for name, taken in figures.items()}


def _print_row(row: Row, medians: Mapping[str, float]) -> None:
    names = [peer.name for peer in (OURS, DEFAULT, TUNED)]
    figures = "".join(f"{f'{medians[name]:.3g}' if name in medians else '-':>9}" for name in names)
    ratios = {name: medians[OURS.name] / medians[name] for name in names[1:] if {OURS.name, name} <= medians.keys()}
    shown = "".join(f"{f'{ratios[name]:.2f}' if name in ratios else '-':>{width}}" for name, width in zip(names[1:], (12, 9), strict=True))
    verdicts = "; ".join(filter(None, (row.verdict(name, ratios.get(name)) for name in names[1:])))
    print(f"{row.name:<40}{row.unit:<5}{figures}{shown}  {verdicts}".rstrip(), flush=True)


if __name__ == "__main__":
    main()
