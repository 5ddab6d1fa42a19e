"""The declarations are valid, the results belong to them, and the page shows both."""

from __future__ import annotations

import re
from dataclasses import replace
from string import Formatter

import pytest

from documents import conformance
from tests.conformance import results
from tests.conformance.results import APACHE_KAFKA, BROKERS, ODRADEK, Result
from tests.conformance.run import ADAPTERS, Addresses, names_of
from tests.conformance.suite import NotRun, Suite
from tests.conformance.suites import SUITES

RESULT = Result(
    "sample", "1.0", ODRADEK, "0.1", "abc", "2026-11-22", 9, "go test", 5, ("TestA", "TestB"), {"TestC": "a | b", "TestD": "a | b"}
)
THEIRS = replace(RESULT, broker=APACHE_KAFKA, broker_version="4.3.1", passed=5, failed=("TestB", "TestF"))


def sample() -> Suite:
    return replace(
        SUITES["franz-go"], name="sample", version="1.0", left_out={"TestE": "needs Docker"}, failures={"TestA": "reads the log"}
    )


@pytest.mark.parametrize("suite", SUITES.values(), ids=SUITES)
def test_suite_uses_known_names(suite: Suite) -> None:
    texts = [*suite.command, *suite.environment.values(), *(part for command in suite.prepare for part in command)]
    used = {name for text in texts for _, name, _, _ in Formatter().parse(text) if name is not None}
    assert used <= set(names_of(suite, ADAPTERS, Addresses(), ADAPTERS))
    for adapter in re.findall(r"\{adapters\}/([\w.]+)", " ".join(texts)):
        assert (ADAPTERS / adapter).is_file()


@pytest.mark.parametrize("suite", SUITES.values(), ids=SUITES)
def test_suite_has_a_version_and_reasons(suite: Suite) -> None:
    assert re.fullmatch(r"\d+(\.\d+)+", suite.version)
    assert all(reason and not reason.endswith(".") for reason in (*suite.left_out.values(), *suite.failures.values()))
    if suite.left_out:
        assert suite.framework.leaving_out(suite.left_out)


def test_results_belong_to_declared_suites() -> None:
    recorded = results.read()
    assert len({result.key for result in recorded}) == len(recorded)
    for result in recorded:
        assert result.broker in BROKERS
        assert result.version == SUITES[result.suite].version
        assert result.passed + len(result.failed) > 0
        assert re.fullmatch(r"\d{4}-\d\d-\d\d", result.date)
        assert bool(result.commit) == (result.broker == ODRADEK)
        assert not re.search(r"/(?:root|home|tmp|work)/", str(result))


def test_failures_with_a_reason_did_fail() -> None:
    for result in results.read():
        if result.broker == ODRADEK:
            suite = SUITES[result.suite]
            unused = [
                pattern
                for pattern in suite.failures
                if not any(replace(suite, failures={pattern: "x"}).reason_of_failure(test) for test in result.failed)
            ]
            assert unused == [], f"{suite.name} gives reasons for tests that pass"


def test_results_are_read_as_they_are_written(monkeypatch: pytest.MonkeyPatch, tmp_path_factory: pytest.TempPathFactory) -> None:
    monkeypatch.setattr(results, "FILE", tmp_path_factory.mktemp("results") / "results.json")
    results.write([RESULT, THEIRS])
    results.add(replace(RESULT, passed=8))
    assert results.read() == [THEIRS, replace(RESULT, passed=8)]


def test_page_shows_failed_and_left_out_tests() -> None:
    pages = conformance.rendered([sample()], [RESULT, THEIRS], [NotRun("other", "needs Docker")])
    summary, text = pages[conformance.PAGE], pages[conformance.SUITES_PAGE]
    row = "| [sample](conformance/suites.md#sample) | 1.0 | 5 | 2 | 2 | 4.3.1: 5 passed, 2 failed | 2026-11-22 |"
    assert row in summary and "Of 7 tests in 1 suite, 5 pass (71.4%)." in summary
    assert "TestA" not in summary and "make conformance" not in summary
    assert "Run on 2026-11-22, with odradek 0.1 at abc." in text
    assert "| `TestA` | does not fail | reads the log |" in text
    assert "| `TestB` | fails, too | not explained yet |" in text
    assert "On Apache Kafka only, 1 failed, which tests/conformance/results.json names." in text
    assert "| `TestE` | needs Docker |" in text
    assert r"| 2 | a \| b |" in text
    assert "| other | needs Docker |" in text


def test_page_lists_a_suite_without_result_as_not_run() -> None:
    text = conformance.rendered([sample()], [], [])[conformance.SUITES_PAGE]
    assert "| sample | declared, but no result has been recorded yet |" in text


def test_page_without_kafkas_result_says_so() -> None:
    assert "| `TestA` | not measured | reads the log |" in conformance.rendered([sample()], [RESULT], [])[conformance.SUITES_PAGE]
