"""Compares answers with recorded ones and separates known differences from unknown ones.

A recording is a plain text file for each family: `@ case`, then a line for each answer. `known_differences.txt` has a line for each known
difference: `case pattern | field pattern | APIs | reason`. Patterns are shell patterns; the field is the path in the answer without
indexes of arrays (`responses.partition_responses.error_code`), or `*`. The APIs are those whose answers differ; `*` stands for every API.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any, NamedTuple

HERE = Path(__file__).parent
RECORDED = HERE / "recorded"
Recording = dict[str, list[str]]


class KnownDifference(NamedTuple):
    """A line of known_differences.txt."""

    cases: str
    field: str
    apis: tuple[str, ...]
    reason: str

    def covers(self, difference: Difference) -> bool:
        return fnmatchcase(difference.case, self.cases) and fnmatchcase(difference.field, self.field)


class Difference(NamedTuple):
    """A field of an answer in which our broker differs from Apache Kafka."""

    case: str
    step: int
    field: str
    theirs: str
    ours: str

    def __str__(self) -> str:
        return f"{self.case}, answer {self.step}, {self.field}:\n    Kafka {self.theirs}\n    ours  {self.ours}"


def read_recording(family: str) -> Recording:
    """Returns Apache Kafka's answers by case; an empty dictionary if the family was never recorded."""
    path = RECORDED / f"{family}.txt"
    recording: Recording = {}
    answers: list[str] = []
    for line in path.read_text().splitlines() if path.exists() else ():
        if line.startswith("@ "):
            answers = recording[line[2:]] = []
        else:
            answers.append(line)
    return recording


def write_recording(family: str, recording: Recording) -> None:
    RECORDED.mkdir(exist_ok=True)
    lines = [line for name, answers in recording.items() for line in (f"@ {name}", *answers)]
    (RECORDED / f"{family}.txt").write_text("".join(f"{line}\n" for line in lines))


def known_differences() -> list[KnownDifference]:
    lines = (HERE / "known_differences.txt").read_text().splitlines()
    return [_known(*(part.strip() for part in line.split("|", 3))) for line in lines if line and not line.startswith("#")]


def _known(cases: str, field: str, apis: str, reason: str) -> KnownDifference:
    return KnownDifference(cases, field, tuple(apis.split(", ")), reason)


def differences(theirs: Recording, ours: Recording) -> list[Difference]:
    """Compares field by field. A case that was not recorded counts as a difference, as does a recorded case that no longer exists."""
    found: list[Difference] = []
    for name, answers in ours.items():
        if name not in theirs or len(theirs[name]) != len(answers):
            found.append(Difference(name, 0, "case", "not recorded: run `make differential`", ""))
            continue
        for step, (their, our) in enumerate(zip(theirs[name], answers, strict=True), 1):
            if their != our:
                found += [Difference(name, step, *rest) for rest in _fields(_parsed(their), _parsed(our), "")]
    found += [Difference(name, 0, "case", "recorded", "the case no longer exists") for name in theirs if name not in ours]
    return found


def _parsed(line: str) -> Any:
    return json.loads(line) if line.startswith("{") else line


def _fields(theirs: Any, ours: Any, path: str) -> Iterator[tuple[str, str, str]]:
    if isinstance(theirs, dict) and isinstance(ours, dict):
        for key in theirs | ours:
            yield from _fields(theirs.get(key), ours.get(key), f"{path}.{key}".lstrip("."))
    elif isinstance(theirs, list) and isinstance(ours, list) and len(theirs) == len(ours):
        for their, our in zip(theirs, ours, strict=True):
            yield from _fields(their, our, path)
    elif theirs != ours:
        yield path or "answer", json.dumps(theirs), json.dumps(ours)


def unexplained(found: Iterable[Difference], known: list[KnownDifference]) -> list[Difference]:
    return [difference for difference in found if not any(entry.covers(difference) for entry in known)]
