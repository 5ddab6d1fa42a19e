"""Results of the runs of a test, and the summary that names what was tried and what broke."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass, field, replace
from enum import StrEnum
from typing import Any, Self

from ..plurals import counted
from .damage import StoredData
from .plan import Trial
from .points import RequestPoint
from .table import FAULTS
from .topology import ClusterTopology

TITLE = "kafka explore"
NO_REQUEST = "it sends no request to a cluster"
MAX_MESSAGE_LINES = 3
MAX_FINDINGS = 2
"""How many findings of the doctor are part of the evidence."""
_COLUMNS = 200
_INDENT = " " * 14
_NUMBERS = re.compile(r"\d+")
_NO_TOPOLOGY = ClusterTopology(0, {})
_NOTHING_STORED = StoredData({}, {}, [])


class RunOutcome(StrEnum):
    """How a run has ended. A run that has not reached its point is UNREACHED whatever its test says."""

    PASSED = "passed"
    FAILED = "failed"
    HUNG = "hung"
    UNREACHED = "not reached"


@dataclass(frozen=True)
class Evidence:
    """Things that show how a failure came about: lines of the doctor, a diagram as an HTML document, the story, and names of kept files."""

    doctor: tuple[str, ...] = ()
    diagram: str = ""
    story: str = ""
    files: tuple[str, ...] = ()


@dataclass(frozen=True)
class RunResult:
    """A run of a test. `points` and `topology` are those of a run without faults; `uses_cluster` says whether a client was connected.

    `leaks` is the number of clients that are still connected at its end. `details` are more lines than the message, in which errors of
    clients may stand, and `stored` is the data at the end of a run without faults.
    """

    outcome: RunOutcome
    message: str = ""
    details: str = ""
    points: tuple[RequestPoint, ...] = ()
    topology: ClusterTopology = _NO_TOPOLOGY
    uses_cluster: bool = True
    leaks: int = 0
    stored: StoredData = _NOTHING_STORED
    evidence: Evidence = Evidence()


@dataclass(frozen=True)
class FoundFailure:
    """A fault under which the test does not pass. It has failed in `failed` of `runs` runs."""

    trial: str
    story: str
    outcome: str
    message: str
    failed: int
    runs: int
    evidence: Evidence = Evidence()

    @property
    def alike(self) -> str:
        """The message without numbers, such as ports and times, which differ in failures of the same kind."""
        return _NUMBERS.sub("#", self.message)

    def lines(self, reproduce: str) -> Iterator[str]:
        """Yields the lines of the summary. `reproduce` is a form with {}, in which the specification stands."""
        word = "HANGS " if self.outcome == RunOutcome.HUNG else "FAILED"
        yield f"  {word} {self.failed}/{self.runs}  {self.story}"
        yield from (f"{_INDENT}{line[:_COLUMNS]}" for line in self.message.splitlines()[:MAX_MESSAGE_LINES])
        yield f"{_INDENT}reproduce: {reproduce.format(self.trial)}"
        if self.evidence.doctor:
            yield f"{_INDENT}doctor: {'; '.join(self.evidence.doctor)}"
        yield from (f"{_INDENT}{line}" for line in self.evidence.files)


@dataclass
class Exploration:
    """The knowledge about a test. `problem` says why it was not explored, "" if it was. `notes` are further lines of the summary."""

    test: str
    points: int = 0
    seconds: float = 0.0
    passed: int = 0
    failures: list[FoundFailure] = field(default_factory=list)
    unreached: list[str] = field(default_factory=list)
    left: int = 0
    seed: int | None = None
    problem: str = ""
    notes: list[str] = field(default_factory=list)
    noticed: int = 0
    unnoticed: dict[str, str] = field(default_factory=dict)

    def note_damage(self, trial: Trial, *, noticed: bool) -> None:
        """Notes whether the test has failed with a damage, as it should."""
        if noticed:
            self.noticed += 1
        else:
            self.unnoticed[trial.damage] = trial.words[0][1]

    @property
    def runs(self) -> int:
        """The number of faults, or pairs of faults, that were tried."""
        return self.passed + len(self.failures) + len(self.unreached) + self.noticed + len(self.unnoticed)

    @property
    def uses_no_cluster(self) -> bool:
        """Whether there is nothing to explore."""
        return self.problem == NO_REQUEST

    @property
    def is_broken(self) -> bool:
        """Whether the test does not survive a fault, or could not be explored."""
        return bool(self.failures or self.problem or self.unnoticed)

    def merge(self, other: Self) -> None:
        """Adds what another worker has found out about other faults of the same test."""
        self.points = max(self.points, other.points)
        self.seconds = max(self.seconds, other.seconds)
        self.passed += other.passed
        self.failures += other.failures
        self.unreached += other.unreached
        self.noticed += other.noticed
        self.unnoticed.update(other.unnoticed)
        self.left += other.left
        self.seed = self.seed if other.seed is None else other.seed
        self.problem = self.problem or other.problem
        self.notes += [note for note in other.notes if note not in self.notes]

    def as_json(self) -> dict[str, Any]:
        """Returns plain values for JSON."""
        return asdict(self) | {"runs": self.runs}

    @classmethod
    def from_json(cls, values: Mapping[str, Any]) -> Self:
        """Returns the exploration that `as_json` has described."""
        given = {name: value for name, value in values.items() if name != "runs"}
        failures = [FoundFailure(**{**each, "evidence": Evidence(**each["evidence"])}) for each in given["failures"]]
        return cls(**{**given, "failures": failures})

    @property
    def head(self) -> str:
        """The first line of the summary."""
        if self.problem:
            return f"{TITLE}: {self.test}  not explored: {self.problem}"
        if self.noticed or self.unnoticed:
            counts = f"{self.noticed} noticed, {len(self.unnoticed)} not noticed, {len(self.unreached)} not done"
            return f"{TITLE}: {self.test}  {counted(self.runs, 'damage')} in {self.seconds:.0f} s: {counts}"
        counts = f"{self.passed} passed, {len(self.failures)} failed, {len(self.unreached)} not reached"
        return f"{TITLE}: {self.test}  {counted(self.points, 'point')}, {counted(self.runs, 'run')} in {self.seconds:.0f} s: {counts}"

    def summary(self, reproduce: str) -> str:
        """Returns the summary. `reproduce` is the form of a line that repeats a run."""
        lines = [self.head]
        for failure, alike in _group_alike(self.failures):
            lines += failure.lines(reproduce)
            lines += [f"{_INDENT}the same with {each.trial} ({each.failed}/{each.runs})" for each in alike]
        for damage, words in self.unnoticed.items():
            lines.append(f"  NOT NOTICED  no test noticed that {words} (impossible on a correct Kafka)")
            lines.append(f"{_INDENT}reproduce: --kafka-explore-only '{damage}'")
        lines += [f"  not reached: {each}" for each in self.unreached]
        if self.left:
            lines.append(f"  {counted(self.left, 'fault')} not tried, because the budget was used up")
        if self.seed is not None:
            lines.append(f"  the pairs were drawn from seed {self.seed}")
        return "\n".join([*lines, *(f"  {note}" for note in self.notes)])


def _group_alike(failures: Iterable[FoundFailure]) -> list[tuple[FoundFailure, list[FoundFailure]]]:
    """Returns each failure with those that have the same message."""
    groups: dict[tuple[str, str], tuple[FoundFailure, list[FoundFailure]]] = {}
    for failure in failures:
        key = (failure.outcome, failure.alike)
        if key in groups:
            groups[key][1].append(failure)
        else:
            groups[key] = failure, []
    return list(groups.values())


def judge(result: RunResult, trial: Trial) -> RunResult:
    """Returns the result, which has passed if the fault has told the client to stop and the test says that it did."""
    excused = [text for each in trial.specifications for text in FAULTS[each.fault].excused]
    if result.outcome is RunOutcome.FAILED and any(text in result.message + result.details for text in excused):
        return replace(result, outcome=RunOutcome.PASSED)
    return result
