"""The test frameworks of suites: how they leave tests out, and how their reports are read."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import NamedTuple, Protocol
from xml.etree import ElementTree

GO_SKIP_REASON = re.compile(r"^\s*\S+\.go:\d+: (.*)$")
NO_TEST = "the report contains no test: read the log of the run"
COLOUR = re.compile(r"\x1b\[[\d;]*m")
RUNNER_ROW = re.compile(r"^\| (\d{4}_\S+) +\| +(PASSED|FAILED|RUNNING|SKIPPED) \| +[\d.]+s \| ?(.*)$", re.MULTILINE)


class Outcomes(NamedTuple):
    """The tests of a run: how many passed, which ones failed, and which ones the suite itself skipped, with its reasons."""

    passed: int
    failed: tuple[str, ...]
    skipped: Mapping[str, str]


class Framework(Protocol):
    def leaving_out(self, tests: Iterable[str]) -> list[str]:
        """Returns the arguments by which these tests are not started."""

    def outcomes(self, report: Path) -> Outcomes:
        """Returns the outcomes that a report contains. Raises ValueError if it contains no test."""


class Pytest:
    """pytest, which writes a JUnit report into {report}."""

    def leaving_out(self, tests: Iterable[str]) -> list[str]:
        return [f"--deselect={test}" for test in tests]

    def outcomes(self, report: Path) -> Outcomes:
        try:
            return _collected(self._cases(report))
        except ElementTree.ParseError as error:
            raise ValueError(NO_TEST) from error

    def _cases(self, report: Path) -> Iterator[tuple[str, str, str]]:
        for case in ElementTree.parse(report).iter("testcase"):
            name = f"{case.get('classname')}.{case.get('name')}"
            skipped = case.find("skipped")
            if case.find("failure") is not None or case.find("error") is not None:
                yield name, "fail", ""
            elif skipped is None:
                yield name, "pass", ""
            elif skipped.get("type") != "pytest.xfail":
                yield name, "skip", skipped.get("message", "")


class GoTest:
    """`go test -json`, whose output is the report. Subtests count as part of their test."""

    def leaving_out(self, tests: Iterable[str]) -> list[str]:
        return [f"-skip=^({'|'.join(tests)})$"]

    def outcomes(self, report: Path) -> Outcomes:
        return _collected(self._events(report))

    def _events(self, report: Path) -> Iterator[tuple[str, str, str]]:
        """Yields the tests. A test that began and has no end has failed, for instance because the process ended."""
        reasons: dict[str, str] = {}
        running: dict[str, None] = {}
        for line in report.read_text(encoding="utf-8").splitlines():
            event = json.loads(line) if line.startswith("{") else {}
            test, action = event.get("Test", ""), event.get("Action")
            if not test or "/" in test:
                continue
            if action == "run":
                running[test] = None
            elif action == "output" and (said := GO_SKIP_REASON.match(event["Output"])):
                reasons.setdefault(test, said[1])  # later lines are those of its clean-up
            elif action in ("pass", "fail", "skip"):
                running.pop(test, None)
                yield test, action, reasons.get(test, "")
        yield from ((test, "fail", "") for test in running)


class Librdkafka:
    """librdkafka's test-runner, which ends its output with a table. `TESTS` names the tests to run, so none is left out."""

    def leaving_out(self, tests: Iterable[str]) -> list[str]:
        raise ValueError(f"name the tests to run in TESTS instead of leaving out {', '.join(tests)}")

    def outcomes(self, report: Path) -> Outcomes:
        return _collected(self._rows(COLOUR.sub("", report.read_text(encoding="utf-8", errors="replace"))))

    def _rows(self, text: str) -> Iterator[tuple[str, str, str]]:
        """Yields the rows of tests, without that of <MAIN>. A test that is still running has failed."""
        for name, state, reason in RUNNER_ROW.findall(text.rpartition(" SUMMARY\n")[2]):
            yield name, {"PASSED": "pass", "SKIPPED": "skip"}.get(state, "fail"), reason


class Jest:
    """Jest, which writes a JSON report into {report}. It leaves out whole files, by regular expressions."""

    STATES: Mapping[str, str] = {"passed": "pass", "failed": "fail", "pending": "skip", "todo": "skip", "skipped": "skip"}

    def leaving_out(self, tests: Iterable[str]) -> list[str]:
        return [f"--testPathIgnorePatterns={'|'.join(tests)}"]

    def outcomes(self, report: Path) -> Outcomes:
        files = json.loads(report.read_text(encoding="utf-8"))["testResults"]
        return _collected((test["fullName"], self.STATES[test["status"]], "") for file in files for test in file["assertionResults"])


def _collected(tests: Iterable[tuple[str, str, str]]) -> Outcomes:
    passed, failed, skipped = 0, [], {}
    for name, outcome, reason in tests:
        if outcome == "pass":
            passed += 1
        elif outcome == "fail":
            failed.append(name)
        else:
            skipped[name] = reason
    if not passed and not failed and not skipped:
        raise ValueError(NO_TEST)
    return Outcomes(passed, tuple(failed), skipped)
