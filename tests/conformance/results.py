"""The results of runs, in results.json: one for each suite and broker, replaced by the next run."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from pathlib import Path

FILE = Path(__file__).with_name("results.json")
ODRADEK, APACHE_KAFKA = "odradek", "Apache Kafka"
BROKERS = (ODRADEK, APACHE_KAFKA)


@dataclass(frozen=True)
class Result:
    """A run of a suite. `commit` is that of odradek, "" for Apache Kafka; `skipped` has the suite's own reasons, by test."""

    suite: str
    version: str
    broker: str
    broker_version: str
    commit: str
    date: str
    seconds: int
    command: str
    passed: int
    failed: tuple[str, ...]
    skipped: dict[str, str]

    @property
    def key(self) -> tuple[str, str]:
        return self.suite, self.broker


def read() -> list[Result]:
    """Returns the results. Raises TypeError if one has a field too many or too few."""
    listed = json.loads(FILE.read_text(encoding="utf-8"))
    return [Result(**{**each, "failed": tuple(each["failed"])}) for each in listed]


def write(results: Iterable[Result]) -> None:
    ordered = sorted(results, key=lambda result: result.key)
    FILE.write_text(json.dumps([asdict(each) for each in ordered], indent=1, ensure_ascii=False) + "\n", encoding="utf-8")


def add(result: Result) -> None:
    """Writes a result in place of an earlier one of the same suite and broker."""
    write([result, *(each for each in read() if each.key != result.key)])
